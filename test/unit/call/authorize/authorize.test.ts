// Owns the proof that no call passes unless a rule or a person said yes, and that nothing is touched before.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ToolCall } from '../../../../src/call/pipeline.ts';
import { createDeferred } from '../../../../src/kernel/deferred.ts';
import { RuntimeError } from '../../../../src/model/errors.ts';
import { limits } from '../../../../src/model/limits.ts';
import type { RuleText } from '../../../../src/model/rule.ts';
import type { Tool } from '../../../../src/model/tool.ts';
import { parseRule } from '../../../../src/policy/rule.ts';
import { createFakeClock } from '../../../../src/testing/fake-clock.ts';
import { type ApprovalRequest, type Approve, askFor } from '../../../../src/trust/approval.ts';
import { verifies } from '../../../verifies.ts';
import { decide } from '../../policy/decide.ts';
import { createTappedServer, heardOfCalls, start } from '../journey.ts';
import { callOf, endOf, outcomeOf, toolOf } from '../stages.ts';
import { answering, createStage, ruleText } from './stage.ts';

const ignore = (): void => undefined;

const rule = ruleText;

function setUp(approve: Approve, rules: readonly RuleText[] = [], tool: Tool = toolOf('files', 'read')) {
  const passed: string[] = [];
  let current = rules;
  const { clock, events, stage } = createStage({ approve, rules: () => current });
  const perform = stage(async (call) => {
    passed.push(call.callId);
    return outcomeOf(tool, 'done');
  });
  const { caller } = callOf(tool);
  return {
    clock,
    events,
    passed,
    caller,
    change: (next: readonly RuleText[]) => {
      current = next;
    },
    call: (parts: Partial<ToolCall> = {}) => endOf((async () => perform(callOf(tool, { caller, ...parts })))()),
    failure: async (): Promise<RuntimeError> => {
      try {
        await perform(callOf(tool, { caller }));
      } catch (error) {
        if (error instanceof RuntimeError) return error;
      }
      throw new TypeError('it did not fail');
    },
  };
}

const done = expect.objectContaining({ text: 'done' });

verifies('PER-02', 'what a rule allows passes, and nobody is asked', async () => {
  const approve = answering();
  const { call, events } = setUp(approve, [rule('mcp__files__*', 'allow')]);
  expect(await call()).toEqual(done);
  expect([approve.asked, events]).toEqual([[], []]);
});

verifies('PER-02', 'what a rule denies does not pass, nobody is asked, and the failure names the rule', async () => {
  const approve = answering('always');
  const { failure, call, passed, caller } = setUp(approve, [rule('mcp__files__*', 'deny'), rule('mcp__*', 'allow')]);
  caller.grants.add('["files","read"]files');
  expect(await call()).toBe('CALL_DENIED');
  expect((await failure()).data).toEqual({
    server: 'files',
    tool: 'read',
    because: 'the rule "mcp__files__*" = deny in /user.toml',
  });
  expect([approve.asked, passed]).toEqual([[], []]);
});

verifies('PER-08', 'who is asked sees the tool, its arguments, its hints and why', async () => {
  const approve = answering('once');
  const annotations = { destructiveHint: true };
  const { call } = setUp(approve, [rule('mcp__files__*', 'ask')], toolOf('files', 'read', { annotations }));
  await call({ arguments: { path: '/etc' } });
  expect(approve.asked).toEqual([
    {
      kind: 'tool',
      callId: expect.stringMatching(/^test-/),
      tool: { server: 'files', tool: 'read' },
      name: 'mcp__files__read',
      source: 'test',
      arguments: { path: '/etc' },
      annotations,
      because: 'the rule "mcp__files__*" = ask in /user.toml',
      byRule: true,
    },
  ]);
});

verifies('PER-08', 'once holds once', async () => {
  const approve = answering('once', 'no');
  const { call, caller } = setUp(approve);
  expect([await call(), await call(), caller.grants]).toEqual([done, 'APPROVAL_REFUSED', new Set()]);
});

