// Owns the proof that the built command line edits files as a person would: exactly, safely from many processes, and with a
// sentence that says what was done.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runs } from '../effort.ts';
import { faulty } from '../servers/faulty.ts';
import { verifies } from '../verifies.ts';
import { type Ran, Sandbox } from './plexus.ts';

let box: Sandbox;

beforeEach(() => {
  box = new Sandbox('.');
});
afterEach(() => box.remove());

const USER = 'home/.config/plexus/mcp.toml';
const STATE = 'home/.local/state/plexus';
const at = (file: string) => join(box.folder, file);
const read = (file: string) => readFileSync(at(file), 'utf8');
const modeOf = (file: string) => (statSync(at(file)).mode & 0o777).toString(8);
const serversIn = (text: string) => Object.keys(Object(parseToml(text)['mcp_servers']));

function write(file: string, text: string): void {
  mkdirSync(dirname(at(file)), { recursive: true });
  writeFileSync(at(file), text);
}

/** Paths count from the folder of the test. */
const shortened = ({ code, out, err }: Ran): Ran => ({
  code,
  out: out.replaceAll(box.folder, ''),
  err: err.replaceAll(box.folder, ''),
});
const plexusIn = async (cwd: string, ...args: readonly string[]) => shortened(await box.run(args, { cwd }));
const plexus = (...args: readonly string[]) => plexusIn('.', ...args);
const spawned = (...args: readonly string[]) => box.spawn(args);

/** Not more than so many at a time. */
async function inTurns(times: number, width: number, run: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < times) await run(next++);
    }),
  );
}

const PROCESSES = runs(200);

verifies(
  'EXT-19',
  `${PROCESSES} processes that each add a server leave ${PROCESSES} servers, and the comments`,
  async () => {
    write(USER, '# mine\n\n[plexus.startup]\ngate_ms = 1 # quick\n');
    const codes: (number | null)[] = [];
    await inTurns(PROCESSES, 24, async (number) => {
      codes.push((await spawned('add', `s${number}`, '--', 'true', String(number)).done).code);
    });
    const text = read(USER);
    expect(codes).toEqual(Array.from({ length: PROCESSES }, () => 0));
    expect(serversIn(text).sort()).toEqual(Array.from({ length: PROCESSES }, (_, number) => `s${number}`).sort());
    expect(text.startsWith('# mine\n\n[plexus.startup]\ngate_ms = 1 # quick\n\n[mcp_servers.s')).toBe(true);
    expect(readdirSync(dirname(at(USER)))).toEqual(['mcp.toml']);
  },
  { timeout: 600_000 },
);

verifies(
  'EXT-19',
  'processes that are killed leave the old file or the new one, whole, and nothing that stays',
  async () => {
    write(USER, '# mine\n[mcp_servers.first]\ncommand = "true"\n');
    const finished: string[] = [];
    const began = Date.now();
    await inTurns(8, 8, async (number) => {
      await spawned('add', `whole${number}`, '--', 'true').done;
      finished.push(`whole${number}`);
    });
    // Killed at any point of the time that one takes, on any machine.
    const wholeMs = Date.now() - began;
    await inTurns(40, 8, async (number) => {
      const { child, done } = spawned('add', `s${number}`, '--', 'true');
      const timer = setTimeout(() => child.kill('SIGKILL'), wholeMs * (0.4 + ((number * 37) % 40) / 50));
      if ((await done).code === 0) finished.push(`s${number}`);
      clearTimeout(timer);
      expect(serversIn(read(USER))).toEqual(expect.arrayContaining(['first', ...finished]));
    });
    expect(read(USER).startsWith('# mine\n[mcp_servers.first]\ncommand = "true"\n')).toBe(true);
    expect((await plexus('add', 'last', '--', 'true')).code).toBe(0);
    const leftovers = () =>
      [dirname(USER), STATE]
        .flatMap((each) => readdirSync(at(each)).map((name) => join(at(each), name)))
        // Plexus keeps on purpose what the person's own file forbids.
        .filter((path) => path !== at(USER) && !/own-files[^/]*\.json$/.test(path));
    for (const path of leftovers()) utimesSync(path, 1, 1);
    expect((await plexus('remove', 'last')).code).toBe(0);
    expect(leftovers()).toEqual([]);
  },
  { timeout: 600_000 },
);

