// Owns the proof of what a person meets at the command line: words that fit, exit codes that scripts rely on, and no more output than
// the answer needs.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { serveMcp } from './web.ts';

const talking = fileURLToPath(new URL('../servers/talking.mjs', import.meta.url));
const speaker = (...words: readonly string[]) => ({ command: process.execPath, args: [talking, ...words] });
const USER = '~/.config/plexus/mcp.json';

let box: Sandbox;
beforeEach(() => {
  box = new Sandbox();
});
afterEach(() => box.remove());

/** Without the folder of the test. */
const shown = (text: string) => text.replaceAll(box.folder, '');

describe('a call', () => {
  beforeEach(() => {
    box.write(USER, { mcpServers: { talks: speaker(), bad: { comand: 'x' }, gone: { command: '/no/such/program' } } });
  });

  test('that succeeds prints nothing about other servers', async () => {
    expect(await box.plexus('call', 'talks', 'well')).toEqual({ code: 0, out: 'called\n', err: '' });
    expect(await box.plexus('call', 'mcp__talks__well')).toEqual({ code: 0, out: 'called\n', err: '' });
    expect((await box.plexus('tools', 'talks')).err).not.toMatch(/bad|gone/);
  });

  test('of an invalid server tells its error once, with exit code 1', async () => {
    for (const words of [
      ['call', 'bad', 'x'],
      ['tools', 'bad'],
      ['reconnect', 'bad'],
      ['resources', 'bad'],
    ]) {
      const { code, err } = await box.plexus(...words);
      expect([code, err.split('neither "command" nor "url" is set').length - 1], words.join(' ')).toEqual([1, 1]);
    }
  });

  test('of an unknown server tells the errors of the files, which may be why', async () => {
    const { code, err } = await box.plexus('call', 'tals', 'well');
    expect([code, err]).toEqual([2, expect.stringMatching(/^error .*neither "command".*There is no server "tals"/s)]);
  });

  test('in which the server dies shows its last lines on stderr, and how to see more', async () => {
    const { code, err } = await box.plexus('call', 'talks', 'die');
    expect(code).toBe(4);
    expect(err).toContain(
      'The last that server "talks" wrote on stderr:\n  | before the end\n  | out of memory\nWhen it started and why it ended: plexus logs talks\n',
    );
    expect(err).toMatch(/plexus: The connection to server "talks" ended during the call of "die"/);
  });
});

describe('an option of a call', () => {
  beforeEach(() => void box.write(USER, { mcpServers: { talks: speaker() } }));

  verifies('CAL-02', '--timeout limits this one call', async () => {
    const { code, err } = await box.plexus('call', 'talks', 'silent', '--timeout', '0.1');
    expect([code, err]).toEqual([4, expect.stringContaining('took longer than 100 ms and was cancelled')]);
    for (const limit of ['', 'soon', '-1', '1e99', 'NaN']) {
      const refused = await box.plexus('call', 'talks', 'well', `--timeout=${limit}`);
      expect([refused.code, refused.err], limit).toEqual([1, expect.stringContaining('takes a number of seconds')]);
    }
  });

  test('--save-images writes the images of the answer, and overwrites none', async () => {
    const bytes = Buffer.from('iVBORw0KGgo=', 'base64');
    for (const number of [1, 2]) {
      const { code, out } = await box.plexus('call', 'talks', 'picture', '--save-images', 'a/b');
      const file = join(box.workspace, `a/b/picture-${number}.png`);
      expect([code, out]).toEqual([0, expect.stringContaining(`[image image/png 8 bytes saved to ${file}]`)]);
      expect(readFileSync(file)).toEqual(bytes);
    }
    expect(readdirSync(join(box.workspace, 'a/b'))).toEqual(['picture-1.png', 'picture-2.png']);
    const { attachments } = await box.json('call', 'talks', 'picture', '--save-images', '.');
    expect(attachments[0]).toMatchObject({ file: join(box.workspace, 'picture-1.png') });
  });

  test('--save-images calls nothing if its folder cannot be made', async () => {
    box.write('taken', '');
    const { code, err } = await box.plexus('call', 'talks', 'die', '--save-images', 'taken/here');
    expect([code, err]).toEqual([1, expect.stringContaining('cannot be written: a part of its path is not a folder')]);
  });

  test('that belongs to another program leads to the spelling that works', async () => {
    expect((await box.plexus('call', 'talks.well(a: 1)')).err).toContain('plexus call talks.well key=value …');
    expect((await box.plexus('call', 'talks.well', 'a:1')).err).toContain('"a:1" is not an argument');
  });
});

