// Owns the proof that a file is edited by one process at a time, atomically, with the rights it had, and without losing the
// change of another program.

import { appendFileSync } from 'node:fs';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { type Change, type EditOptions, editServer } from '../../../src/config/edit.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { verifies } from '../../verifies.ts';
import { createFolder } from './folder.ts';

const put = (name: string, entry: Record<string, unknown> = { command: name }): Change => ({
  kind: 'put',
  name,
  entry,
  whenPresent: 'refuse',
});
const lockFolder = join(tmpdir(), `plexus-edit-locks-${process.pid}`);
afterAll(() => rm(lockFolder, { recursive: true, force: true }));
const edit = (file: string, change: Change, options: Partial<EditOptions> = {}) =>
  editServer(file, change, {
    lockFolder,
    clock: systemClock,
    closeToOthers: false,
    isPrivateFolder: false,
    ...options,
  });
const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);

describe('an edit', () => {
  verifies('EXT-19', 'makes the file, its folders and nothing else, for its owner only', async () => {
    const folder = await createFolder();
    const file = join(folder, 'a', 'b', 'mcp.toml');
    const edited = await edit(file, put('x'), { isPrivateFolder: true });
    expect(edited).toEqual({
      kind: 'written',
      entry: { command: 'x' },
      before: undefined,
      isReadableByOthers: false,
      texts: { before: '', now: '[mcp_servers.x]\ncommand = "x"\n' },
    });
    expect(await readFile(file, 'utf8')).toBe('[mcp_servers.x]\ncommand = "x"\n');
    expect([await modeOf(join(folder, 'a')), await modeOf(join(folder, 'a', 'b')), await modeOf(file)]).toEqual([
      '700',
      '700',
      '600',
    ]);
    expect(await readdir(join(folder, 'a', 'b'))).toEqual(['mcp.toml']);
  });

  verifies('EXT-19', 'keeps the rights of a file, and takes those of others away when told to', async () => {
    const folder = await createFolder({ 'mcp.toml': '' });
    const file = join(folder, 'mcp.toml');
    await chmod(file, 0o664);
    expect(await edit(file, put('x'))).toMatchObject({ kind: 'written', isReadableByOthers: true });
    expect(await modeOf(file)).toBe('664');
    expect(await edit(file, put('y'), { closeToOthers: true })).toMatchObject({ isReadableByOthers: false });
    expect(await modeOf(file)).toBe('600');
  });

  test.runIf(process.getuid?.() === 0)('keeps the owner of a file', async () => {
    const folder = await createFolder({ 'mcp.toml': '' });
    const file = join(folder, 'mcp.toml');
    await chown(file, 12_345, 54_321);
    await edit(file, put('x'));
    const { uid, gid } = await stat(file);
    expect({ uid, gid }).toEqual({ uid: 12_345, gid: 54_321 });
  });

  verifies('EXT-19', 'follows links, also one that leads nowhere yet, and leaves them links', async () => {
    const folder = await createFolder({ 'real/mcp.json': '{}' });
    await symlink('real/mcp.json', join(folder, '.mcp.json'));
    await symlink('new/mcp.toml', join(folder, 'dangling.toml'));
    await symlink('dangling.toml', join(folder, 'twice.toml'));
    await edit(join(folder, '.mcp.json'), put('x'));
    await edit(join(folder, 'twice.toml'), put('y'));
    expect(await readlink(join(folder, '.mcp.json'))).toBe('real/mcp.json');
    expect(JSON.parse(await readFile(join(folder, 'real/mcp.json'), 'utf8'))).toEqual({
      mcpServers: { x: { command: 'x' } },
    });
    expect(await readFile(join(folder, 'new/mcp.toml'), 'utf8')).toBe('[mcp_servers.y]\ncommand = "y"\n');
    expect((await lstat(join(folder, 'dangling.toml'))).isSymbolicLink()).toBe(true);
    expect(await readdir(join(folder, 'new'))).toEqual(['mcp.toml']);
  });

  verifies('EXT-19', 'waits for the others: of many at once none is lost, and one name is given once', async () => {
    const folder = await createFolder({ 'mcp.toml': '# mine\n' });
    const file = join(folder, 'mcp.toml');
    const names = Array.from({ length: 30 }, (_, at) => `s${at % 25}`);
    const edited = await Promise.all(names.map((name) => edit(file, put(name))));
    expect(edited.filter(({ kind }) => kind === 'written')).toHaveLength(25);
    expect(edited.filter(({ kind }) => kind === 'present')).toHaveLength(5);
    const text = await readFile(file, 'utf8');
    expect([text.slice(0, 7), text.match(/^\[/gm)?.length]).toEqual(['# mine\n', 25]);
    expect(await readdir(folder)).toEqual(['mcp.toml']);
  });

  /** Appends one line after the other while the edits run; synchronously, so that each line is there before anything else happens. */
  async function appendDuring<Result>(file: string, work: Promise<Result>) {
    let appended = 0;
    const timer = setInterval(() => appendFileSync(file, `# ${appended++}\n`), 0);
    const [outcome] = await Promise.allSettled([work]);
    clearInterval(timer);
    const text = await readFile(file, 'utf8');
    return { outcome, text, appended, kept: text.match(/^# \d+$/gm)?.length };
  }

  verifies('EXT-19', 'never overwrites what a program wrote that does not know the lock', async () => {
    const folder = await createFolder({ 'mcp.toml': '' });
    const file = join(folder, 'mcp.toml');
    const edits = Array.from({ length: 20 }, (_, at) => edit(file, put(`s${at}`)));
    // When one is done the next has begun. It is overtaken once, at another moment each time, and has to try again.
    const append = async (at: number) => {
      for (let turn = 0; turn < at; turn++) await nextTurn();
      appendFileSync(file, `# ${at}\n`);
    };
    await Promise.all(edits.map((each, at) => each.then(() => append(at))));
    const text = await readFile(file, 'utf8');
    expect([text.match(/^# \d+$/gm)?.length, text.match(/^\[/gm)?.length]).toEqual([20, 20]);
  });

  verifies(
    'EXT-19',
    'of a file that changes all the time is tried again, or given up; nothing is lost either way',
    async () => {
      const folder = await createFolder({ 'mcp.toml': '# first\n' });
      const file = join(folder, 'mcp.toml');
      const { outcome, text, appended, kept } = await appendDuring(file, edit(file, put('x')));
      const isWritten = text.includes('[mcp_servers.x]');
      expect(kept).toBe(appended);
      expect(outcome).toMatchObject(
        isWritten ? { value: { kind: 'written' } } : { reason: { code: 'CONFIG_UNWRITABLE' } },
      );
      expect(await readdir(folder)).toEqual(['mcp.toml']);
    },
  );

  const id = '00000000-0000-4000-8000-000000000000';

  verifies('EXT-19', 'clears away what a killed process left', async () => {
    const folder = await createFolder({ 'a/mcp.toml': '', 'locks/kept': '' });
    const debris = [join(folder, 'a', `mcp.toml.${id}.tmp`), join(folder, 'locks', `x.lock.1700000000000-${id}.tmp`)];
    for (const path of debris) await mkdir(path);
    for (const path of debris) await utimes(path, 1, 1);
    await edit(join(folder, 'a', 'mcp.toml'), put('x'), { lockFolder: join(folder, 'locks') });
    expect([await readdir(join(folder, 'a')), await readdir(join(folder, 'locks'))]).toEqual([['mcp.toml'], ['kept']]);
  });

  verifies('EXT-19', 'is locked away from the file, whose neighbours stay as somebody else put them', async () => {
    const folder = await createFolder({ '.mcp.json': '{}', '.ssh/authorized_keys': 'mine' });
    await symlink('.ssh', join(folder, '.mcp.json.plexus-lock'));
    const locks = join(folder, 'state');
    expect(await edit(join(folder, '.mcp.json'), put('x'), { lockFolder: locks })).toMatchObject({ kind: 'written' });
    expect(await readFile(join(folder, '.ssh/authorized_keys'), 'utf8')).toBe('mine');
    expect([await readdir(locks), await modeOf(locks)]).toEqual([[], '700']);
  });
});

describe('a file that must stay within a folder', () => {
  const links: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'is itself a link': { '.mcp.toml': '../home/mcp.toml' },
    'is a link that leads nowhere yet': { '.mcp.toml': '../home/new/mcp.toml' },
    'is a link to a link': { '.mcp.toml': 'other.toml', 'other.toml': '../home/mcp.toml' },
    'leads through a linked folder': { '.mcp.toml': 'sub/mcp.toml', sub: '../home' },
    'leads through a linked folder to nothing yet': { '.mcp.toml': 'sub/new/mcp.toml', sub: '../home' },
    'leads through a folder that leads nowhere yet': { '.mcp.toml': 'sub/mcp.toml', sub: '../home/new' },
  };
  for (const [sentence, each] of Object.entries(links))
    verifies('EXT-19', `is refused when it ${sentence} and would leave it`, async () => {
      const folder = await createFolder({ 'home/mcp.toml': '# mine\n', 'repo/a': '' });
      const within = join(folder, 'repo');
      for (const [name, to] of Object.entries(each)) await symlink(to, join(within, name));
      const file = join(within, '.mcp.toml');
      const problem = expect.stringMatching(`its link leads out of ${within}, to ${await realpath(folder)}/home/`);
      await expect(edit(file, put('x'), { within })).rejects.toMatchObject({
        code: 'CONFIG_UNWRITABLE',
        data: { file, problem },
      });
      expect([await readFile(join(folder, 'home/mcp.toml'), 'utf8'), await readdir(join(folder, 'home'))]).toEqual([
        '# mine\n',
        ['mcp.toml'],
      ]);
    });

  verifies('EXT-19', 'is written where its links stay inside, however the folder is reached', async () => {
    const folder = await createFolder({ 'repo/real/mcp.toml': '' });
    await symlink('repo', join(folder, 'link'));
    await symlink('real/mcp.toml', join(folder, 'repo', '.mcp.toml'));
    const within = join(folder, 'link');
    expect(await edit(join(within, '.mcp.toml'), put('x'), { within })).toMatchObject({ kind: 'written' });
    expect(await edit(join(within, '..new.toml'), put('x'), { within })).toMatchObject({ kind: 'written' });
    expect(await readFile(join(folder, 'repo/real/mcp.toml'), 'utf8')).toContain('[mcp_servers.x]');
  });
});

describe('what cannot be edited is told, and stays as it is', () => {
  const texts: Readonly<Record<string, readonly [file: string, text: string, error: object]>> = {
    'JSON that is broken': [
      '.mcp.json',
      '{\n  "mcpServers": {,\n}',
      { code: 'CONFIG_INVALID', data: { line: 2, problem: expect.stringMatching(/^column 18: /) } },
    ],
    'TOML that is broken': [
      'mcp.toml',
      'a = 1\n[b\n',
      { code: 'CONFIG_INVALID', data: { line: 2, problem: expect.stringMatching(/^column \d: /) } },
    ],
    'no text': ['mcp.toml', 'a = 1\0', { code: 'CONFIG_INVALID' }],
    'a list': ['.mcp.json', '[]', { code: 'CONFIG_INVALID', data: { problem: 'it holds no map of settings' } }],
    'servers that are no map': [
      '.mcp.json',
      '{"mcpServers":"elsewhere.json"}',
      { code: 'CONFIG_INVALID', data: { problem: '"mcpServers" is neither a map nor a list of servers' } },
    ],
  };
  for (const [sentence, [name, text, error]] of Object.entries(texts))
    verifies('EXT-19', sentence, async () => {
      const folder = await createFolder({ [name]: text });
      const file = join(folder, name);
      await expect(edit(file, put('x'))).rejects.toMatchObject({ ...error });
      await expect(edit(file, put('x'))).rejects.toMatchObject({ data: { file } });
      expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual([text, [name]]);
    });

  verifies('EXT-19', 'a name that would be read as something else', async () => {
    const folder = await createFolder({ 'a.json': '{"mcp":{"a":{"command":"x"}}}' });
    await expect(edit(join(folder, 'a.json'), put('servers'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  test('a folder, a circle of links, and a file where a folder should be', async () => {
    const folder = await createFolder({ 'a.toml/b': '', file: '' });
    await symlink('two.toml', join(folder, 'one.toml'));
    await symlink('one.toml', join(folder, 'two.toml'));
    const outcomes = await Promise.all(
      ['a.toml', 'one.toml', 'file/mcp.toml'].map((name) =>
        edit(join(folder, name), put('x')).catch(({ code, data }) => [code, data.problem]),
      ),
    );
    expect(outcomes).toEqual([
      ['CONFIG_UNREADABLE', 'it is not a file'],
      ['CONFIG_UNWRITABLE', 'its links lead in a circle'],
      ['CONFIG_UNWRITABLE', 'a part of its path is not a folder'],
    ]);
  });

  test.skipIf(process.getuid?.() === 0)('a file or a folder that may not be written', async () => {
    const folder = await createFolder({ 'a.toml': '', 'closed/b.toml': '' });
    await chmod(join(folder, 'a.toml'), 0o444);
    await chmod(join(folder, 'closed'), 0o555);
    for (const name of ['a.toml', 'closed/b.toml'])
      await expect(edit(join(folder, name), put('x'))).rejects.toMatchObject({ code: 'CONFIG_UNWRITABLE' });
    await chmod(join(folder, 'closed'), 0o755);
  });

  test('a lock that cannot be had, and where it is', async () => {
    const folder = await createFolder({ 'mcp.toml': '', state: 'a file in the way' });
    await expect(edit(join(folder, 'mcp.toml'), put('x'), { lockFolder: join(folder, 'state') })).rejects.toMatchObject(
      { code: 'STORE_UNWRITABLE', data: { reason: 'it is not a folder' } },
    );
    expect(await readFile(join(folder, 'mcp.toml'), 'utf8')).toBe('');
  });

  test('a server that is not there is removed from nothing, and makes no file', async () => {
    const folder = await createFolder();
    expect(await edit(join(folder, 'a', 'mcp.toml'), { kind: 'remove', name: 'x' })).toEqual({ kind: 'absent' });
    expect(await readdir(folder)).toEqual([]);
  });
});