verifies('EXT-19', 'what is added and removed again leaves the file as it was, byte for byte', async () => {
  const toml = '\uFEFF# mine\r\n[mcp_servers."a.b"] # a\r\ncommand = "x"\r\n# the end';
  const json = '{\n\t// mine\n\t"mcpServers": {\n\t\t"a": { "command": "x" }, // a\n\t},\n}';
  write(USER, toml);
  write('.mcp.json', json);
  const env = ['--env', 'A=b=c', '--env', 'B='];
  expect((await plexus('add', 'x y', ...env, '--', 'node', '--json', '-e', '1')).code).toBe(0);
  expect(read(USER)).toBe(
    toml.replace(
      '# the end',
      '# the end\r\n\r\n[mcp_servers."x y"]\r\ncommand = "node"\r\nargs = ["--json", "-e", "1"]\r\nenv = { A = "b=c", B = "" }',
    ),
  );
  expect((await plexus('add', 'x', '--scope', 'project', '--url', 'https://a.example/mcp', '-H', 'A: b')).code).toBe(0);
  expect(read('.mcp.json')).toBe(
    json.replace(
      '// a\n',
      '// a\n\t\t"x": {\n\t\t\t"url": "https://a.example/mcp",\n\t\t\t"headers": {\n\t\t\t\t"A": "b"\n\t\t\t}\n\t\t},\n',
    ),
  );
  expect([(await plexus('remove', 'x y')).code, (await plexus('remove', 'x')).code]).toEqual([0, 0]);
  expect([read(USER), read('.mcp.json')]).toEqual([toml, json]);
});

verifies('EXT-19', "a person's own file is for its owner only, new or not; another one keeps its rights", async () => {
  await plexus('add', 'a', '--', 'x');
  expect([modeOf(USER), modeOf(dirname(USER))]).toEqual(['600', '700']);
  write('other.toml', '');
  await plexus('add', 'a', '--config', 'other.toml', '--env', 'API_KEY=sk-abcdefghijklmnop', '--', 'x');
  expect(modeOf('other.toml')).toBe('644');
  chmodSync(at(USER), 0o644);
  const { out } = await plexus('add', 'b', '--env', 'API_KEY=sk-abcdefghijklmnop', '--', 'x');
  expect([out, modeOf(USER)]).toEqual([
    `Added "b" to /${USER} (user).
It runs: x
env.API_KEY is now stored in plain text in /${USER}. To keep a secret out of the file, set a variable and write '\${API_KEY}' instead.
See what it offers with: plexus tools b
`,
    '600',
  ]);
});

