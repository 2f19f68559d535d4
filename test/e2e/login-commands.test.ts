// Owns the proof of `plexus login` and `plexus logout` as a person and a script use them, against a real authorization server.
// The flow itself is in `test/unit/auth/login.test.ts`.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { freePort } from '../free-port.ts';
import { type OAuthServer, startOAuth } from '../servers/oauth.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { Sandbox } from './plexus.ts';
import { hasTerminal, openTerminal } from './terminal.ts';

/** A browser that goes where the page leads, and notes that it was opened. */
const BROWSER = `
import { appendFileSync } from 'node:fs';
appendFileSync(new URL('opened', import.meta.url), process.argv[2] + '\\n');
await fetch(process.argv[2]);
`;

interface World {
  readonly box: Sandbox;
  readonly server: OAuthServer;
  readonly env: Readonly<Record<string, string>>;
  readonly opened: () => readonly string[];
}

async function setUp(settings: object = {}, oauth: object = {}): Promise<World> {
  const box = new Sandbox();
  onTestFinished(() => box.remove());
  const server = await startOAuth(settings);
  const entry = { url: server.url, oauth: { callback_port: await freePort(), ...oauth } };
  box.write('~/.config/plexus/mcp.json', { mcpServers: { web: entry } });
  const browser = join(box.folder, 'browser.mjs');
  writeFileSync(browser, BROWSER);
  const opened = () =>
    readdirSync(box.folder).includes('opened')
      ? readFileSync(join(box.folder, 'opened'), 'utf8').trim().split('\n')
      : [];
  return { box, server, env: { BROWSER: `"${process.execPath}" "${browser}"` }, opened };
}

verifies('AUT-01', 'login shows server, issuer and rights, opens one page, and the server can be used', async () => {
  const { box, server, env, opened } = await setUp({ scopes: ['read'] });
  const before = await box.run(['tools', 'web']);
  expect(before).toMatchObject({ code: 3 });
  expect(before.err).toContain('plexus login web');
  const ran = await box.run(['login', 'web'], { env });
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.err).toContain(`server:  ${server.url}`);
  expect(ran.err).toContain(`issuer:  ${server.issuer}`);
  expect(ran.err).toContain('scopes:  read');
  expect(ran.out).toContain('Logged in to "web"');
  expect(opened()).toHaveLength(1);
  expect(await box.run(['tools', 'web'])).toMatchObject({ code: 0, out: expect.stringContaining('echo') });
  const listed = await box.run(['login', '--list', '--json']);
  expect(JSON.parse(listed.out)).toMatchObject({
    logins: [{ serverUrl: server.url, issuer: server.issuer, account: '', scopes: ['read'] }],
  });
  expect(listed.out).not.toMatch(/access-|refresh-/);
});

verifies(
  'AUT-01',
  'a script gets the page with --json, and finishes it with the address in another process',
  async () => {
    const { box, server, opened } = await setUp();
    const begun = await box.run(['login', 'web', '--json']);
    const { status, url, finish, issuer } = JSON.parse(begun.out);
    expect({ status, finish, issuer }).toEqual({
      status: 'pending',
      finish: 'plexus login web --finish URL',
      issuer: server.issuer,
    });
    const { headers } = await fetch(url, { redirect: 'manual' });
    const answer = headers.get('location') ?? '';
    const wrong = await box.run(['login', 'web', '--finish', answer.replace(/state=[^&]+/, 'state=x')]);
    expect(wrong).toMatchObject({ code: 3, err: expect.stringContaining('another login') });
    // A wrong answer uses nothing up; the right one does.
    const done = await box.run(['login', 'web', '--finish', answer, '--json']);
    expect(JSON.parse(done.out)).toMatchObject({ status: 'completed', name: 'web', issuer: server.issuer });
    const late = await box.run(['login', 'web', '--finish', answer]);
    expect(late).toMatchObject({ code: 3, err: expect.stringContaining('no login waits') });
    expect(opened()).toEqual([]);
  },
);

verifies('AUT-01', 'without a browser and a terminal the address and the next command are printed', async () => {
  const { box, server } = await setUp();
  const ran = await box.run(['login', 'web']);
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.out).toContain(`${server.issuer}/authorize?`);
  expect(ran.out).toContain('plexus login web --finish URL');
});