verifies('PER-08', 'session holds for the rest of the session, for this tool and this caller', async () => {
  const approve = answering('session', 'no', 'no');
  const { call, caller } = setUp(approve);
  expect([await call(), await call(), await call()]).toEqual([done, done, done]);
  expect(caller.grants.size).toBe(1);
  expect(await call({ caller: callOf(toolOf('files', 'read')).caller }), 'another caller').toBe('APPROVAL_REFUSED');
  expect(approve.asked).toHaveLength(2);
});

verifies('PER-08', 'always holds for every caller', async () => {
  const approve = answering('always');
  const { call } = setUp(approve);
  expect([await call(), await call()]).toEqual([done, done]);
  expect(await call({ caller: callOf(toolOf('files', 'read')).caller }), 'another caller').toEqual(done);
  expect(approve.asked).toHaveLength(1);
});

test('a grant does not outlive a rule that denies', async () => {
  const { call, change } = setUp(answering('session'));
  expect(await call()).toEqual(done);
  change([rule('mcp__files__read', 'deny')]);
  expect(await call()).toBe('CALL_DENIED');
});

const UNRULED = 'no rule matches, and it does not state that it is harmless';

const refusals: Record<string, Approve> = {
  'says no': answering('no'),
  'answers nonsense': answering('yes'),
  'answers nothing': answering(undefined),
  'answers an object': answering({ answer: 'once' }),
  'answers a list': answering(['once']),
  rejects: () => Promise.reject(new Error('the dialog broke')),
  throws: () => {
    throw new Error('the dialog broke');
  },
};

for (const [what, approve] of Object.entries(refusals)) {
  verifies('PER-08', `a host that ${what} has not said yes`, async () => {
    const { call, passed, events, clock } = setUp(approve);
    expect(await call()).toBe('APPROVAL_REFUSED');
    expect([passed, clock.pending()]).toEqual([[], 0]);
    expect(heardOfCalls(events)).toEqual([
      { call: 1, type: 'approval.requested', tool: { server: 'files', tool: 'read' }, because: UNRULED },
      { call: 1, type: 'approval.settled', tool: { server: 'files', tool: 'read' }, answer: 'no' },
    ]);
  });
}

verifies('PER-08', 'a host that never answers has said no after five minutes', async () => {
  const { call, clock, passed } = setUp(() => new Promise(() => undefined));
  let end: unknown;
  const calling = call().then((value) => {
    end = value;
  });
  await clock.advance(limits.approvalMs - 1);
  expect(end).toBeUndefined();
  await clock.advance(1);
  await calling;
  expect([end, passed, clock.pending()]).toEqual(['APPROVAL_REFUSED', [], 0]);
});

test('an answer that comes too late opens nothing', async () => {
  const late = createDeferred<'always'>();
  const { call, clock, passed, caller } = setUp(() => late.promise);
  const calling = call();
  await clock.advance(limits.approvalMs);
  late.resolve('always');
  await clock.advance(0);
  expect([await calling, passed, caller.grants]).toEqual(['APPROVAL_REFUSED', [], new Set()]);
});

verifies(
  'CAL-08',
  'an abort ends the asking, with its own reason, and an answer afterwards opens nothing',
  async () => {
    const late = createDeferred<'always'>();
    const { passed, caller } = setUp(() => late.promise);
    const reason = { why: 'enough' };
    const tool = toolOf('files', 'read');
    const call = callOf(tool, { caller });
    const { stage, clock } = createStage({ approve: () => late.promise });
    const perform = stage(async () => {
      passed.push('passed');
      return outcomeOf(tool);
    });
    const calling = endOf(perform(call));
    await clock.advance(0);
    call.cancellation.cancel(reason);
    expect(await calling).toBe(reason);
    late.resolve('always');
    await clock.advance(0);
    expect([passed, caller.grants]).toEqual([[], new Set()]);
  },
);

