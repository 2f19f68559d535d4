// Owns the proof that a project's files count in its subfolders: for the library and for the command line.

import { mkdirSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { faulty } from '../servers/faulty.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { start, statusOf, textOf } from './runtimes.ts';

function createRepository(): Sandbox {
  const box = new Sandbox();
  onTestFinished(() => box.remove());
  for (const folder of ['.git', 'sub/deep', 'home']) mkdirSync(box.path(folder), { recursive: true });
  return box;
}

verifies(
  'CFG-02',
  'from a subfolder the project’s servers run in its folder, with its lock, and are edited there',
  async () => {
    const box = createRepository();
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
    const entry = { ...faulty(), env: { HERE: '${workspaceFolder}' } };
    box.write('.mcp.json', { mcpServers: { theirs: entry } });
    const below = async (...args: readonly string[]) => box.run(args, { cwd: 'sub/deep' });
    expect((await below('approve', 'theirs')).out).toContain('"theirs" is approved');
    const why = await below('config', 'why', 'theirs');
    expect(why.out).toContain(
      `The workspace is ${box.workspace}, the nearest folder above ${box.path('sub/deep')} with a file of the project.`,
    );
    const called = await below('call', 'theirs', 'env', '--yes', '--json');
    expect(called.out).toContain(box.workspace);
    expect(called.out).not.toContain(`${box.path('sub/deep')}"`);

    await below('lock');
    const locked = await box.run(['lock', '--check'], { cwd: 'sub' });
    expect([locked.code, (await box.plexus('lock', '--check')).code]).toEqual([0, 0]);
    const added = JSON.parse((await below('add', 'more', '--json', '--scope', 'project', '--', 'x')).out);
    expect(added.file).toBe(box.path('.mcp.json'));
    expect((await box.plexus('config', 'why', 'theirs')).out).not.toContain('The workspace is');
  },
);

verifies(
  'CFG-02',
  'a runtime that is started in a subfolder has the project’s servers, and its own file alone',
  async () => {
    const box = createRepository();
    box.write('.mcp.json', { mcpServers: { outer: { url: 'https://outer.example', enabled: false } } });
    const options = (cwd: string) => ({ discover: true, watch: false, home: box.home, cwd: box.path(cwd) });
    const below = await start(box.workspace, { ...options('sub/deep'), servers: { mine: faulty() } });
    expect(statusOf(below, 'outer').source).toBe(box.path('.mcp.json'));
    expect(textOf(await below.turn().call('mcp__mine__echo', { text: 'x' }))).toBe('x');

    box.write('sub/.mcp.json', { mcpServers: { inner: { url: 'https://inner.example', enabled: false } } });
    const nearer = await start(box.workspace, options('sub/deep'));
    expect(nearer.status().map(({ name }) => name)).toEqual(['inner']);
    const alone = await start(box.workspace, { ...options('sub/deep'), discover: false });
    expect(alone.status()).toEqual([]);
  },
);
