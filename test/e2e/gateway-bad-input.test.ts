// Owns the proof that whatever a hostile client sends to a running gateway is refused with its status and a sentence, tells it nothing,
// and disturbs no other client.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatewayFiles } from '../../src/gateway/instance.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { initialize, MODERN, modernMeta, type Sent, sendTo } from '../unit/serving/served.ts';
import { waitFor } from '../wait-for.ts';
import { Sandbox, type Started } from './plexus.ts';

const desk = fileURLToPath(new URL('../servers/desk.mjs', import.meta.url));
const SESSIONS = 5;

let sandbox: Sandbox;
let gateway: Started;
let url: string;
let token: string;
/** The session of a client that is not to notice anything. */
let session: string;

const post = (sent: Sent) =>
  sendTo(`${url}/mcp`, { ...sent, headers: { authorization: `Bearer ${token}`, ...sent.headers } });

const call = (more: JsonObject = {}) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'desk__add', arguments: { a: 1, b: 2 }, ...more },
});

beforeAll(async () => {
  sandbox = new Sandbox();
  sandbox.write(
    '~/.config/plexus/mcp.toml',
    [
      `[plexus.serving]\nport = 0\nsessions = ${SESSIONS}\nmessage_bytes = 100000\nbody_ms = 1000`,
      `[mcp_servers.desk]\ncommand = '${process.execPath}'\nargs = ['${desk}']\n`,
    ].join('\n'),
  );
  gateway = sandbox.spawn(['serve', '--json']);
  const { port } = await waitFor(() => JSON.parse(gateway.seen.out));
  url = `http://127.0.0.1:${port}`;
  token = readFileSync(gatewayFiles(sandbox.path('~/.local/state/plexus')).token, 'utf8').trim();
  const opened = await post({ body: initialize() });
  session = String(opened.headers['mcp-session-id']);
});

afterAll(async () => {
  gateway.child.kill('SIGTERM');
  await gateway.done;
  await sandbox.remove();
});

const modern = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'desk__add' };
const inModern = (more: JsonObject = {}) => call({ _meta: modernMeta(), ...more });

const rows: readonly (readonly [string, () => Sent, number, RegExp])[] = [
  ['no token', () => ({ headers: { authorization: '' }, body: initialize() }), 401, /needs the token/],
  [
    'a wrong token',
    () => ({ headers: { authorization: `Bearer ${'x'.repeat(43)}` }, body: initialize() }),
    401,
    /needs/,
  ],
  ['a token in the address', () => ({ path: `/mcp?token=${token}`, headers: { authorization: '' } }), 401, /needs/],
  ['a session that there is not', () => ({ headers: { 'mcp-session-id': 'none' }, body: call() }), 404, /not found/],
  ['another name for this machine', () => ({ headers: { host: 'evil.example' }, body: initialize() }), 403, /Host/],
  ['a page of the web', () => ({ headers: { origin: 'https://evil.example' }, body: initialize() }), 403, /Origin/],
  ['a page without an origin', () => ({ headers: { origin: 'null' }, body: initialize() }), 403, /Origin/],
  ['a giant body', () => ({ body: { ...initialize(), more: 'x'.repeat(200_000) } }), 413, /too large/],
  ['a body that is no JSON', () => ({ body: '{"jsonrpc"' }), 400, /Parse error/],
  ['a batch', () => ({ body: [call(), call()] }), 400, /batches/],
  [
    'a revision of the future',
    () => ({ headers: { ...modern, 'mcp-protocol-version': '2099-01-01' }, body: call() }),
    400,
    /_meta/,
  ],
  [
    'a header unlike the body',
    () => ({ headers: { ...modern, 'mcp-name': 'desk__remove' }, body: inModern() }),
    400,
    /Mcp-Name/,
  ],
  [
    'a state of its own making',
    () => ({ headers: modern, body: inModern({ requestState: 'p1.AAAA' }) }),
    400,
    /requestState/,
  ],
  [
    'arguments that are a list',
    () => ({ headers: modern, body: inModern({ arguments: [1] }) }),
    200,
    /must be an object/,
  ],
  [
    'a workspace without connect',
    () => ({ headers: { 'plexus-workspace': '%2F' }, body: initialize() }),
    403,
    /Only connect/,
  ],
  [
    'a name of another client',
    () => ({ headers: { 'plexus-client': '12345678' }, body: initialize() }),
    403,
    /Only connect/,
  ],
  ['a server that there is not', () => ({ path: '/mcp/s/..%2fetc', body: initialize() }), 404, /no such route|^$/],
  ['a profile that there is not', () => ({ path: '/mcp/p/__proto__', body: initialize() }), 404, /no such route|^$/],
];

test.each(rows)('%s is refused', async (_, sent, status, sentence) => {
  const answer = await post(sent());
  expect([answer.status, answer.body]).toEqual([status, expect.stringMatching(sentence)]);
  expect(answer.body).not.toContain(token);
  expect(answer.body).not.toMatch(/desk__|node_modules|\.ts:|\.js:/);
});

test('a body that does not come is given up, and a session beyond the limit is refused', async () => {
  const late = sendTo(`${url}/mcp`, {
    headers: { authorization: `Bearer ${token}`, 'content-length': '50', 'content-type': 'application/json' },
    body: '{',
  });
  const opened = await Promise.all(Array.from({ length: SESSIONS }, () => post({ body: initialize() })));
  expect(opened.map(({ status }) => status).sort()).toEqual([...Array(SESSIONS - 1).fill(200), 503]);
  expect(opened.find(({ status }) => status === 503)?.headers['retry-after']).toBe('60');
  expect((await late).status).toBe(408);
});

test('a client beside them has noticed nothing', async () => {
  const { message } = await post({ headers: { 'mcp-session-id': session }, body: call() });
  expect(message['result']).toMatchObject({ content: [{ text: '1 + 2 = 3' }] });
  expect(gateway.seen.err).not.toMatch(/Error|at .*\.js/);
});

test.each([
  ['an address of another machine', ['--host', '203.0.113.9'], 'this machine has no address 203.0.113.9'],
  ['a profile that there is not', ['--stdio', '--profile', 'wrok'], 'no profile "wrok" is configured, only default'],
  ['a token file without a token', [], 'gateway.token holds no token'],
  ['a taken port', ['--port'], /port \d+ is taken; end the program that has it/],
])('%s keeps a gateway from starting, and is told as what it is', async (name, words, sentence) => {
  const place = new Sandbox();
  if (name.includes('file')) place.write('~/.local/state/plexus/gateway.token', 'short');
  const port = name.includes('port') ? [new URL(url).port] : [];
  const { code, out, err } = await place.run(['serve', ...words, ...port]);
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(sentence);
  expect(existsSync(gatewayFiles(place.path('~/.local/state/plexus')).instance)).toBe(false);
  await place.remove();
});