describe('a list of some servers', () => {
  beforeEach(() => {
    const off = { ...speaker(), disabled: true };
    box.write(USER, { mcpServers: { talks: speaker(), off, gone: { command: '/no/such/program' } } });
  });

  test('shows only the servers that are named', async () => {
    const { servers } = await box.json('list', 'talks', 'off');
    expect(servers.map(({ name }: { name: string }) => name)).toEqual(['off', 'talks']);
    expect(await box.plexus('list', 'tals')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Did you mean talks'),
    });
    const address = await box.plexus('list', 'https://x.example/mcp');
    expect([address.code, address.err]).toEqual([
      1,
      expect.stringContaining('plexus tools --url https://x.example/mcp'),
    ]);
  });

  verifies('LIF-04', '--check connects, and fails unless every server that is not disabled is up', async () => {
    expect(await box.plexus('list', '--check')).toMatchObject({ code: 4, out: expect.stringMatching(/gone +blocked/) });
    const healthy = await box.plexus('list', 'talks', 'off', '--check');
    expect([healthy.code, healthy.out]).toEqual([0, expect.stringMatching(/talks +connected[\s\S]* now /)]);
  });
});

describe('a variable that the person has and the server does not get', () => {
  const env = { GITHUB_TOKEN: 'not-for-everybody', OTHER_TOKEN: 'x' };

  test('is told at the first start of a server that writes about it, and not again', async () => {
    box.write(USER, { mcpServers: { talks: speaker('warning: GITHUB_TOKEN is not set') } });
    const first = await box.run(['call', 'talks', 'well'], { env });
    expect([first.code, shown(first.err)]).toEqual([
      0,
      `Server "talks" writes about GITHUB_TOKEN, which you have set and it does not get. To pass it on, add to its entry in /home/.config/plexus/mcp.json: env = { GITHUB_TOKEN = "\${GITHUB_TOKEN}" }\n`,
    ]);
    expect((await box.run(['call', 'talks', 'well'], { env })).err).toBe('');
  });

  test('is told each time a start fails', async () => {
    box.write(USER, { mcpServers: { talks: speaker('GITHUB_TOKEN is missing', 'exit') } });
    for (let time = 0; time < 2; time++) {
      const { code, err } = await box.run(['tools', 'talks'], { env });
      expect([code, err]).toEqual([4, expect.stringContaining('writes about GITHUB_TOKEN, which you have set')]);
    }
  });

  test('is not told where the server gets it, or where it is not set', async () => {
    const given = { ...speaker('GITHUB_TOKEN is wrong'), env: { GITHUB_TOKEN: `\${GITHUB_TOKEN}` } };
    box.write(USER, { mcpServers: { given, talks: speaker('NO_SUCH_TOKEN is not set') } });
    expect((await box.run(['call', 'given', 'well'], { env })).err).toBe('');
    expect((await box.run(['call', 'talks', 'well'], { env })).err).toBe('');
  });
});

describe('plexus reconnect', () => {
  verifies('EVT-10', 'connects to one server, shows how it went, and fails as the server does', async () => {
    box.write(USER, {
      mcpServers: {
        talks: { ...speaker(), lifecycle: 'manual' },
        dies: speaker('no', 'exit'),
        off: { ...speaker(), enabled: false },
      },
    });
    const { code, out, err } = await box.plexus('reconnect', 'talks');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^talks is connected in \d+\.\d s: 7 tools, stdio, MCP \S+\.\n {2}It calls itself talking 1\.\n/,
    );
    expect(await box.json('reconnect', 'talks')).toMatchObject({
      ...{ name: 'talks', state: 'connected', toolCount: 7, tookMs: expect.any(Number) },
    });
    const failed = await box.plexus('reconnect', 'dies');
    expect([failed.code, failed.err]).toEqual([4, expect.stringContaining('There is no connection to server "dies"')]);
    expect((await box.plexus('reconnect', 'off')).code).toBe(3);
    expect((await box.plexus('reconnect', 'talk')).code).toBe(2);
    expect((await box.plexus('reconnect')).code).toBe(1);
  });
});

