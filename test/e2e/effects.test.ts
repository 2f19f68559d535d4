// Owns the proof that no call is made twice by accident: real servers that write down every effect are killed, or cut off, at
// every point of the exchange. After each case the harness compares what was done with what the caller was told.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import { once, reconnect } from '../faults/common.ts';
import type { FaultCase, Scene } from '../faults/harness.ts';
import { faultCase } from '../faults/harness.ts';
import { openConnections } from '../faults/traces.ts';
import { freePort } from '../free-port.ts';
import { eventually } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import { createFolder, start } from './runtimes.ts';

/** When so many of the calls have ended: a moment that every machine has. */
const ended = (calls: readonly Promise<unknown>[], count: number) =>
  new Promise<void>((resolve) => {
    let left = count;
    if (left === 0) resolve();
    for (const call of calls)
      void call.then(() => {
        left -= 1;
        if (left === 0) resolve();
      });
  });

/** By this process, into whatever it is. */
const bytesWritten = () => Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'latin1'))?.[1]);

interface Row {
  readonly flags: readonly string[];
  readonly end: string;
  readonly effects: number;
  /** Of a call that was answered. */
  readonly attempts?: number;
  /** The server is gone after it, and nobody starts it again but the test. */
  readonly isDeadly?: boolean;
}

/** A point of the exchange, and what must come of one write at it. */
const deaths: Record<string, Row> = {
  'after it was read, before the effect': {
    flags: once('die', '--when', 'before'),
    ...{ end: 'OUTCOME_UNKNOWN', effects: 0, isDeadly: true },
  },
  'after the effect, before the answer': {
    flags: once('die'),
    ...{ end: 'OUTCOME_UNKNOWN', effects: 1, isDeadly: true },
  },
  'while the answer is half written': { flags: once('half'), end: 'OUTCOME_UNKNOWN', effects: 1, isDeadly: true },
  'right after the answer': { flags: once('last-words'), end: 'answered', effects: 1, attempts: 1, isDeadly: true },
};

/** The server lives on; only the exchange is broken. */
const cuts: Record<string, Row> = {
  'is reset before its head, before the effect': {
    flags: once('reset', '--when', 'before'),
    ...{ end: 'OUTCOME_UNKNOWN', effects: 0 },
  },
  'is reset before its head, after the effect': { flags: once('reset'), end: 'OUTCOME_UNKNOWN', effects: 1 },
  'is reset after its head': { flags: once('reset', '--reply', 'stream'), end: 'OUTCOME_UNKNOWN', effects: 1 },
  'is reset in the middle of its body': { flags: once('half-reset'), end: 'OUTCOME_UNKNOWN', effects: 1 },
  'is reset in the middle of its stream': {
    flags: once('half-reset', '--reply', 'stream'),
    ...{ end: 'OUTCOME_UNKNOWN', effects: 1 },
  },
  'ends without an answer': { flags: once('end', '--reply', 'stream'), end: 'OUTCOME_UNKNOWN', effects: 1 },
  'is a bare 503 before the effect': {
    flags: once('status', '--status', '503'),
    ...{ end: 'OUTCOME_UNKNOWN', effects: 0 },
  },
  'is a bare 503 after the effect': {
    flags: once('status', '--status', '503', '--when', 'after'),
    ...{ end: 'OUTCOME_UNKNOWN', effects: 1 },
  },
  'is a 502 or 504 of a proxy after the effect': {
    flags: once('status', '--status', '504', '--when', 'after'),
    ...{ end: 'OUTCOME_UNKNOWN', effects: 1 },
  },
  'is a 404: the session has expired, nothing was done': {
    flags: once('session-expires'),
    ...{ end: 'answered', effects: 1, attempts: 2 },
  },
};

const checked = async (scene: Scene, { end, effects, attempts, isDeadly }: Row) => {
  const { pid } = scene.status();
  const ending = await scene.ending('write', { text: 'w' });
  expect('error' in ending ? ending.error.code : ending.kind).toBe(end);
  if (ending.kind === 'answered') expect(ending.outcome.meta.attempts).toBe(attempts);
  expect(scene.peer.effects()).toEqual(Array.from({ length: effects }, () => 'w'));
  if (!isDeadly) return;
  // The next call is for the next server: the runtime has to know that this one is gone.
  if (scene.peer.options.transport === 'stdio') return void (await eventually(() => scene.status().pid !== pid));
  await eventually(() => scene.peer.isGone && openConnections() === 0);
  await scene.revive();
};

