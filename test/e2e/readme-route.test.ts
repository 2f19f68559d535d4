// Owns the proof that the README's way to add the library to a project installs a copy. Linked, npx would find the packages that Plexus
// is developed with in the tree of the project, and not their programs.

import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Sandbox } from './plexus.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

let box: Sandbox;
beforeEach(() => {
  box = new Sandbox();
});
afterEach(() => box.remove());

function npm(cwd: string, ...words: readonly string[]): string {
  const env = { PATH: process.env['PATH'] ?? '', HOME: box.home, npm_config_update_notifier: 'false' };
  const { status, stdout, stderr } = spawnSync('npm', words, {
    ...{ cwd, env, encoding: 'utf8', shell: process.platform === 'win32' },
  });
  expect(status, stderr).toBe(0);
  return stdout;
}

test('the README packs the clone, and npm finds none of its development packages in the project', () => {
  const { version, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  expect(readme).toContain('run `npm pack` in the clone');
  expect(readme).toContain(`npm install <path of the clone>/plexus-${version}.tgz`);
  npm(root, 'pack', '--ignore-scripts', '--pack-destination', box.folder);
  box.write('package.json', { name: 'mine', version: '1.0.0', type: 'module' });
  npm(box.workspace, 'install', '--offline', '--no-audit', '--no-fund', join(box.folder, `plexus-${version}.tgz`));
  expect(lstatSync(box.path('node_modules/plexus')).isSymbolicLink()).toBe(false);
  const listed = npm(box.workspace, 'ls', '--all', '--json');
  for (const name of Object.keys(devDependencies)) expect(listed, name).not.toContain(`"${name}"`);
  const imported = "import('plexus').then(({ createRuntime }) => console.log(typeof createRuntime))";
  const { stdout } = spawnSync(process.execPath, ['-e', imported], { cwd: box.workspace, encoding: 'utf8' });
  expect(stdout).toBe('function\n');
});