describe('plexus list', () => {
  test('counts what is shortened or looks like orders, and plexus get tells which', async () => {
    box.write(USER, { mcpServers: { talks: speaker() } });
    const { out } = await box.plexus('list', '--live');
    expect(out).toContain('\ntalks\n  1 text looks like orders to a model. Which ones: plexus get talks\n');
    expect(out).not.toContain('orders"');
    const got = await box.plexus('get', 'talks');
    expect(got.out).toContain(
      'It has 7 tools.\nAbout its tools and settings:\n  the description of the tool "orders" looks',
    );
    expect(await box.json('get', 'talks')).toMatchObject({ tools: 7, warnings: [expect.stringContaining('"orders"')] });
  });

  test('tells with --live how long each server took, and how many are in which state', async () => {
    box.write(USER, { mcpServers: { talks: speaker(), bad: {}, off: { command: 'x', enabled: false } } });
    const { code, out } = await box.plexus('list', '--live');
    expect(code).toBe(0);
    expect(out).toMatch(/^NAME +STATE +TRANSPORT +SCOPE +TOOLS +LISTED +TIME\n/);
    expect(out).toMatch(/^talks +connected +stdio +user +7 +now +\d+\.\d s$/m);
    expect(out).toMatch(/^off +disabled +stdio +user +–$/m);
    expect(out).toContain('\n3 servers: 1 connected, 1 invalid, 1 disabled.\n');
    expect((await box.plexus('list')).out).not.toContain('TIME');
    const { servers } = await box.json('list', '--live');
    expect(servers.map(({ tookMs }: { tookMs?: number }) => typeof tookMs)).toEqual([
      'undefined',
      'undefined',
      'number',
    ]);
  });

  test('tells the error of an invalid entry once', async () => {
    box.write(USER, { mcpServers: { bad: { comand: 'x' } } });
    const { out } = await box.plexus('list');
    expect(out.split('neither "command" nor "url" is set')).toHaveLength(2);
  });
});

describe('plexus get', () => {
  test('starts nothing', async () => {
    box.write(USER, { mcpServers: { talks: speaker() } });
    expect((await box.plexus('get', 'talks')).code).toBe(0);
    expect((await box.plexus('logs', 'talks')).out).toContain('has no log yet, because it was never started');
  });

  test('of an invalid entry exits with 1', async () => {
    box.write(USER, { mcpServers: { bad: {} } });
    expect((await box.plexus('get', 'bad')).code).toBe(1);
    expect((await box.plexus('config', 'why', 'bad')).code).toBe(1);
  });
});

describe('plexus config', () => {
  test('shows what differs from the defaults, and with --all everything', async () => {
    box.write(USER, { plexus: { signals: 'ask' }, mcpServers: { talks: { ...speaker(), toolTimeoutMs: 5_000 } } });
    const { code, out } = await box.plexus('config');
    expect(code).toBe(0);
    expect(out).toContain('  toolTimeoutMs = 5000\n');
    expect(out).toMatch(/^signals +ask/m);
    expect(out).not.toMatch(/startupTimeoutMs|taint/);
    expect(out).toContain('All other settings have their defaults. See them with: plexus config --all');
    const all = await box.plexus('config', '--all');
    expect(all.out).toMatch(/ {2}startupTimeoutMs = 60000\n/);
    expect(all.out).toMatch(/^taint +/m);
    expect((await box.plexus('config', 'path', '--all')).code).toBe(1);
  });

  test('with an error in it exits with 1', async () => {
    box.write(USER, { mcpServers: { bad: {} } });
    expect((await box.plexus('config')).code).toBe(1);
  });

  test('check is for CI: 0 without errors, 1 with one, and for one file', async () => {
    expect(await box.plexus('config', 'check')).toMatchObject({
      ...{ code: 0, out: expect.stringMatching(/^There is no configuration file here\./) },
    });
    box.write(USER, { mcpServers: { talks: { ...speaker(), colour: 'red' } } });
    const warned = await box.plexus('config', 'check');
    expect([warned.code, shown(warned.out)]).toEqual([
      0,
      expect.stringMatching(/^warning .*"colour".*\n\nNo errors in \/home\/.*mcp\.json: 1 server, 1 warning\.\n$/s),
    ]);
    box.write('.mcp.json', { mcpServers: { bad: {} } });
    const broken = await box.plexus('config', 'check');
    expect([broken.code, broken.out]).toEqual([1, expect.stringMatching(/\n\n1 error, 1 warning in 2 files\.\n$/)]);
    expect((await box.plexus('config', 'check', '.mcp.json')).code).toBe(1);
    box.write('fine.toml', '[mcp_servers.x]\ncommand = "x"\n');
    expect(await box.plexus('config', 'check', 'fine.toml')).toMatchObject({ code: 0, err: '' });
    expect((await box.plexus('config', 'check', 'none.toml')).code).toBe(1);
    box.write('torn.toml', '[mcp_servers');
    expect((await box.plexus('config', 'check', 'torn.toml')).code).toBe(1);
    expect(await box.json('config', 'check')).toMatchObject({ ok: false, errors: 1, warnings: 1, servers: 1 });
    expect((await box.plexus('config', 'check', 'a', 'b')).code).toBe(1);
  });
});