const trusting = { settings: { reconnect, trustHints: true } };

for (const transport of ['stdio', 'http'] as const) {
  describe(`over ${transport}, a server is killed`, () => {
    const given = (flags: readonly string[] = []): FaultCase => ({ transport, settings: { reconnect }, flags });

    for (const era of ['legacy', 'modern']) {
      // The eras differ in what is sent again, which the two points around the effect show.
      const points = Object.entries(deaths).filter(([, { flags }]) => era === 'legacy' || flags.includes('die'));
      for (const [point, row] of points) {
        verifies(
          'EXT-06',
          `${point} (${era})`,
          faultCase({ ...given([...row.flags, '--era', era]), next: 'once ready' }, (scene) => checked(scene, row)),
        );
      }
    }

    verifies(
      'EXT-06',
      'before the request is written: it is told to be unknown or not sent, or made by the next server, once',
      faultCase({ ...given(), next: 'once ready' }, async (scene) => {
        const pid = scene.status().pid ?? scene.peer.pid ?? 0;
        process.kill(pid, 'SIGKILL');
        const end = scene.write();
        if (transport === 'http') {
          await eventually(() => scene.peer.isGone);
          await scene.revive();
        }
        const told = await end;
        // Which of them depends on when the machine notices the death: `scene` checks that what was told is true.
        expect(['answered', 'OUTCOME_UNKNOWN', 'CONNECTION_LOST']).toContain(told);
        expect(scene.peer.effects()).toHaveLength(told === 'answered' ? 1 : 0);
      }),
    );

    verifies(
      'EXT-06',
      'and is back: the call is made by the next server, once',
      faultCase({ ...given(), next: 'once ready' }, async (scene) => {
        await scene.kill();
        await scene.revive();
        expect(await scene.ending('write', { text: 'w' })).toMatchObject({
          kind: 'answered',
          outcome: { isError: false },
        });
        expect(scene.peer.effects()).toEqual(['w']);
      }),
    );

    verifies(
      'EXT-06',
      'when a part of the request has been written: nothing was done, nobody knows, nothing is sent again',
      faultCase({ ...given(), next: 'once ready' }, async (scene) => {
        const pid = scene.status().pid ?? scene.peer.pid ?? 0;
        process.kill(pid, 'SIGSTOP');
        // Far more than any pipe or socket takes in one piece.
        const before = bytesWritten();
        const calling = scene.ending('write', { text: 'w', padding: 'x'.repeat(16 * 1024 * 1024) });
        await eventually(() => bytesWritten() - before > 32 * 1024);
        process.kill(pid, 'SIGKILL');
        const ending = await calling;
        expect('error' in ending && ending.error.code).toBe('OUTCOME_UNKNOWN');
        expect(scene.peer.effects()).toEqual([]);
        if (transport === 'http') await scene.revive();
      }),
    );

    verifies(
      'EXT-06',
      'with many calls in flight, at moments nobody chose: each is made once at most, and told truly',
      faultCase({ ...given(), speed: 100, next: 'once ready' }, async (scene) => {
        for (let death = 0; death < 6; death++) {
          const calls = Array.from({ length: 12 }, (_, at) => scene.write(at));
          await ended(calls, death * 2);
          await scene.kill();
          await scene.revive();
          await Promise.all(calls);
          // By a person's wish: losses in a row would give the server a rest, and this is not about rests.
          scene.runtime.reconnect('peer');
          await eventually(() => scene.status().state === 'connected' && scene.status().toolCount > 0);
        }
        const effects = scene.peer.effects();
        expect(new Set(effects).size).toBe(effects.length);
      }),
    );

    const loss = transport === 'stdio' ? 'die' : 'reset';
    verifies(
      'EXT-06',
      'during what may be done twice, on trusted word: it is made again, and only then',
      faultCase({ ...given(once(loss)), ...trusting }, async (scene) => {
        expect(await scene.ending('put', { text: 'p' })).toMatchObject({
          kind: 'answered',
          outcome: { meta: { attempts: transport === 'stdio' ? 2 : expect.any(Number) } },
        });
        expect(scene.peer.effects()).toEqual(['p', 'p']);
      }),
    );
    verifies(
      'EXT-06',
      'during what says that it may be done twice, on nobody’s word: it is not made again',
      faultCase(given(once(loss)), async (scene) => {
        expect(await scene.call('put', { text: 'p' })).toBe('OUTCOME_UNKNOWN');
        expect(scene.peer.effects()).toEqual(['p']);
      }),
    );
  });
}

