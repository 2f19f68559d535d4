// Owns the proof that a credential which rotates is fetched again: after a 401 once, and by hand always.

import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../servers/processes.ts';
import { type Answering, json, status } from '../unit/transport/http-servers.ts';
import { verifies } from '../verifies.ts';
import { createFolder, start, statusOf, textOf } from './runtimes.ts';
import { serveMcp } from './web.ts';

const env = { PATH: process.env['PATH'] ?? '' };

/** A server that knows one token at a time, and a command that prints the one in a file. */
async function setUp(kind: 'command' | 'helper', settings = {}) {
  const folder = createFolder();
  const file = (name: string) => join(folder, name);
  let valid = 'token-one';
  let isGone = false;
  const write = (token: string) => writeFileSync(file('token'), token);
  write(valid);
  const guarded: Answering = (received, response) => {
    if (isGone && received.message['method'] === 'tools/call') status(404)(received, response);
    else if (received.headers.authorization !== `Bearer ${valid}`) status(401)(received, response);
    else if (received.message['method'] === 'tools/call') appendFileSync(file('effects'), '.');
  };
  const web = await serveMcp(guarded);
  const print = kind === 'command' ? 'printf "Bearer %s"' : `printf '{"Authorization":"Bearer %s"}'`;
  const command = `printf . >> ${file('runs')}; ${print} "$(cat ${file('token')})"`;
  const entry = kind === 'command' ? { headers: { Authorization: `!${command}` } } : { headersHelper: command };
  const servers = { web: { url: web.url, transport: 'http' as const, ...entry, ...settings } };
  const runtime = await start(folder, { servers, env });
  const count = (name: string) => (existsSync(file(name)) ? readFileSync(file(name)).length : 0);
  return {
    runtime,
    web,
    /** How often the command ran, and how many calls were carried out, so far. */
    runs: () => count('runs'),
    effects: () => count('effects'),
    posts: () => web.posts().filter(({ message }) => message['method'] === 'tools/call').length,
    write,
    rotate: (token: string) => {
      valid = token;
      write(token);
    },
    /** The server forgets its sessions for a while, which it says before it looks at the token. */
    forget: (isForgotten: boolean) => {
      isGone = isForgotten;
    },
    /** The server wants another token, and the command still prints the old one. */
    expire: () => {
      valid = 'token-nobody-has';
    },
    call: () => runtime.turn().call('mcp__web__echo'),
  };
}

