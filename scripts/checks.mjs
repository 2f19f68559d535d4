// Owns the list of static checks, which `npm run check` and `.ci/run` share.

import { spawn } from 'node:child_process';
import { installFrameworks } from './frameworks.mjs';
import { PackagesMissing } from './pinned-packages.mjs';
import { bin, root } from './setup.mjs';

const frameworkTypes = 'types with the frameworks';
const checks = {
  types: [bin('typescript', 'bin/tsc'), '--noEmit', '-p', '.'],
  [frameworkTypes]: [bin('typescript', 'bin/tsc'), '--noEmit', '-p', 'test/frameworks'],
  lint: [bin('@biomejs/biome', 'bin/biome'), 'ci', '--error-on-warnings', '.'],
  'unused code': [bin('knip', 'bin/knip.js')],
  'package shape': [bin('publint', 'src/cli.js'), '--strict', '.'],
  'types as others see them': [bin('@arethetypeswrong/cli', 'dist/index.js'), '--pack', '.', '--profile', 'esm-only'],
};

/** Runs all checks even if one fails; prints each by name, and returns how many passed and failed, and which failed. */
export async function runChecks() {
  const counts = { passed: 0, failed: 0, failures: [] };
  const missing = missingFrameworks();
  for (const [name, args] of Object.entries(checks)) {
    if (name === frameworkTypes && missing !== undefined) {
      console.error(`NOT RUN ${name}: ${missing}`);
      continue;
    }
    const { ok, output } = await runCheck(args);
    counts[ok ? 'passed' : 'failed'] += 1;
    console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}`);
    if (ok) continue;
    counts.failures.push(`check: ${name}`);
    console.log(output);
  }
  return counts;
}

/** Why the frameworks could not be installed; `undefined` where they are there. */
function missingFrameworks() {
  try {
    installFrameworks();
    return undefined;
  } catch (error) {
    if (error instanceof PackagesMissing) return error.message;
    throw error;
  }
}

function runCheck(args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code) => resolve({ ok: code === 0, output }));
  });
}
