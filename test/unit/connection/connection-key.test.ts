// Owns the proof of which connections are shared: another account, folder, environment, capability or private client gets its own.

import { expect } from 'vitest';
import { connectionKey, type KeyDeps } from '../../../src/connection/connection-key.ts';
import type { RemoteLaunch, StdioLaunch } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';

const stdio: StdioLaunch = { kind: 'stdio', command: 'node', args: ['s.js'], env: { TOKEN: 'a' }, inheritEnv: 'safe' };
const http: RemoteLaunch = { kind: 'http', url: 'https://a.example', headers: { Authorization: 'Bearer a' } };
const parts: KeyDeps = {
  server: 'files',
  launch: stdio,
  cwd: '/work',
  env: { PATH: '/bin', HOME: '/home' },
  maxMessageBytes: 1_000,
  handlers: {},
};
const key = (change: Partial<KeyDeps> = {}) => connectionKey({ ...parts, ...change });

const roots = async () => [];
const elicit = async () => ({ action: 'decline' }) as const;
const sample = async () => ({});

verifies('EXT-13', 'equal definitions have the same key, whatever the order of their properties', () => {
  expect(key()).toBe(key());
  expect(key({ env: { HOME: '/home', PATH: '/bin' } })).toBe(key());
  expect(key({ launch: { ...stdio, env: { ...stdio.env } } })).toBe(key());
  expect(key({ client: undefined })).toBe(key());
  const other = { elicit: async () => ({ action: 'cancel' }) as const, sample: async () => ({ a: 1 }) };
  expect(key({ handlers: other }), 'who answers differs by call').toBe(key({ handlers: { elicit, sample } }));
  expect(key({ handlers: { roots } })).toBe(key({ handlers: { roots } }));
});

const changes: Record<string, Partial<KeyDeps>> = {
  'another server': { server: 'web' },
  'another program': { launch: { ...stdio, command: 'deno' } },
  'other arguments': { launch: { ...stdio, args: ['t.js'] } },
  'another token in a variable': { launch: { ...stdio, env: { TOKEN: 'b' } } },
  'another folder of its own': { launch: { ...stdio, cwd: '/elsewhere' } },
  'another folder': { cwd: '/elsewhere' },
  'another level for its log': { logLevel: 'debug' },
  'another environment': { env: { PATH: '/usr/bin', HOME: '/home' } },
  'a larger limit': { maxMessageBytes: 2_000 },
  'the ability to be asked': { handlers: { elicit } },
  'the ability to think for it': { handlers: { sample } },
  'roots of its own': { handlers: { roots } },
  'other roots of its own': { handlers: { roots: async () => [] } },
  'another name to give': { clientInfo: { name: 'agent', version: '1' } },
  'a client that wants to be alone': { client: 'one' },
  'another client that does': { client: 'two' },
  'an address': { launch: http },
  'a URL with the token of another account': { launch: { ...http, headers: { Authorization: 'Bearer b' } } },
};

verifies('EXT-13', 'whatever tells two apart gives them different keys', () => {
  const keys = new Map(Object.entries(changes).map(([what, change]) => [key(change), what]));
  keys.set(key(), 'none of them');
  expect([...keys.values()]).toEqual([...Object.keys(changes), 'none of them']);
});

verifies('EXT-13', 'code of the host is never shared', () => {
  const launch = { kind: 'in-process', serve: () => undefined } as const;
  expect(key({ launch })).not.toBe(key({ launch }));
});

verifies('EXT-13', 'no secret can be read from a key', () => {
  expect(key({ launch: { ...stdio, env: { TOKEN: 's3cret' } } })).toMatch(/^[A-Za-z0-9+/]{43}=$/);
});

verifies('CFG-19', 'no key holds what it is made from', () => {
  const secret = 'hunter2';
  const keys = [
    key({ launch: { ...stdio, env: { TOKEN: secret } } }),
    key({ launch: { ...http, headers: { Authorization: `Bearer ${secret}` } } }),
    key({ env: { PASSWORD: secret } }),
  ];
  // 32 bytes, whatever they stand for.
  expect(keys.map((each) => Buffer.from(each, 'base64').toString('base64') === each && each.length)).toEqual([
    44, 44, 44,
  ]);
});