for (const kind of ['command', 'helper'] as const) {
  describe(`a token that a ${kind} prints`, () => {
    verifies(
      ['CFG-21', 'CFG-19'],
      'is printed again after a 401: the call is sent once more, with the new one',
      async () => {
        const { runtime, rotate, call, runs, effects, posts } = await setUp(kind);
        expect(textOf(await call())).toBe('done');
        const before = runs();
        rotate('token-two-s3cret');
        const outcome = await call();
        expect([textOf(outcome), outcome.meta.attempts]).toEqual(['done', 2]);
        expect([runs() - before, effects(), posts()]).toEqual([1, 2, 3]);
        await runtime.ready();
        expect(statusOf(runtime, 'web').state).toBe('connected');
        expect(JSON.stringify([runtime.status(), runtime.events])).not.toContain('token-two-s3cret');
      },
    );

    verifies(['CFG-21', 'REC-12'], 'is printed again once for many calls that are refused together', async () => {
      const { rotate, call, runs, effects } = await setUp(kind);
      const before = runs();
      rotate('token-two');
      const outcomes = await Promise.all(Array.from({ length: 8 }, call));
      expect(new Set(outcomes.map(textOf))).toEqual(new Set(['done']));
      expect([runs() - before, effects()]).toEqual([1, 8]);
    });

    verifies(['CFG-21', 'LIF-03'], 'that stays the same after a 401 is a login that failed', async () => {
      const { runtime, expire, call, runs, effects, posts } = await setUp(kind);
      const before = runs();
      expire();
      await expect(call()).rejects.toMatchObject({ code: 'AUTH_FAILED' });
      expect([runs() - before, effects(), posts()]).toEqual([1, 0, 1]);
      expect(statusOf(runtime, 'web').state).toBe('needs-auth');
      await expect(call()).rejects.toMatchObject({ code: 'AUTH_FAILED' });
      expect(runs() - before, 'nothing runs while the login is known to fail').toBe(1);
    });

    verifies('CFG-21', 'that changes but is refused again is not tried for ever', async () => {
      const { runtime, expire, write, call, runs, posts } = await setUp(kind);
      const before = runs();
      expire();
      write('token-too-late');
      await expect(call()).rejects.toMatchObject({ code: 'AUTH_FAILED' });
      expect(statusOf(runtime, 'web').state).toBe('needs-auth');
      expect([posts(), runs() - before <= 2]).toEqual([1, true]);
    });

    verifies(['CFG-21', 'REC-21'], 'is printed again by a reconnect and by a reload of everything', async () => {
      const { runtime, expire, rotate, call, runs } = await setUp(kind);
      expire();
      await expect(call()).rejects.toMatchObject({ code: 'AUTH_FAILED' });
      for (const [token, again] of [
        ['token-two', () => runtime.reconnect('web')],
        ['token-three', () => runtime.reload({ replaceAll: true })],
      ] as const) {
        const before = runs();
        rotate(token);
        await again();
        await runtime.ready();
        expect(textOf(await call())).toBe('done');
        expect(runs() - before).toBe(1);
      }
    });

    verifies(['CFG-21', 'REC-21'], 'is printed again by hand also where the old one is still good', async () => {
      const { runtime, runs } = await setUp(kind);
      for (const again of [() => runtime.reconnect('web'), () => runtime.reload({ replaceAll: true })]) {
        const before = runs();
        await again();
        await runtime.ready();
        expect(statusOf(runtime, 'web').state).toBe('connected');
        expect(runs() - before).toBe(1);
      }
    });

    verifies('CFG-21', 'is printed again where the server refuses the handshake of a lost session', async () => {
      const { web, rotate, call, runs, forget } = await setUp(kind);
      rotate('token-two');
      forget(true);
      await expect(call()).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
      forget(false);
      expect(textOf(await call())).toBe('done');
      expect(web.received.at(-1)?.headers.authorization).toBe('Bearer token-two');
      // A helper runs at every opening; a command ran at the start, and once more.
      if (kind === 'command') expect(runs()).toBe(2);
    });
  });
}

verifies(
  'CFG-21',
  'a command that prints another value each time runs no circle against a server that refuses them all',
  async () => {
    const folder = createFolder();
    const runs = join(folder, 'runs');
    const web = await serveMcp((received, response) => {
      const { id, method } = received.message;
      if (method === 'tools/list')
        json({ jsonrpc: '2.0', id, error: { code: 1, message: 'no' } }, 401)(received, response);
    });
    const headers = { Authorization: `!printf . >> ${runs}; printf "Bearer %s" "$(wc -c < ${runs})"` };
    const servers = { web: { url: web.url, transport: 'http' as const, headers } };
    const runtime = await start(folder, { servers, env });
    await eventually(() => statusOf(runtime, 'web').state === 'needs-auth');
    expect(readFileSync(runs).length).toBeLessThanOrEqual(3);
  },
);

verifies('CFG-21', 'a server without commands is told to need a login, as before', async () => {
  let isValid = true;
  const web = await serveMcp((received, response) => void (isValid || status(401)(received, response)));
  const headers = { Authorization: 'Bearer fixed-token' };
  const runtime = await start(createFolder(), { servers: { web: { url: web.url, transport: 'http', headers } }, env });
  isValid = false;
  await expect(runtime.turn().call('mcp__web__echo')).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  expect(statusOf(runtime, 'web').state).toBe('needs-auth');
});
