// Owns bringing a clone into working order: installs and builds, each only when it has to be. Needs nothing but Node and npm.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const stamps = join(root, 'node_modules', '.plexus');

export function setUp() {
  once('install', ['package-lock.json'], 'installing packages', () => {
    const { command, args, options } = npmCommand('ci', '--no-audit', '--no-fund', '--loglevel=error');
    run(command, args, options);
  });
  once(
    'build',
    ['src', 'package.json', 'tsdown.config.ts', 'tsconfig.json', 'scripts/third-party-licenses.mjs'],
    'building',
    () => run(process.execPath, [bin('tsdown', 'dist/run.mjs'), '--logLevel', 'warn']),
  );
}

/** The program of a package in node_modules, for this very Node. */
export function bin(name, file) {
  return join(root, 'node_modules', name, file);
}

/** Runs to the end with our own output; a failure ends us with its code. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** npm tells its scripts where it is; by hand it is looked for on the path. */
export function npmCommand(...args) {
  const itself = process.env['npm_execpath'];
  if (itself) return { command: process.execPath, args: [itself, ...args], options: quietOutput };
  return { command: 'npm', args, options: { ...quietOutput, shell: process.platform === 'win32' } };
}

/** Standard output belongs to the program that was asked for. */
const quietOutput = { stdio: ['ignore', process.stderr.fd, 'inherit'] };

/** A step is done again when what it depends on has changed since it was last done. */
function once(step, inputs, doing, perform) {
  const present = inputs.map(hashOf).join();
  const stamp = join(stamps, step);
  const outcome = step === 'install' ? 'node_modules' : 'dist';
  if (existsSync(join(root, outcome)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === present) return;
  console.error(`${doing} …`);
  perform();
  mkdirSync(stamps, { recursive: true });
  writeFileSync(stamp, present);
}

function hashOf(path) {
  const hash = createHash('sha256');
  const visit = (each) => {
    if (statSync(each).isDirectory()) for (const entry of readdirSync(each).sort()) visit(join(each, entry));
    else hash.update(each.slice(root.length)).update(readFileSync(each));
  };
  visit(join(root, path));
  return hash.digest('hex');
}
