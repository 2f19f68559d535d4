// Owns the proof that what a server says beside its messages can be read afterwards: in a file, with `plexus logs` and with
// `plexus get`, and without the server's secrets. The verbs are those of the built command line.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { RuntimeError } from '../../src/model/errors.ts';
import { limits } from '../../src/model/limits.ts';
import { logFileOf, olderLogOf } from '../../src/store/server-log.ts';
import { startAsking } from '../servers/asking.ts';
import { faulty } from '../servers/faulty.ts';
import { eventually } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { createFolder, start, statusOf } from './runtimes.ts';

const DATE = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z';
/** Each line with its date and its numbers taken out. */
const outline = (text: string) =>
  text
    .replace(new RegExp(DATE, 'g'), 'DATE')
    .replace(/pid \d+/g, 'pid N')
    .replace(/after [\d.]+ m?s/g, 'after T')
    .trimEnd()
    .split('\n');

const env = { PATH: process.env['PATH'] ?? '' };
const stateOf = (home: string) => join(home, '.local', 'state', 'plexus');
const SECRET = 'tok-0123456789';
/** Says its secret before it does what the flags say. */
const talkative = (...flags: readonly string[]) => {
  const { command, args } = faulty(...flags);
  return {
    command: 'sh',
    args: ['-c', 'printf "\\033[1mtoken\\033[0m %s\\n" "$TOKEN" >&2; exec "$0" "$@"', command, ...args],
    env: { TOKEN: SECRET },
  };
};

describe('a runtime', () => {
  verifies('TRN-02', 'writes down what a local server says, and why it ends, until it is closed', async () => {
    const home = createFolder();
    const servers = {
      well: talkative(),
      dies: { ...talkative('--fault=exit', '--at=open'), reconnect: 'none' as const },
      gone: { command: 'plexus-no-such' },
      mute: {
        ...faulty('--fault=hang', '--at=any'),
        startupTimeoutMs: 300,
        reconnect: 'none' as const,
      },
    };
    const runtime = await start(home, { env, servers, logs: true });
    await runtime.ready();
    const { pid } = statusOf(runtime, 'well');
    await runtime.close();
    const log = (server: string) => readFileSync(logFileOf(stateOf(home), server), 'utf8');
    expect(outline(log('well'))).toEqual([
      '--- DATE started, pid N ---',
      'token [TOKEN]',
      '--- DATE ended: it was closed ---',
    ]);
    expect(log('well')).toContain(`started, pid ${pid} ---`);
    expect(outline(log('dies')).slice(-3)).toEqual([
      '--- DATE started, pid N ---',
      'token [TOKEN]',
      '--- DATE not opened: it exited with code 3 after T ---',
    ]);
    expect(outline(log('gone')).at(-1)).toMatch(/^--- DATE not opened: the command was not found/);
    expect(outline(log('mute')).at(-1)).toBe('--- DATE not opened: it has not answered ---');
    expect(runtime.errors).toEqual([]);
    expect(readdirSync(join(stateOf(home), 'logs')).every((name) => /^\w+\.log$/.test(name))).toBe(true);
  });

  verifies('TRN-02', 'writes down that a server was lost, and its next life below', async () => {
    const home = createFolder();
    const runtime = await start(home, { env, servers: { well: talkative() }, logs: true });
    const { pid = 0 } = statusOf(runtime, 'well');
    process.kill(pid, 'SIGKILL');
    await eventually(() => ![undefined, pid].includes(statusOf(runtime, 'well').pid));
    await runtime.close();
    expect(outline(readFileSync(logFileOf(stateOf(home), 'well'), 'utf8'))).toEqual([
      '--- DATE started, pid N ---',
      'token [TOKEN]',
      '--- DATE ended: it was ended by SIGKILL ---',
      '--- DATE started, pid N ---',
      'token [TOKEN]',
      '--- DATE ended: it was closed ---',
    ]);
  });

  for (const transport of ['http', 'sse', 'ws'] as const) {
    verifies(
      'TRN-02',
      `writes down when it was connected to a remote server over ${transport}, and why that ended`,
      async () => {
        const home = createFolder();
        const server = await startAsking(transport);
        const runtime = await start(home, { env, servers: { web: server.entry }, logs: true });
        await runtime.close();
        const text = readFileSync(logFileOf(stateOf(home), 'web'), 'utf8');
        expect(outline(text)).toEqual([`--- DATE connected by ${transport} ---`, '--- DATE ended: it was closed ---']);
      },
    );
  }

  test('writes no log where the host keeps things itself, or wants none', async () => {
    const home = createFolder();
    for (const logs of [undefined, false]) {
      const runtime = await start(home, { env, servers: { well: faulty() }, ...(logs === false && { logs }) });
      await runtime.close();
    }
    expect(existsSync(stateOf(home))).toBe(false);
  });

  verifies('TRN-02', 'works as ever where no log can be written, and tells its host once', async () => {
    const home = createFolder();
    mkdirSync(stateOf(home), { recursive: true });
    const folder = join(stateOf(home), 'logs');
    writeFileSync(folder, 'in the way');
    const servers = {
      one: faulty('--fault=stderr', '--bytes=100000'),
      two: faulty('--fault=stderr', '--bytes=100000'),
    };
    const runtime = await start(home, { env, servers, logs: true });
    const { text } = await runtime.turn().call('mcp__one__echo', { text: 'hello' });
    expect(text).toContain('hello');
    await runtime.close();
    expect(runtime.errors).toEqual([new RuntimeError('STORE_UNWRITABLE', { folder, reason: 'it is not a folder' })]);
  });

  verifies('TRN-02', 'is not held up by a server that floods its stderr, and neither is the disk', async () => {
    const home = createFolder();
    const runtime = await start(home, { env, servers: { loud: faulty('--fault=stderr-forever') }, logs: true });
    const turn = runtime.turn();
    for (let number = 0; number < 20; number++) {
      const { text } = await turn.call('mcp__loud__echo', { text: `still here ${number}` });
      expect(text).toContain(`still here ${number}`);
    }
    await runtime.close();
    const file = logFileOf(stateOf(home), 'loud');
    for (const part of [file, olderLogOf(file)])
      expect(statSync(part, { throwIfNoEntry: false })?.size ?? 0).toBeLessThanOrEqual(limits.log.bytes);
  });
});