describe('approvals', () => {
  beforeEach(() => {
    box.write('.mcp.json', { mcpServers: { theirs: speaker() } });
  });

  verifies(
    'PER-08',
    'are listed for servers as for tools, and told to be out of effect once the entry has changed',
    async () => {
      expect((await box.plexus('approve', '--list')).out).toBe(
        'No server of this folder is approved. Servers of your own files need no approval.\n\nNo tool is approved. Answer "a" when asked, or run: plexus approve SERVER TOOL\n',
      );
      await box.plexus('approve', 'theirs');
      await box.plexus('approve', 'theirs', 'well');
      const { out } = await box.plexus('approve', '--list');
      expect(shown(out)).toMatch(
        /^SERVER +SINCE +IN EFFECT +MAY READ YOUR +DEFINED IN\ntheirs +\S+ +yes +– +\/workspace\/\.mcp\.json\n\nSERVER +TOOL /,
      );
      box.write('.mcp.json', { mcpServers: { theirs: speaker('changed') } });
      expect((await box.plexus('approve', '--list', 'theirs')).out).toMatch(/^theirs +\S+ +no, it has changed /m);
      expect(await box.json('approve', '--list')).toMatchObject({ servers: [{ server: 'theirs', inEffect: false }] });
    },
  );

  test('that are not there are not taken back: exit code 2, for a server as for a tool', async () => {
    expect(await box.plexus('revoke', 'theirs')).toEqual({
      ...{ code: 2, out: '"theirs" was not approved; nothing was changed.\n', err: '' },
    });
    expect((await box.plexus('revoke', 'theirs', 'well')).code).toBe(2);
    await box.plexus('approve', 'theirs');
    expect((await box.plexus('revoke', 'theirs')).code).toBe(0);
  });
});

test('plexus policy why tells that plexus call is the own order of the person', async () => {
  box.write(USER, { mcpServers: { talks: speaker() } });
  expect((await box.plexus('policy', 'why', 'talks', 'well')).out).toContain(
    'this is about a model\'s call; "plexus call talks well" is your own order and does not ask\n',
  );
  expect((await box.plexus('policy', 'why', 'talks', 'erase')).out).toContain(
    '"plexus call talks erase" is your own order and asks too, unless you add --yes\n',
  );
});

test('words of other programs lead to the right command', async () => {
  const suggested = async (verb: string) => /did you mean "(.*)"\?/.exec((await box.plexus(verb)).err)?.[1];
  expect(await Promise.all(['ls', 'rm', 'restart', 'lst', 'check'].map(suggested))).toEqual([
    'list',
    'remove',
    'reconnect',
    'list',
    'config check',
  ]);
  expect(await box.plexus('-v')).toEqual(await box.plexus('--version'));
});

describe('a remedy fits', () => {
  test('a token variable that is not set: no default can be written for it', async () => {
    box.write(USER, { mcpServers: { far: { url: 'https://x.example/mcp', bearerTokenEnvVar: 'MY_TOKEN' } } });
    const { code, err } = await box.plexus('tools', 'far');
    expect(code).toBe(1);
    expect(err).toContain(
      'takes its token from the environment variable MY_TOKEN (bearer_token_env_var), which is not set',
    );
    expect(err).not.toContain(':-');
  });

  test('too many requests at the start are about the connection, not a call', async () => {
    const { url } = await serveMcp(({ message }, response) => {
      if (message['method'] === 'initialize') response.writeHead(429, { 'retry-after': '120' }).end();
    });
    box.write(USER, { mcpServers: { far: { url, transport: 'http', startupTimeoutMs: 1_000 } } });
    const { err } = await box.plexus('tools', 'far');
    expect(err).toContain('Server "far" refused the connection, because it has had too many requests');
    expect(err).toContain('Connect again in 120 s');
  });

  test('resources that cannot be listed are not the mistake of the person', async () => {
    box.write(USER, { mcpServers: { talks: speaker() } });
    const { code, out, err } = await box.plexus('resources', 'talks');
    expect([code, out]).toEqual([4, 'The resources of "talks" are not known, because they could not be listed.\n']);
    expect(err).toContain('Server "talks" answered with an error when asked for its resources: the index is broken.');
    expect(err).toContain('its tools can be used all the same.');
  });

  test('another scope than the one that defines the server', async () => {
    box.write(USER, { mcpServers: { talks: speaker() } });
    for (const verb of ['disable', 'enable', 'remove']) {
      const { code, err } = await box.plexus(verb, 'talks', '--scope', 'project');
      expect([code, shown(err)]).toEqual([
        1,
        expect.stringContaining(
          '"talks" is not defined in scope project, but in /home/.config/plexus/mcp.json (user); write --scope user, or leave --scope out.',
        ),
      ]);
    }
  });
});

