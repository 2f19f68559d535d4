// Owns the proof that `plexus list` tells apart, in words, every reason why a server is not ready, each with what to do about
// it, and that a `required` server is missed by the commands that need it. Runs the built command line.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { remarksOn } from '../../src/cli/render/server-remarks.ts';
import { faulty } from '../servers/faulty.ts';
import { nobody, serve, status } from '../unit/transport/http-servers.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { serveMcp } from './web.ts';

let box: Sandbox;

beforeEach(() => {
  box = new Sandbox();
});
afterEach(() => box.remove());

const USER = '~/.config/plexus/mcp.json';
/** In a shell, which starts at once: it has printed long before its time is up. */
const printing = (then: string) => ({ command: 'sh', args: ['-c', `echo 'Usage: greeter NAME'; ${then}`] });

interface Reason {
  readonly entry: object;
  readonly state: RegExp;
  /** What happened, in the words of the list. */
  readonly why: RegExp;
  readonly next: RegExp;
}

const page = status(200, '<!doctype html><title>Welcome</title>', { 'content-type': 'text/html' });
const nameless = '$' + '{NO_SUCH_VARIABLE}';

async function reasons(): Promise<Record<string, Reason>> {
  const [login, forbidden, missing, broken, website] = await Promise.all([
    serve(status(401, '', { 'www-authenticate': 'Bearer' })),
    serve(status(403)),
    serve(status(404)),
    serve(status(500)),
    serve(page),
  ]);
  const silent = await serve(() => undefined);
  const lost = /^(reconnecting|failed)$/;
  return {
    'is-off': {
      ...{ entry: { ...faulty(), enabled: false }, state: /^disabled$/ },
      ...{ why: /It is disabled\./, next: /plexus enable is-off/ },
    },
    'in-a-list': {
      ...{ entry: faulty(), state: /^disabled$/ },
      ...{ why: /not in use: "disabledServers" names it/, next: /Change that setting/ },
    },
    'is-denied': {
      ...{ entry: faulty(), state: /^disabled$/ },
      ...{ why: /not in use: .*denylist/, next: /Change that setting/ },
    },
    'of-the-folder': {
      ...{ entry: faulty(), state: /^needs-approval$/ },
      ...{ why: /nobody has approved it/, next: /plexus approve of-the-folder/ },
    },
    'wants-login': {
      ...{ entry: { url: login.url }, state: /^needs-auth$/ },
      ...{ why: /needs a login \(HTTP 401\)/, next: /Log in with: plexus login / },
    },
    'refuses-login': {
      ...{ entry: { url: forbidden.url, headers: { Authorization: 'Bearer x' } }, state: /^needs-auth$/ },
      ...{ why: /login .* failed: it answered HTTP 403/, next: /Check the token or the headers/ },
    },
    'is-invalid': {
      ...{ entry: { command: 5 }, state: /^invalid$/ },
      ...{ why: /configuration is not valid .*"command" must be a string/, next: /Correct it in .*plexus config/ },
    },
    'lacks-variable': {
      ...{ entry: { ...faulty(), env: { TOKEN: nameless } }, state: /^blocked$/ },
      ...{ why: /needs the environment variable NO_SUCH_VARIABLE/, next: /Set NO_SUCH_VARIABLE/ },
    },
    'no-command': {
      ...{ entry: { command: 'plexus-no-such-command' }, state: /^blocked$/ },
      ...{ why: /the command was not found/, next: /Install plexus-no-such-command or correct "command"/ },
    },
    'no-folder': {
      ...{ entry: { ...faulty(), cwd: '/no/such/folder' }, state: /^blocked$/ },
      ...{ why: /working directory \/no\/such\/folder does not exist/, next: /Correct "cwd"/ },
    },
    'exits-at-start': {
      ...{ entry: faulty('--fault=exit', '--at=open', '--fault=stderr', '--bytes=20'), state: lost },
      ...{ why: /exited with code 3 .*stderr:\n\s*\| e{20}$/m, next: /start the command of "exits-at-start" by hand/ },
    },
    'hangs-at-start': {
      ...{ entry: { ...faulty('--fault=hang', '--at=any'), startup_timeout_sec: 1 }, state: lost },
      ...{
        why: /did not become ready within 1 s: it has not answered\./,
        next: /Give it longer .* or start its command/,
      },
    },
    'hangs-far-away': {
      ...{ entry: { url: silent.url, startup_timeout_sec: 1 }, state: lost },
      ...{ why: /did not become ready within 1 s/, next: /Give it longer .* or check that its address answers/ },
    },
    'is-refused': {
      ...{ entry: { url: await nobody() }, state: lost },
      ...{ why: /nothing listens at its address/, next: /check that the address of "is-refused" answers/ },
    },
    'not-found': {
      ...{ entry: { url: missing.url }, state: lost },
      ...{ why: /it answered HTTP 404/, next: /Check that the address of "not-found" is that of an MCP server/ },
    },
    'fails-inside': {
      ...{ entry: { url: broken.url }, state: lost },
      ...{ why: /it answered HTTP 500/, next: /To see why, check that the address of "fails-inside" answers/ },
    },
    'is-a-website': {
      ...{ entry: { url: website.url }, state: lost },
      ...{
        why: /neither JSON nor a stream of events but text\/html/,
        next: /Check that the address of "is-a-website"/,
      },
    },
    'prints-and-stays': {
      ...{
        entry: { ...printing('exec tail -f /dev/null'), startup_timeout_sec: 1 },
        state: lost,
      },
      ...{ why: /it printed text that is not MCP: Usage: greeter NAME/, next: /start its command by hand/ },
    },
    'is-lazy': {
      ...{ entry: { ...faulty(), lifecycle: 'lazy' }, state: /^idle$/ },
      ...{ why: /It starts at its first call\./, next: /plexus tools is-lazy/ },
    },
    'is-manual': {
      ...{ entry: { ...faulty(), lifecycle: 'manual' }, state: /^idle$/ },
      ...{ why: /starts only when you name it/, next: /plexus tools is-manual/ },
    },
  };
}