describe('plexus', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
  });
  afterEach(() => sandbox.remove());

  const configure = (servers: unknown) => sandbox.write('~/.config/plexus/mcp.json', { mcpServers: servers });
  const fileOf = (server: string) => logFileOf(stateOf(sandbox.home), server);

  verifies('TRN-02', 'logs shows what a server wrote and why it ended, the last lines of it, or as JSON', async () => {
    configure({ dies: talkative('--fault=exit', '--at=open') });
    await sandbox.plexus('list');
    const shown = await sandbox.plexus('logs', 'dies', '--lines', '3');
    expect([shown.code, shown.err, outline(shown.out)]).toEqual([
      0,
      '',
      ['--- DATE started, pid N ---', 'token [TOKEN]', '--- DATE not opened: it exited with code 3 after T ---'],
    ]);
    const { server, file, lines } = await sandbox.json('logs', 'dies', '--lines', '2');
    expect([server, file, lines]).toEqual(['dies', fileOf('dies'), shown.out.trimEnd().split('\n').slice(-2)]);
    expect(readFileSync(file, 'utf8')).not.toContain(SECRET);
  });

  verifies('TRN-02', 'get names the log and its end, once there is one', async () => {
    configure({ well: talkative() });
    const before = await sandbox.json('get', 'well');
    expect(before).not.toHaveProperty('log');
    await sandbox.plexus('tools', 'well');
    const [text, data] = await Promise.all([sandbox.plexus('get', 'well'), sandbox.json('get', 'well')]);
    expect(data).toMatchObject({ name: 'well', log: { file: fileOf('well') } });
    expect(outline(data.log.lines.join('\n'))).toEqual([
      '--- DATE started, pid N ---',
      'token [TOKEN]',
      '--- DATE ended: it was closed ---',
    ]);
    expect(text.out).toContain(`The end of its log, ${fileOf('well')}:\n  --- `);
    writeFileSync(fileOf('well'), Array.from({ length: 30 }, (_, index) => `${index}\n`).join(''));
    expect((await sandbox.json('get', 'well')).log.lines).toEqual(
      Array.from({ length: 10 }, (_, index) => `${index + 20}`),
    );
  });

  test('logs says so when there is none yet, and when there is no such server', async () => {
    configure({ files: faulty() });
    const [none, data, unknown] = await Promise.all([
      sandbox.plexus('logs', 'files'),
      sandbox.json('logs', 'files'),
      sandbox.plexus('logs', 'fils'),
    ]);
    expect([none.code, none.out]).toEqual([
      0,
      '"files" has no log yet, because it was never started. Start it with: plexus tools files\n',
    ]);
    expect(data).toEqual({ server: 'files', file: fileOf('files'), lines: [] });
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('Did you mean files?')]);
  });

  test('logs still shows that of a server which is not configured any more', async () => {
    mkdirSync(dirname(fileOf('former')), { recursive: true });
    writeFileSync(fileOf('former'), 'its last words\n');
    expect((await sandbox.plexus('logs', 'former')).out).toBe('its last words\n');
  });

  test.each([
    [['logs']],
    [['logs', 'a', 'b']],
    [['logs', 'a', '--lines', 'many']],
    [['logs', 'a', '--lines', '0']],
    [['logs', 'a', '--follow', '--json']],
  ])('%j is a usage error', async (words) => {
    expect((await sandbox.plexus(...words)).code).toBe(1);
  });

  verifies('TRN-02', 'logs --follow shows what comes until Ctrl-C, which is no failure', async () => {
    configure({ well: talkative() });
    const { child, seen, done } = sandbox.spawn(['logs', 'well', '--follow']);
    onTestFinished(() => void child.kill('SIGKILL'));
    await eventually(() => seen.out.includes('no log yet'));
    await sandbox.plexus('tools', 'well');
    await eventually(() => seen.out.includes('ended: it was closed'));
    child.kill('SIGINT');
    expect(await done).toMatchObject({ code: 0, err: '' });
    expect(outline(seen.out).slice(1)).toEqual([
      '--- DATE started, pid N ---',
      'token [TOKEN]',
      '--- DATE ended: it was closed ---',
    ]);
  });

  verifies('TRN-02', 'may run several times at once: one log has them all', async () => {
    configure({ well: talkative() });
    // `--live`, because a process that starts late would answer from the cache of one that is done.
    await Promise.all(Array.from({ length: 4 }, () => sandbox.spawn(['tools', 'well', '--live']).done));
    const lines = outline(readFileSync(fileOf('well'), 'utf8'));
    const count = (line: string) => lines.filter((each) => each === line).length;
    expect([
      lines.length,
      count('--- DATE started, pid N ---'),
      count('token [TOKEN]'),
      count('--- DATE ended: it was closed ---'),
    ]).toEqual([12, 4, 4, 4]);
    expect(readdirSync(dirname(fileOf('well')))).toEqual(['well.log']);
  });
});
