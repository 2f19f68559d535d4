// Owns the setup of a clone: installs and builds, each only when needed. Requires nothing but Node and npm.

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
    [
      'src',
      'data',
      'schema.json',
      'package.json',
      'tsdown.config.ts',
      'tsconfig.json',
      'scripts/third-party-licenses.mjs',
      'scripts/builtin-modules.mjs',
    ],
    'building',
    () => runQuietly(process.execPath, [bin('tsdown', 'dist/run.mjs'), '--logLevel', 'warn']),
  );
}

/** The path of a package's program in node_modules, to be run with the current Node. */
export function bin(name, file) {
  return join(root, 'node_modules', name, file);
}

/** Runs a command to its end with inherited output; a failure exits this process with the same code. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** The same for a step whose remarks only a developer wants (`npm run build` shows them): its output is printed if it fails. */
function runQuietly(command, args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (error) throw error;
  if (status === 0) return;
  process.stderr.write(stdout + stderr);
  process.exit(status ?? 1);
}

/** Scripts that npm runs find it in `npm_execpath`; otherwise npm is looked up on the `PATH`. */
export function npmCommand(...args) {
  const itself = process.env['npm_execpath'];
  if (itself) return { command: process.execPath, args: [itself, ...args], options: quietOutput };
  return { command: 'npm', args, options: { ...quietOutput, shell: process.platform === 'win32' } };
}

/** Sends npm's output to stderr: stdout belongs to the program that the user runs. */
const quietOutput = { stdio: ['ignore', process.stderr.fd, 'inherit'] };

/** Repeats a step only when its inputs have changed since it last ran. */
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