/** What is said below the table, by server. */
function remarksIn(out: string): Record<string, string> {
  const [, ...blocks] = out.split(/\n\n(?=\S+\n {2})/);
  return Object.fromEntries(
    blocks.map((block) => {
      const [name = '', ...lines] = block.split('\n');
      return [name, lines.filter((line) => line.startsWith('  ')).join('\n')];
    }),
  );
}

test('list has other words for every reason why a server is not ready, and a next step for each', async () => {
  const all = await reasons();
  const { 'of-the-folder': theirs, ...own } = all;
  const entries = Object.fromEntries(Object.entries(own).map(([name, { entry }]) => [name, entry]));
  box.write(USER, {
    plexus: { disabledServers: ['in-a-list'], startup: { waitMs: 45_000 } },
    security: { mcpServerDenylist: ['is-denied'] },
    mcpServers: { ...entries, well: faulty() },
  });
  box.write('.mcp.json', { mcpServers: { 'of-the-folder': theirs?.entry } });

  const { code, out } = await box.plexus('list');
  expect(code).toBe(0);
  expect(out).toMatch(/^well +connected +stdio +user +9 +now$/m);
  const told = remarksIn(out);
  const states = Object.fromEntries(
    [...out.matchAll(/^(\S+) +([a-z-]+) +\S+ +\S+ +\S+(?: .*)?$/gm)].map(([, a = '', b]) => [a, b]),
  );
  for (const [name, { state, why, next }] of Object.entries(all)) {
    expect(states[name], name).toMatch(state);
    expect(told[name], name).toMatch(why);
    expect(told[name], name).toMatch(next);
  }
  // Apart from names and times, no two say the same.
  const bare = Object.keys(all).map((name) => (told[name] ?? '').replaceAll(name, 'NAME').replace(/after \d+ ms/g, ''));
  expect(new Set(bare).size).toBe(bare.length);
}, 60_000);

test('a server that is being tried again still says why it failed, and promises nothing; one that never failed, what to look at', () => {
  const status = {
    name: 'a',
    status: 'connecting',
    state: 'reconnecting',
    toolCount: 0,
    scope: 'user',
    label: '',
    reason: 'It fell. Plexus is trying again (attempt 2).',
  } as const;
  const lastError = { code: 'CONNECTION_LOST', message: 'It fell. Lift it.', at: 0 } as const;
  expect(remarksOn({ ...status, transport: 'stdio', lastError })).toEqual(['It fell. Lift it. [CONNECTION_LOST]']);
  const first = { ...status, state: 'connecting' } as const;
  expect(remarksOn({ ...first, transport: 'stdio' })[0]).toMatch(/not answered yet\. Start its command by hand/);
  expect(remarksOn({ ...first, transport: 'http' })[0]).toMatch(/not answered yet\. Check that its address answers/);
  const listing = { ...first, transport: 'http', protocol: '2025-11-25', reason: 'It is up, and lists.' } as const;
  expect(remarksOn(listing)).toEqual(['It is up, and lists. Look again, or see what it does with: plexus logs a']);
});

test('a server whose attempts are used up says so, and how it is tried again', async () => {
  box.write(USER, { mcpServers: { dies: { ...faulty('--fault=exit', '--at=open'), reconnect: 'none' } } });
  const { out } = await box.plexus('list');
  expect(out).toMatch(/^dies +failed/m);
  expect(out).toContain('Plexus gave up connecting to it. Try again with: plexus tools dies');
});

verifies(
  'EXT-10',
  'a command without a required server exits with 4 and says who is missing; list does not',
  async () => {
    const web = await serveMcp();
    const servers = {
      here: faulty(),
      away: { url: await nobody(), transport: 'http', required: true, reconnect: 'none' },
      there: { url: web.url, transport: 'http', required: true },
    };
    box.write(USER, { mcpServers: servers });
    const tools = await box.plexus('tools');
    expect([tools.code, tools.out]).toEqual([4, '']);
    expect(tools.err).toMatch(/Server "away" is required and not ready \(failed\)\. .*nothing listens at its address/s);
    expect(tools.err).toContain('set required = false');
    expect(tools.err).not.toMatch(/"(here|there)"/);
    expect(await box.json('tools')).toMatchObject({ error: { code: 'REQUIRED_NOT_READY', remedy: 'retry-later' } });
    expect((await box.plexus('call', 'here', 'echo', 'text=x')).code, 'nobody asked for the other').toBe(0);

    const listed = await box.plexus('list', '--live');
    expect([listed.code, listed.err]).toEqual([0, '']);
    expect(listed.out).toMatch(/^away +failed/m);
    expect(listed.out).toMatch(/^there +connected/m);
  },
);