const keys: Readonly<Record<string, readonly string[]>> = {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
  'behind a placeholder': ['add', 'b', '--url', 'https://b.example', '-H', 'Authorization: Bearer ${X}abcdefgh'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
  'in a default': ['add', 'b', '--env', 'API_KEY=${X:-abcdefgh}', '--', 'x'],
  'in the path of an address': ['add', 'b', '--url', 'https://b.example/mcp/abcdefgh12345678'],
  'as a bare argument': ['add', 'b', '--', 'x', '-k', 'abcdefgh'],
  'in a setting of its own': ['add-json', 'b', '{"url":"https://b.example","oauth":{"clientSecret":"abcdefgh"}}'],
  'in a file that --config names': ['add', 'b', '--config', USER, '--env', 'API_KEY=abcdefgh', '--', 'x'],
};
for (const [where, words] of Object.entries(keys))
  verifies('EXT-19', `a person's own file that gets a key ${where} is closed to others`, async () => {
    write(USER, '');
    expect([modeOf(USER), (await plexus(...words)).code, modeOf(USER)]).toEqual(['644', 0, '600']);
  });

verifies('EXT-19', 'what a repository put where a lock could be is neither touched nor waited for', async () => {
  write('home/.ssh/authorized_keys', 'mine');
  write('repo/.mcp.json', '{}');
  symlinkSync('../home/.ssh', at('repo/.mcp.json.plexus-lock'));
  const added = await plexusIn('repo', 'add', 'a', '--scope', 'project', '--', 'x');
  expect([added.code, added.err, read('home/.ssh/authorized_keys')]).toEqual([0, '', 'mine']);
  expect(readdirSync(at('repo')).sort()).toEqual(['.mcp.json', '.mcp.json.plexus-lock']);
});

verifies(['EXT-19', 'TRU-01'], "a repository's link never leads a write into a person's own file", async () => {
  write(USER, '# mine\n');
  mkdirSync(at('repo'));
  for (const name of ['.mcp.toml', '.plexus.local.toml']) symlinkSync(at(USER), at(`repo/${name}`));
  write('repo/.cursor/mcp.json', '{ "mcpServers": { "theirs": { "command": "x" } } }');
  const ran = [
    await plexusIn('repo', 'add', 'a', '--scope', 'project', '--', 'x'),
    await plexusIn('repo', 'add', 'a', '--scope', 'local', '--', 'x'),
    await plexusIn('repo', 'import', '--yes'),
  ];
  for (const { code, err } of ran)
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/cannot be written: its link leads out of \/repo, to .*mcp\.toml/),
    ]);
  expect(read(USER)).toBe('# mine\n');
  symlinkSync(at('linked.toml'), at('repo/named.toml'));
  expect((await plexusIn('repo', 'add', 'a', '--config', 'named.toml', '--', 'x')).code).toBe(0);
  expect(serversIn(read('linked.toml'))).toEqual(['a']);
});

