// Owns the proof that what the core promises of calls and of changed tools holds through every adapter.

import { describe, expect } from 'vitest';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { createFakeServer } from '../../../src/testing/fake-server.ts';
import { createFolder, start as startWith } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { createTappedServer, start } from '../call/journey.ts';
import { everyDoor, textOf } from './every-door.ts';

const name = 'mcp__files__read';

describe.each(Object.entries(everyDoor))('through %s', (_title, openDoor) => {
  verifies('CAL-07', 'the host hears of the progress of a call, and of one that is silent', async () => {
    const gate = createDeferred<string>();
    const server = createTappedServer({ read: { run: () => gate.promise } });
    const { runtime, clock, events } = await start({ files: server.entry });
    const heard: unknown[] = [];
    const calling = openDoor(runtime, { onProgress: (progress) => heard.push(progress) }).call(name, {});
    await clock.advance(30_000);
    const silent = { type: 'call.progressed', progress: 0, elapsedMs: 30_000 };
    expect(events.at(-1)).toMatchObject(silent);
    const progressToken = server.receivedLast('tools/call')['id'];
    const params = { progressToken, progress: 4, total: 9, message: 'four' };
    await server.say({ jsonrpc: '2.0', method: 'notifications/progress', params });
    await clock.advance(0);
    expect(heard).toEqual([{ callId: expect.any(String), progress: 4, total: 9, message: 'four' }]);
    gate.resolve('done');
    expect(textOf(await calling)).toContain('done');
  });

  verifies('CAL-09', 'a call waits for its server no longer than a start may take, and the model is told', async () => {
    const server = createTappedServer({ read: { run: () => 'done' } });
    const { runtime, clock } = await start({ files: { ...server.entry, startupTimeoutMs: 2_000 } });
    const door = openDoor(runtime);
    server.hangs = true;
    await server.crash();
    await clock.advance(0);
    const [waited] = await Promise.all([door.call(name, {}), clock.advance(2_000)]);
    expect(textOf(waited)).toContain('STARTUP_TIMEOUT');
    expect(server.calls).toEqual([]);
    server.hangs = false;
    const calling = door.call(name, {});
    await clock.advance(60_000);
    expect(textOf(await calling)).toContain('done');
  });

  verifies('EXT-29', 'arguments that a model wrote in another form are repaired', async () => {
    const inputSchema = { type: 'object', properties: { lines: { type: 'array', items: { type: 'number' } } } };
    const server = createTappedServer({ read: { inputSchema, run: (args) => `read ${JSON.stringify(args)}` } });
    const { runtime } = await start({ files: server.entry });
    await openDoor(runtime).call(name, { lines: '[1, 2]', name: null });
    expect(server.calls.map((call) => call.arguments)).toEqual([{ lines: [1, 2], name: null }]);
  });

  verifies('EVT-09', 'tools that changed are there when the framework asks again', async () => {
    const server = createFakeServer({ read: { run: () => 'done' } });
    const runtime = await startWith(createFolder(), { servers: { files: server.entry } });
    const door = openDoor(runtime);
    const names = async () => (await door.tools()).map((tool) => tool.name);
    expect(await names()).toEqual([name]);
    await server.setTools({ write: { run: () => 'written' } });
    await waitFor(async () => expect(await names()).toEqual(['mcp__files__write']));
    expect(textOf(await door.call('mcp__files__write', {}))).toContain('written');
  });
});
