// Owns the proof of what an answer means: a result, the server's own no, a loss, or something that is none of these.

import { expect, test } from 'vitest';
import { invoke } from '../../../src/call/invoke.ts';
import { compose, type Stage } from '../../../src/call/pipeline.ts';
import { resolve } from '../../../src/call/resolve.ts';
import type { RequestOutcome } from '../../../src/connection/session.ts';
import { verifies } from '../../verifies.ts';
import { createTappedServer, start } from './journey.ts';
import { callOf, endOf, outcomeOf, sessionsOf, toolOf, unchecked } from './stages.ts';

const tool = toolOf('files', 'read');
const meta = { callId: '', server: 'files', tool: 'read', durationMs: 0, attempts: 1, fromCache: false };

const perform = (answer: RequestOutcome) => invoke(sessionsOf(answer), unchecked)(callOf(tool));
const result = (value: unknown): RequestOutcome => ({ kind: 'result', result: value });

verifies('CAL-13', 'a result is passed on as it came, with its server and tool', async () => {
  const content = [{ type: 'text', text: 'done', annotations: { priority: 1 } }];
  const structuredContent = { ok: true };
  expect(await perform(result({ content, structuredContent, isError: false, _meta: { x: 1 } }))).toEqual({
    text: '',
    content,
    attachments: [],
    structured: structuredContent,
    isError: false,
    signals: [],
    meta,
  });
});

verifies('CAL-13', 'a result says whether the model knew the tool from an earlier start only', async () => {
  for (const [freshness, fromCache] of [
    ['cached', true],
    ['stale', false],
    ['live', false],
  ] as const) {
    const known = toolOf('files', 'read', {}, freshness);
    const answers = [result({}), { kind: 'error', code: 1, message: 'no' } as const];
    for (const answer of answers) {
      const { meta } = await invoke(sessionsOf(answer), unchecked)(callOf(known));
      expect(meta).toEqual({ callId: '', server: 'files', tool: 'read', durationMs: 0, attempts: 1, fromCache });
    }
  }
});

test('a result without content is an empty one', async () => {
  expect(await perform(result({ structuredContent: 0 }))).toMatchObject({ content: [], structured: 0 });
  expect(await perform(result({}))).toMatchObject({ content: [], isError: false });
});

verifies(
  ['OUT-04', 'ERR-07'],
  'an error of the tool, and the no of its server, are results that are marked as errors',
  async () => {
    expect(await perform(result({ content: [], isError: true }))).toMatchObject({ isError: true });
    expect(await perform({ kind: 'error', code: -32602, message: 'no such file' })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'MCP error -32602: no such file' }],
      meta,
    });
  },
);

const malformed: Record<string, [result: unknown, problem: string]> = {
  'a text': ['garbage', 'its result is not an object'],
  nothing: [undefined, 'its result is not an object'],
  null: [null, 'its result is not an object'],
  'a list': [[], 'its result is not an object'],
  'content that is no list': [{ content: 'none' }, 'the content of its result is not a list'],
  'content that is null': [{ content: null }, 'the content of its result is not a list'],
  'a block that is no object': [{ content: ['text'] }, 'a block of its result has no type'],
  'a block without a type': [{ content: [{ text: 'x' }] }, 'a block of its result has no type'],
  'a block whose type is no text': [{ content: [{ type: 1 }] }, 'a block of its result has no type'],
};

for (const [what, [value, problem]] of Object.entries(malformed)) {
  verifies('CAL-12', `${what} in place of a result fails with a code of its own`, async () => {
    await expect(perform(result(value))).rejects.toMatchObject({
      code: 'RESULT_BROKEN',
      remedy: 'check-first',
      data: { server: 'files', tool: 'read', problem },
    });
  });
}

verifies('CAL-12', 'a malformed answer fails the call and not the connection', async () => {
  const server = createTappedServer({ garbage: { run: () => ({ content: [7] }) }, read: { run: () => 'done' } });
  const { runtime } = await start({ files: server.entry });
  expect(await endOf(runtime.turn().call('mcp__files__garbage'))).toBe('RESULT_BROKEN');
  expect(await runtime.turn().call('mcp__files__read')).toMatchObject({ isError: false });
  expect(server.starts()).toBe(1);
});

const losses: Record<string, [answer: RequestOutcome, code: string, data: unknown]> = {
  'a call that was sent may have run': [
    { kind: 'lost', sent: true },
    'OUTCOME_UNKNOWN',
    { server: 'files', tool: 'read', reason: 'it said nothing' },
  ],
  'a call that was not sent has not run': [
    { kind: 'lost', sent: false },
    'CONNECTION_LOST',
    { server: 'files', reason: 'it said nothing', stderr: 'last words' },
  ],
  'an answer over the limit is named with the limit': [
    { kind: 'oversized' },
    'MESSAGE_TOO_LARGE',
    { server: 'files', limitBytes: 1_024 },
  ],
};

test.each(Object.entries(losses))('%s', async (_, [answer, code, data]) => {
  await expect(perform(answer)).rejects.toMatchObject({ code, data });
});

test('the first stage is the outermost', async () => {
  const order: string[] = [];
  const stage =
    (name: string): Stage =>
    (next) =>
    async (call) => {
      order.push(`${name} before`);
      const outcome = await next(call);
      order.push(`${name} after`);
      return outcome;
    };
  await compose([stage('a'), stage('b')], async () => outcomeOf(tool))(callOf(tool));
  expect(order).toEqual(['a before', 'b before', 'b after', 'a after']);
});

test('no stage behind resolve is reached with a tool nobody knows', async () => {
  const registry = { isHidden: () => false, isReplaced: () => false };
  const status = { whyMissing: () => undefined };
  const reached = compose([resolve({ registry, status })], async () => outcomeOf(tool));
  await expect(reached({ ...callOf(tool), tool: undefined })).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
  const innermost = invoke(sessionsOf(result({})), unchecked);
  expect(() => innermost({ ...callOf(tool), tool: undefined })).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
});