test('an abort while somebody is asked leaves no timer behind', async () => {
  const tool = toolOf('files', 'read');
  const call = callOf(tool);
  const approve: Approve = () => new Promise(() => undefined);
  const { stage, clock } = createStage({ approve });
  const perform = stage(async () => outcomeOf(tool));
  const calling = endOf(perform(call));
  await clock.advance(0);
  call.cancellation.cancel('enough');
  await calling;
  expect(clock.pending()).toBe(0);
});

test('asking never rejects', async () => {
  const request: ApprovalRequest = { kind: 'server', server: 'files', command: 'node', variables: [] };
  const clock = createFakeClock();
  expect(await askFor(request, { approve: answering('always'), clock, onError: ignore })).toBe('always');
  expect(await askFor(request, { approve: () => Promise.reject(new Error('broken')), clock, onError: ignore })).toBe(
    'no',
  );
});

const oddTools: [server: string, tool: string][] = [
  ['files', 'read'],
  ['a__b', 'c'],
  ['a', 'b__c'],
  ['files', '*'],
  ['my files', 'read?'],
];

for (const [server, name] of oddTools) {
  test(`the rule that a refusal recommends allows ${server}/${name} and nothing else`, async () => {
    const tool = toolOf(server, name);
    const { failure } = setUp(answering('no'), [], tool);
    const { message } = await failure();
    const [, text = ''] = /tool = "(.*)", action = "allow"/.exec(message) ?? [];
    const advice = [parseRule(rule(text, 'allow'))];
    expect(decide(advice, tool.id, tool.name).verdict).toBe('allow');
    const neighbor = toolOf(server, `${name}_all`);
    expect(decide(advice, neighbor.id, neighbor.name).verdict).toBe('ask');
  });
}

verifies('PER-02', 'a denied call, and one that is refused, never wake a server', async () => {
  const server = createTappedServer({
    read: { run: () => 'done' },
    write: { run: () => 'done' },
    list: { run: () => 'done' },
  });
  const { runtime, clock } = await start(
    { files: server.entry },
    {
      permissions: [
        { tool: 'mcp__files__read', action: 'deny' },
        { tool: 'mcp__files__list', action: 'allow' },
      ],
    },
  );
  const turn = runtime.turn();
  await server.crash();
  await clock.advance(0);
  expect([server.starts(), runtime.status()[0]?.state]).toEqual([1, 'reconnecting']);
  expect(await endOf(turn.call('mcp__files__read'))).toBe('CALL_DENIED');
  expect(await endOf(turn.call('mcp__files__write'))).toBe('APPROVAL_REFUSED');
  await clock.advance(0);
  expect([server.starts(), runtime.status()[0]?.state]).toEqual([1, 'reconnecting']);
  await turn.call('mcp__files__list');
  expect([server.starts(), server.calls]).toEqual([2, [{ tool: 'list', arguments: {} }]]);
});

test('a runtime closes at once while somebody is asked about a server, and leaves no timer behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-approval-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { files: { command: 'node' } } }));
  const asked = createDeferred<ApprovalRequest>();
  const approve: Approve = (request) => {
    asked.resolve(request);
    return new Promise(() => undefined);
  };
  const clock = createFakeClock();
  const starting = start({}, { discover: true, cwd: folder, approve, interactive: true, clock });
  expect(await asked.promise).toMatchObject({ kind: 'server', server: 'files' });
  await clock.advance(250);
  const { runtime } = await starting;
  let closed = false;
  const closing = runtime.close().then(() => {
    closed = true;
  });
  await clock.advance(0);
  expect([closed, clock.pending()]).toEqual([true, 0]);
  await closing;
});

test('what a person allows to a name is asked for when a repository’s unapproved server bears it', async () => {
  const tool = toolOf('files', 'read');
  const { stage } = createStage({
    approve: async () => 'no',
    rules: () => [rule('mcp__files__*', 'allow')],
    isUnapproved: true,
  });
  const perform = stage(async () => outcomeOf(tool));
  const refused = await perform(callOf(tool)).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'APPROVAL_REFUSED',
    data: { because: expect.stringContaining('is not meant for a server that nobody approved') },
  });
});