verifies('EXT-26', 'inputs of VS Code come along with their words, and are asked for in them', async () => {
  const asking = { command: 'x', env: { KEY: `\${input:key}`, PLACE: `\${input:place}`, OWN: `\${input:undeclared}` } };
  const inputs = [
    { id: 'key', type: 'promptString', description: 'Your key of the weather service', password: true },
    { id: 'place', type: 'pickString', description: 'Where do you live?', options: ['Rome', 'Oslo'] },
  ];
  box.write('~/.config/Code/User/mcp.json', { servers: { weather: asking }, inputs });
  const { code, out } = await box.plexus('import', '--yes');
  expect(code).toBe(0);
  expect(out).toContain('weather: you will be asked when it starts: Your key of the weather service\n');
  expect(out).toContain('weather: you will be asked when it starts: Where do you live? (Rome, Oslo)\n');
  const file = readFileSync(box.path('~/.config/plexus/mcp.toml'), 'utf8');
  expect(file).toContain(
    '[[inputs]]\nid = "key"\ntype = "promptString"\ndescription = "Your key of the weather service"\npassword = true\n',
  );
  // An undeclared one stays a secret: it is not declared without its mark.
  expect(file.match(/\[\[inputs\]\]/g)).toHaveLength(2);
  expect((await box.plexus('config', 'check')).code).toBe(0);
});

test('inputs are declared once, also in a JSON file that has some', async () => {
  const asking = (name: string) => ({ command: name, env: { KEY: `\${input:key}` } });
  const inputs = [{ id: 'key', type: 'promptString', description: 'The key', password: true }];
  box.write(USER, { mcpServers: {}, inputs: [{ id: 'other', type: 'promptString' }] });
  box.write('~/.config/Code/User/mcp.json', { servers: { one: asking('one'), two: asking('two') }, inputs });
  expect((await box.plexus('import', '--yes')).code).toBe(0);
  const { inputs: written } = JSON.parse(readFileSync(box.path(USER), 'utf8'));
  expect(written).toEqual([{ id: 'other', type: 'promptString' }, ...inputs]);
});

test('a command that Plexus proposes reads the file that the person named', async () => {
  const file = box.write('fleet.json', { mcpServers: { talks: speaker() } });
  const named = ['--config', file];
  expect((await box.plexus('logs', 'talks', ...named)).out).toContain(`plexus tools talks --config ${file}\n`);
  for (const words of [
    ['tools', 'x'],
    ['call', 'x', 'y'],
    ['get', 'x'],
    ['list', 'x'],
    ['policy', 'why', 'x', 'y'],
    ['remove', 'x'],
  ])
    expect((await box.plexus(...words, ...named)).err, words.join(' ')).toContain(`plexus list --config ${file}\n`);
  expect((await box.plexus('reconnect', 'talks', ...named)).out).toContain(`plexus tools talks --config ${file}\n`);
  expect((await box.plexus('add', 'more', ...named, '--', 'more')).out).toContain(
    `plexus tools more --config ${file}\n`,
  );
  const broken = box.write('broken.json', { mcpServers: { talks: { command: 1 } } });
  const { err } = await box.plexus('call', 'talks', 'well', '--config', broken);
  const [, check = ''] = /then run: plexus (.*)/.exec(err) ?? [];
  expect(await box.plexus(...check.split(' '))).toMatchObject({ code: 1, out: expect.stringContaining('1 error') });
});