verifies(['EXT-19', 'TRU-01'], 'a program given by a relative path is the same one in every folder', async () => {
  mkdirSync(at('repo'));
  const added = await plexusIn('repo', 'add', 'a', '--', './server.sh', './data');
  expect(added.out).toBe(`Added "a" to /${USER} (user).
It runs: /repo/server.sh ./data
Its command ./server.sh was made absolute, because this file is used in other folders too.
See what it offers with: plexus tools a
`);
  const entries: Readonly<Record<string, readonly [entry: object, command: unknown]>> = {
    text: [{ command: 'bin/x' }, '/repo/bin/x'],
    words: [{ command: ['../x', 'y'] }, ['/x', 'y']],
    parts: [{ command: { path: './x', args: ['./x'] } }, { path: '/repo/x', args: ['./x'] }],
    folder: [{ command: './x', cwd: 'sub' }, '/repo/sub/x'],
    home: [{ command: '~/x' }, '/home/x'],
    bare: [{ command: 'npx' }, 'npx'],
    absolute: [{ command: '/bin/x' }, '/bin/x'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
    placeholder: [{ command: '${HOME}/x' }, '${HOME}/x'],
  };
  for (const [name, [entry, command]] of Object.entries(entries)) {
    const { out } = await plexusIn('repo', 'add-json', name, JSON.stringify(entry), '--json');
    expect([name, JSON.parse(out).entry.command]).toEqual([name, command]);
  }
  const commandIn = async (...words: readonly string[]) =>
    JSON.parse((await plexusIn('repo', 'add', 'b', '--json', ...words, '--', './x')).out).entry.command;
  expect([
    await commandIn('--scope', 'project'),
    await commandIn('--config', 'in.toml'),
    await commandIn('--config', '../out.toml'),
  ]).toEqual(['./x', './x', '/repo/x']);
});

verifies(
  ['CFG-02', 'TRU-01'],
  'what a person adds to the workspace is approved with it, and only as it was written',
  async () => {
    const { command, args } = faulty();
    const added = await plexus('add', 'mine', '--scope', 'project', '--', command, ...args);
    expect([added.code, added.out]).toEqual([0, expect.stringContaining('It is approved as it is now')]);
    expect((await plexus('call', 'mine', 'echo', 'text=x')).out).toBe('x\n');
    write('.mcp.json', read('.mcp.json').replace('"args": [', '"args": ["--no-warnings", '));
    expect((await plexus('call', 'mine', 'echo', 'text=x')).code).toBe(3);
  },
);

test('with --json the entry is there as it was written, with where it is', async () => {
  const added = await plexus('add', 'a', '--json', '--env', 'T=ghp_abcdefghijklmnop', '--', 'x', '--json');
  expect(JSON.parse(added.out)).toEqual({
    name: 'a',
    scope: 'user',
    file: `/${USER}`,
    entry: { command: 'x', args: ['--json'], env: { T: 'ghp_abcdefghijklmnop' } },
    replaced: false,
    inUse: true,
    diagnostics: [],
    inTheClear: ['env.T'],
  });
  const disabled = await plexus('disable', 'a', '--json');
  expect(JSON.parse(disabled.out)).toMatchObject({
    name: 'a',
    file: `/${USER}`,
    enabled: false,
    changed: true,
    entry: { enabled: false },
  });
  const removed = await plexus('remove', 'a', '--json');
  expect(JSON.parse(removed.out)).toMatchObject({ name: 'a', scope: 'user', removed: true, entry: { command: 'x' } });
});

test('enable and disable say what they did, or that there was nothing to do', async () => {
  write('.plexus.local.toml', '[mcp_servers.a]\ncommand = "x"\ndisabled = false # mine\n');
  const said: string[] = [];
  for (const verb of ['enable', 'disable', 'disable', 'enable'])
    said.push((await plexus(verb, 'a')).out.split('\n', 1).join(''));
  expect(said).toEqual([
    '"a" is already enabled in /.plexus.local.toml (local).',
    '"a" is now disabled in /.plexus.local.toml (local).',
    '"a" is already disabled in /.plexus.local.toml (local).',
    '"a" is now enabled in /.plexus.local.toml (local).',
  ]);
  expect(read('.plexus.local.toml')).toBe('[mcp_servers.a]\ncommand = "x"\ndisabled = false # mine\n');
  await plexus('approve', 'a');
  write(USER, '[mcp_servers.a]\ncommand = "mine"\n');
  expect((await plexus('disable', 'a', '--scope', 'user')).out).toBe(
    `"a" is now disabled in /${USER} (user).\nBut /.plexus.local.toml (local) overrides it, and was not changed.\n`,
  );
});

test('the stronger file is named when it wins, and the heir when it goes', async () => {
  write('.mcp.toml', '[mcp_servers.a]\ncommand = "theirs"\n');
  await plexus('approve', 'a');
  const added = await plexus('add', 'a', '--', 'mine');
  expect([added.code, added.out]).toEqual([
    0,
    expect.stringContaining('It is not in use: /.mcp.toml (project) also defines "a" and overrides it.'),
  ]);
  const removed = await plexus('remove', 'a');
  expect(removed.out).toBe(`Removed "a" from /.mcp.toml (project).\nThe entry in /${USER} (user) is in effect now.\n`);
  expect((await plexus('remove', 'a', '--scope', 'project')).err).toMatch(
    /^plexus: "a" is not defined in scope project, but in .*mcp\.toml \(user\); write --scope user, or leave --scope out\. See/,
  );
});

test('add-json takes what people paste', async () => {
  const pasted =
    '{ // from a README\n "mcpServers": { "a": { "command": "x", "startupTimeoutSec": 5, "disabled": true, }, } }';
  expect((await plexus('add-json', 'a', pasted)).out).toContain('It is not in use: it is disabled.');
  write('b.json', '{ "name": "b", "type": "streamable-http", "url": "https://b.example" }');
  await plexus('add-json', 'b', '@b.json');
  expect(read(USER)).toBe(
    '[mcp_servers.a]\ncommand = "x"\nstartup_timeout_sec = 5\ndisabled = true\n\n[mcp_servers.b]\ntype = "streamable-http"\nurl = "https://b.example"\n',
  );
});

test('what a page shows under another name is added under the one that was given', async () => {
  await plexus('add-json', 'mine', '{ "mcpServers": { "theirs": { "command": "x" } } }');
  expect(read(USER)).toBe('[mcp_servers.mine]\ncommand = "x"\n');
});

test('what cannot be done is refused in a sentence, and nothing is written', async () => {
  write('bad.toml', '[mcp_servers.a\n');
  write('home/.cursor/mcp.json', '{ "mcpServers": { "theirs": { "command": "x" } } }');
  write(USER, '[mcp_servers.a]\ncommand = "x"\n\n[plexus]\nimport = "auto"\n');
  const before = [read('bad.toml'), read('home/.cursor/mcp.json'), read(USER)];
  const cases: readonly (readonly [words: readonly string[], code: number, sentence: RegExp])[] = [
    [['add'], 1, /name the server.*plexus add --help/],
    [['add', 'b'], 1, /give the command of "b" after --, or its address after --url/],
    [['add', 'b', 'npx', 'x'], 1, /did you mean: plexus add b -- npx x/],
    [['add', 'b', 'https://b.example'], 1, /did you mean: plexus add b --url https:\/\/b\.example/],
    [['add', 'b', 'npx', '-y', 'x'], 1, /unknown option -y; write -- before the server's command/],
    [['add', 'b', '--url', 'b.example'], 1, /"b" was not added: "url" must be an address/],
    [['add', 'b', '--url', 'https://b.example', '--', 'x'], 1, /, not both/],
    [['add', 'b', '--env', 'A', '--', 'x'], 1, /--env takes NAME=VALUE/],
    [['add', 'b', '--header', 'A=b', '--', 'x'], 1, /--header is for a server with --url/],
    [['add', 'b', '--scope', 'enterprise', '--', 'x'], 1, /use local, project or user/],
    [['add', ' ', '--', 'x'], 1, /a server has no name/],
    [['add', '__proto__', '--', 'x'], 1, /cannot be the name of a server/],
    [['add', 'a', '--', 'x'], 1, /already has a server "a"; nothing was changed\. Replace it with --force/],
    [['add', 'b', '--config', 'bad.toml', '--', 'x'], 1, /bad\.toml:1\): column \d+: /],
    [['add-json', 'b', '{ "comand": "x" }'], 1, /neither "command" nor "url" is set.*Did you mean "command"\?/],
    [['add-json', 'b', '{'], 1, /not valid JSON, line 1, column 2/],
    [
      ['add-json', 'b', '{ "mcpServers": { "c": {}, "d": {} } }'],
      1,
      /the JSON holds 2 servers, "c", "d"; give the settings of one/,
    ],
    [['remove', 'aa'], 2, /There is no server "aa"\. Did you mean a\?/],
    [['remove'], 1, /name one server/],
    [
      ['disable', 'theirs'],
      1,
      /"theirs" comes from .*\.cursor\/mcp\.json.* Plexus does not edit.*plexus import, or disable it with disabled_servers/,
    ],
  ];
  const ran = await Promise.all(cases.map(([words]) => plexus(...words)));
  for (const [number, [words, code, sentence]] of cases.entries()) {
    expect({ words, code: ran[number]?.code }).toEqual({ words, code });
    expect(ran[number]?.err).toMatch(sentence);
  }
  expect([read('bad.toml'), read('home/.cursor/mcp.json'), read(USER), existsSync(at('.mcp.json'))]).toEqual([
    ...before,
    false,
  ]);
});