describe('over http, the exchange', () => {
  for (const [point, row] of Object.entries(cuts)) {
    verifies(
      'EXT-06',
      point,
      faultCase({ transport: 'http', settings: { reconnect }, flags: row.flags, next: 'once ready' }, (scene) =>
        checked(scene, row),
      ),
    );
  }

  verifies(
    'EXT-06',
    'finds nobody there: it was not sent, says so, and is not made later',
    faultCase({ transport: 'http', settings: { reconnect }, next: 'once ready' }, async (scene) => {
      await scene.peer.kill();
      await eventually(() => openConnections() === 0);
      expect(await scene.write()).toBe('CONNECTION_LOST');
      await scene.revive();
      scene.runtime.reconnect('peer');
      await eventually(() => scene.status().state === 'connected');
      expect(scene.peer.effects()).toEqual([]);
    }),
  );
});

/** One that a test can take away from its address and bring back, socket by socket; effects are counted here. */
async function countingServer() {
  const effects: unknown[] = [];
  const sockets = new Set<Socket>();
  let afterCall = (_socket: Socket): void => undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'tools/call') effects.push(params.arguments.text);
    const answer = method in results ? { result: results[method] } : { error: { code: -32601, message: 'no' } };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    if (method === 'tools/call') afterCall(request.socket);
  });
  server.on('connection', (socket) => sockets.add(socket.on('error', () => socket.destroy())));
  const port = await freePort();
  const listen = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen();
  const vanish = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(vanish);
  return {
    ...{ effects, vanish, url: `http://127.0.0.1:${port}/mcp` },
    comeBack: listen,
    onCall: (act: (socket: Socket) => void) => {
      afterCall = act;
    },
  };
}

const results: Record<string, object> = {
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'c', version: '1' } },
  'tools/list': { tools: [{ name: 'write', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
};

const entryOf = (url: string) => ({ files: { url, transport: 'http' as const, reconnect } });

verifies(
  ['EXT-06', 'CAL-13'],
  'a call that certainly was not sent, since nobody took the connection, is sent to the server that comes back: two attempts, one effect',
  async () => {
    const { effects, url, vanish, comeBack } = await countingServer();
    const runtime = await start(createFolder(), { servers: entryOf(url) });
    const turn = runtime.turn();
    await turn.call('mcp__files__write', { text: 'first' });
    await vanish();
    // Once the end of the old connections is known, a new one is wanted.
    await eventually(() => openConnections() === 0);
    runtime.on((event) => {
      if (event.type === 'connection.changed' && event.to === 'waiting') void comeBack();
    });
    const { meta, isError } = await turn.call('mcp__files__write', { text: 'second' });
    expect([isError, meta.attempts, effects]).toEqual([false, 2, ['first', 'second']]);
  },
);

verifies(
  'EXT-06',
  'a connection that the server half closes while it is used again costs no effect twice',
  async () => {
    const { effects, url, onCall } = await countingServer();
    const runtime = await start(createFolder(), { servers: entryOf(url) });
    const turn = runtime.turn();
    onCall((socket) => setImmediate(() => socket.end()));
    const ends: string[] = [];
    for (let at = 0; at < 25; at++) {
      const calling = turn.call('mcp__files__write', { text: at }).then(
        () => 'answered',
        (error: { code: string }) => error.code,
      );
      ends.push(await calling);
      runtime.reconnect('files');
      await runtime.ready();
    }
    expect(new Set(effects).size, 'each at most once').toBe(effects.length);
    expect(ends.filter((end) => end !== 'answered' && end !== 'OUTCOME_UNKNOWN')).toEqual([]);
    for (const [at, end] of ends.entries()) if (end === 'answered') expect(effects).toContain(at);
  },
);