verifies('AUT-01', 'logout removes the login and revokes it', async () => {
  const { box, server, env } = await setUp();
  await box.run(['login', 'web'], { env });
  expect(await box.run(['logout', 'web'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('Logged out of "web"'),
  });
  expect(await server.counts()).toMatchObject({ revocations: 2 });
  expect(await box.run(['logout', 'web'])).toMatchObject({ code: 2 });
  expect(JSON.parse((await box.run(['login', '--list', '--json'])).out)).toEqual({ logins: [] });
});

verifies(['AUT-01', 'EXT-31'], 'several accounts of one server are kept beside each other', async () => {
  const { box, env, server } = await setUp();
  const work = await box.run(['login', 'web', '--account', 'work'], { env });
  expect(work.out).toContain('In this folder "web" uses the login without a name; oauth.account in its entry chooses');
  await box.run(['login', 'web'], { env });
  const { logins } = JSON.parse((await box.run(['login', '--list', '--json'])).out);
  expect(logins.map(({ account }: { account: string }) => account).sort()).toEqual(['', 'work']);
  expect(await server.counts()).toMatchObject({ registrations: 1 });
});

verifies('EXT-31', 'the account of a folder is shown by list, get and logout', async () => {
  const { box, env } = await setUp({}, { account: { '~/work': 'work', '*': 'private' } });
  const cwd = '../home/work';
  box.write('~/work/here', '');
  const done = await box.run(['login', 'web'], { env, cwd });
  expect(done.out).toContain('with the account "work"');
  expect(done.out).not.toContain('In this folder');
  for (const command of [['list'], ['get', 'web']]) {
    expect((await box.run(command, { cwd })).out).toContain('In this folder it uses the account "work".');
    expect((await box.run(command)).out).toContain('In this folder it uses the account "private".');
  }
  expect((await box.run(['logout', 'web'])).out).toContain('There was no such login to "web"');
  expect(await box.run(['logout', 'web', '--account', 'work'])).toMatchObject({ code: 0 });
});

verifies('AUT-01', 'a login that fails leaves the one before as it was', async () => {
  const { box, env, server } = await setUp();
  await box.run(['login', 'web'], { env });
  await server.set({ person: 'deny' });
  const refused = await box.run(['login', 'web'], { env });
  expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('"access_denied" (the person said no)') });
  expect(await box.run(['tools', 'web'])).toMatchObject({ code: 0 });
});

verifies('AUT-01', 'two processes that log in at once leave one login, and both have succeeded', async () => {
  const { box, server, env } = await setUp();
  // With a port of its own: those that any program may take are not for tests.
  const entry = { url: server.url, oauth: { callback_port: await freePort() } };
  box.write('~/other/plexus/mcp.json', { mcpServers: { web: entry } });
  const logIn = (more: object) => box.spawn(['login', 'web'], { env: { ...env, ...more } }).done;
  for (const ran of await Promise.all([logIn({}), logIn({ XDG_CONFIG_HOME: box.path('~/other') })]))
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('Logged in to "web"') });
  expect(await server.counts()).toMatchObject({ registrations: 2, exchanges: 2 });
  expect(JSON.parse((await box.run(['login', '--list', '--json'])).out).logins).toHaveLength(1);
  expect(await box.run(['tools', 'web'])).toMatchObject({ code: 0 });
});

verifies(['AUT-01', 'AUT-02'], 'a login and a logout beside a process that is refreshing lose nothing', async () => {
  const { box, server, env } = await setUp();
  await box.run(['login', 'web'], { env });
  /** A call in a process of its own, whose tokens are replaced by now; the answer with the new ones is held back. */
  const startRefresh = async () => {
    const { refreshes = 0 } = await server.counts();
    await server.act('expire');
    await server.set({ hold: 'after' });
    const { done } = box.spawn(['call', 'web', 'echo', '--yes']);
    await waitFor(async () => expect((await server.counts())['refreshes']).toBe(refreshes + 1));
    await server.set({ hold: null });
    return { done };
  };
  const beside = await startRefresh();
  expect(await box.run(['login', 'web'], { env })).toMatchObject({ code: 0 });
  await server.act('release');
  expect(await beside.done).toMatchObject({ code: 0 });
  // The login stays, and not what the refresh of the former one brought.
  expect(await box.run(['call', 'web', 'echo', '--yes'])).toMatchObject({ code: 0 });
  expect(await server.counts()).toMatchObject({ refreshRequests: 1, reuses: 0 });

  const before = await startRefresh();
  const out = box.spawn(['logout', 'web']);
  await server.act('release');
  expect(await before.done).toMatchObject({ code: 0 });
  expect(await out.done).toMatchObject({ code: 0 });
  const usedUp = (await server.requests('POST /token')).at(-1)?.input['refresh_token'];
  const revoked = (await server.requests('POST /revoke')).map(({ input }) => input['token']);
  expect(revoked).toHaveLength(2);
  expect(revoked).not.toContain(usedUp);
  expect(await box.run(['tools', 'web', '--live'])).toMatchObject({ code: 3 });
});

