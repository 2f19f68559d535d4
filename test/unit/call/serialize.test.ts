// Owns the proof that a server that does one thing at a time is given one call after the other, and that nobody is stuck behind it.

import { expect } from 'vitest';
import type { ToolCall } from '../../../src/call/pipeline.ts';
import { serialize } from '../../../src/call/serialize.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import { createDeferred, type Deferred } from '../../../src/kernel/deferred.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { verifies } from '../../verifies.ts';
import { registryOf } from '../servers/registry.ts';
import { definitionOf } from '../session.ts';
import { createTappedServer, start } from './journey.ts';
import { callOf, endOf, outcomeOf, toolOf } from './stages.ts';

const tool = toolOf('files', 'write');

/** Calls that end when the test says so; what has begun is written down. */
function setUp({
  serial = ['files'],
  recheckPermission = () => undefined,
}: {
  serial?: string[];
  recheckPermission?: () => void;
} = {}) {
  const begun: string[] = [];
  const gates = new Map<string, Deferred<void>>();
  const registry = registryOf({ definitions: serial.map((name) => definitionOf(name, { parallel: false })) });
  const perform = serialize(registry, { recheckPermission })(async (call) => {
    const name = String(call.arguments['name']);
    begun.push(name);
    const gate = createDeferred<void>();
    gates.set(name, gate);
    await call.cancellation.race(gate.promise);
    return outcomeOf(tool, name);
  });
  const call = (name: string, parts: Partial<ToolCall> = {}) =>
    endOf(perform(callOf(tool, { arguments: { name }, ...parts })));
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const finish = async (name: string) => {
    gates.get(name)?.resolve();
    await settle();
  };
  return { begun, call, finish, gates, settle };
}

verifies('CAL-14', 'calls of a serial server run one after the other, in the order in which they came', async () => {
  const { begun, call, finish, settle } = setUp();
  const calls = ['a', 'b', 'c'].map((name) => call(name));
  await settle();
  expect(begun).toEqual(['a']);
  await finish('a');
  expect(begun).toEqual(['a', 'b']);
  const late = call('d');
  await finish('b');
  await finish('c');
  await finish('d');
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  expect((await Promise.all([...calls, late])).map((each) => (each as { text: string }).text)).toEqual(begun);
});

verifies('CAL-14', 'another server is not held up, and neither is one that takes several at once', async () => {
  const { begun, call, settle } = setUp();
  const other = toolOf('others', 'write');
  void call('a');
  void call('x', { tool: other });
  void call('y', { tool: other });
  await settle();
  expect(begun).toEqual(['a', 'x', 'y']);
});

verifies('CAL-14', 'who is called off leaves the queue, and those behind move up', async () => {
  const { begun, call, finish } = setUp();
  const cancellation = new Cancellation();
  const calls = [call('a'), call('b', { cancellation }), call('c')];
  cancellation.cancel('enough');
  expect(await calls[1]).toBe('enough');
  await finish('a');
  await finish('c');
  await Promise.all(calls);
  expect(begun).toEqual(['a', 'c']);
});

verifies('CAL-14', 'a turn that comes in the moment of the calling off goes to the next', async () => {
  const { begun, call, gates, settle, finish } = setUp();
  const cancellation = new Cancellation();
  const calls = [call('a'), call('b', { cancellation }), call('c')];
  await settle();
  gates.get('a')?.resolve();
  await Promise.resolve();
  await Promise.resolve();
  cancellation.cancel('enough');
  expect(await calls[1]).toBe('enough');
  await settle();
  expect(begun.at(-1)).toBe('c');
  await finish('c');
  await Promise.all(calls);
});

verifies('CAL-14', 'a call that fails gives its turn to the next', async () => {
  const { begun, call, finish, gates, settle } = setUp();
  const calls = [call('a'), call('b')];
  await settle();
  gates.get('a')?.reject(new RuntimeError('OUTCOME_UNKNOWN', { ...tool.id, reason: 'it died' }));
  expect(await calls[0]).toBe('OUTCOME_UNKNOWN');
  await finish('b');
  expect(begun).toEqual(['a', 'b']);
});

verifies('CAL-14', 'what is forbidden during the wait is not done after it', async () => {
  let isForbidden = false;
  const { begun, call, finish } = setUp({
    recheckPermission: () => {
      if (isForbidden) throw new RuntimeError('CALL_DENIED', { ...tool.id, because: 'a rule came' });
    },
  });
  const calls = [call('a'), call('b'), call('c')];
  isForbidden = true;
  await finish('a');
  expect([await calls[1], await calls[2], begun]).toEqual(['CALL_DENIED', 'CALL_DENIED', ['a']]);
});

verifies(
  'CAL-14',
  'with parallel = false a stuck call holds the next one up until its own limit, whose time has not run meanwhile',
  async () => {
    const server = createTappedServer({
      hang: { run: () => new Promise(() => undefined) },
      read: { run: () => 'done' },
    });
    const { runtime, clock } = await start({ files: { ...server.entry, parallel: false, toolTimeoutMs: 1_000 } });
    const turn = runtime.turn();
    const stuck = [endOf(turn.call('mcp__files__hang')), endOf(turn.call('mcp__files__hang'))];
    const last = turn.call('mcp__files__read');
    await clock.advance(999);
    expect(server.calls).toHaveLength(1);
    await clock.advance(1);
    expect([await stuck[0], server.calls.length]).toEqual(['CALL_TIMEOUT', 2]);
    await clock.advance(999);
    expect(server.calls).toHaveLength(2);
    await clock.advance(1);
    expect([await stuck[1], await last]).toEqual(['CALL_TIMEOUT', expect.objectContaining({ isError: false })]);
    expect(clock.pending()).toBe(0);
  },
);

verifies(
  'CAL-14',
  'a call that is bound to a definition is rechecked once its server is up, not in the queue',
  async () => {
    const { begun, call, finish, settle } = setUp({
      recheckPermission: () => {
        throw new RuntimeError('CALL_DENIED', { server: 'files', tool: 'write', because: 'a rule' });
      },
    });
    const bound = { permit: { isAllowed: false, toolHash: 'hash' } };
    const calls = [call('a'), call('b', bound), call('c')];
    await settle();
    for (const name of ['a', 'b']) await finish(name);
    expect([await calls[2], begun]).toEqual(['CALL_DENIED', ['a', 'b']]);
  },
);
