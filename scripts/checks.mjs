// Owns the list of static checks, which `npm run check` and `.ci/run` share.

import { spawnSync } from 'node:child_process';
import { bin, root } from './setup.mjs';

const checks = {
  types: [bin('typescript', 'bin/tsc'), '--noEmit', '-p', '.'],
  lint: [bin('@biomejs/biome', 'bin/biome'), 'ci', '--error-on-warnings', '.'],
  'unused code': [bin('knip', 'bin/knip.js')],
  'package shape': [bin('publint', 'src/cli.js'), '--strict', '.'],
  'types as others see them': [bin('@arethetypeswrong/cli', 'dist/index.js'), '--pack', '.', '--profile', 'esm-only'],
};

/** Runs all checks even if one fails; prints each by name, and returns how many passed and failed. */
export function runChecks() {
  const counts = { passed: 0, failed: 0 };
  for (const [name, args] of Object.entries(checks)) {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    const ok = status === 0;
    counts[ok ? 'passed' : 'failed'] += 1;
    console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}`);
    if (!ok) console.log(`${stdout}\n${stderr}`);
  }
  return counts;
}