verifies('AUT-01', 'no file and no output of a whole login holds a token, a code or a verifier', async () => {
  const { box, env, server } = await setUp();
  const outputs = [await box.run(['login', 'web', '--verbose'], { env })];
  for (const args of [
    ['tools', 'web'],
    ['call', 'web', 'echo', '--yes'],
    ['get', 'web', '--json'],
    ['logs', 'web'],
    ['login', '--list'],
  ])
    outputs.push(await box.run(args));
  await server.act('expire');
  outputs.push(await box.run(['tools', 'web', '--live', '--json']));
  await server.set({ refreshFault: 'invalid_grant' });
  await server.act('expire');
  outputs.push(await box.run(['tools', 'web', '--live']));
  const pending = await box.run(['login', 'web', '--json']);
  const { headers } = await fetch(JSON.parse(pending.out).url, { redirect: 'manual' });
  const answer = headers.get('location') ?? '';
  for (const input of [answer.replace(/state=[^&]+/, 'state=x'), answer])
    outputs.push(await box.run(['login', 'web', '--finish', '-', '--verbose'], { input }));
  expect(outputs.at(-1)).toMatchObject({ code: 0 });
  const secrets = /(?:access|refresh|code)-[\w-]{32}/;
  const verifiers = (await server.requests('POST /token')).flatMap(({ input }) => input['code_verifier'] ?? []);
  expect(verifiers).toHaveLength(2);
  const files = readdirSync(box.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  expect(files.length).toBeGreaterThan(3);
  for (const text of [...files, ...[...outputs, pending].flatMap(({ out, err }) => [out, err])]) {
    expect(text).not.toMatch(secrets);
    for (const verifier of verifiers) expect(text).not.toContain(verifier);
  }
  expect(await server.counts()).toMatchObject({ refreshes: 1 });
});

verifies(
  'AUT-01',
  'where logins cannot be stored no page opens, and a login that came of one is not said to be',
  async () => {
    const { box, server, env, opened } = await setUp();
    // As root one may write everywhere: something else is in the way of the lock.
    const obstacle = '~/.local/state/plexus/logins.json.write';
    const failed = { code: 1, err: expect.stringMatching(/Plexus cannot store anything in .+ then do it again/s) };
    box.write(obstacle, '');
    expect(await box.run(['login', 'web'], { env })).toMatchObject(failed);
    expect(await box.run(['login', 'web', '--json'])).toMatchObject({ code: 1 });
    expect(opened()).toEqual([]);
    expect(await server.counts()).toMatchObject({ registrations: 0, authorizations: 0 });
    rmSync(box.path(obstacle));
    const blocking = join(box.folder, 'blocking.mjs');
    writeFileSync(
      blocking,
      `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(box.path(obstacle))}, '');${BROWSER}`,
    );
    const late = await box.run(['login', 'web'], { env: { BROWSER: `"${process.execPath}" "${blocking}"` } });
    expect(late).toMatchObject({ ...failed, out: '' });
    expect(await server.counts()).toMatchObject({ exchanges: 1 });
  },
);

verifies('AUT-01', 'a server that is no remote one, or says oauth = false, has no login', async () => {
  const { box, server } = await setUp();
  const entry = { command: process.execPath, args: ['-e', ''] };
  box.write('~/.config/plexus/mcp.json', { mcpServers: { local: entry, off: { url: server.url, oauth: false } } });
  for (const name of ['local', 'off'])
    expect(await box.run(['login', name])).toMatchObject({
      code: 2,
      err: expect.stringContaining('does not offer that'),
    });
  expect(await box.run(['login', 'wbe'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('There is no server'),
  });
});

if (!hasTerminal) console.warn('SKIPPED: the test of a pasted address needs Linux and /usr/bin/script.');
describe.skipIf(!hasTerminal)('a terminal without a browser', () => {
  verifies('AUT-01', 'takes the address that is pasted', async () => {
    const { box, server } = await setUp();
    const terminal = openTerminal(box, ['login', 'web']);
    terminal.start();
    await terminal.shows('paste its address here:');
    const page = /http:\S+authorize\?\S+/.exec(terminal.screen())?.[0] ?? '';
    const { headers } = await fetch(page, { redirect: 'manual' });
    terminal.send(headers.get('location') ?? '');
    await terminal.shows('iss=');
    await terminal.type('');
    await terminal.shows('Logged in');
    expect(await terminal.done).toBe(0);
    expect(await server.counts()).toMatchObject({ exchanges: 1 });
  });
});
