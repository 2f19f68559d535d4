// Owns what CI runs: `npm test` with everything that takes long, every static check, the conformance suite, the data benches
// and the short form of the bench, counted together. The last line is `N passed, N failed`.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runConformance } from '../test/conformance/suite.mjs';
import { runChecks } from './checks.mjs';
import { root, setUp } from './setup.mjs';

const folder = mkdtempSync(join(tmpdir(), 'plexus-ci-'));
const report = join(folder, 'tests.json');
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
spawnSync('npm', ['test', '--', ...reporters], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, PLEXUS_LONG: '1' },
});
const tests = countTests();
rmSync(folder, { recursive: true, force: true });

setUp();
// The conformance suite waits for its servers most of the time.
const [checks, scenarios] = await Promise.all([runChecks(), countScenarios()]);
const figures = [...['search', 'signals', 'redact', 'prompt-cost'].map(runDataBench), runShortBench()];
const parts = [tests, checks, scenarios, ...figures];
const count = (kind) => parts.reduce((sum, part) => sum + part[kind], 0);
console.log(`${count('passed')} passed, ${count('failed')} failed`);
process.exitCode = count('failed') === 0 ? 0 : 1;

/** A missing report means that the run itself failed; a test file that could not be loaded counts as a failure too. */
function countTests() {
  try {
    const { numPassedTests, numFailedTests, success, numTotalTests } = JSON.parse(readFileSync(report, 'utf8'));
    const broken = success && numTotalTests > 0 ? 0 : 1;
    return { passed: numPassedTests, failed: Math.max(numFailedTests, broken) };
  } catch (error) {
    console.error(`the tests left no report: ${error.message}`);
    return { passed: 0, failed: 1 };
  }
}

/** A bench without its data says so and passes. */
function runDataBench(name) {
  return runNode(`bench/${name}.mjs`);
}

/** After everything else, since it measures time. */
function runShortBench() {
  return runNode('scripts/bench.mjs', '--short');
}

function runNode(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  return status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** A suite that could not be run counts as a failure in CI. */
async function countScenarios() {
  try {
    return await runConformance();
  } catch (error) {
    console.error(`the conformance suite was not run: ${error.message}`);
    return { passed: 0, failed: 1 };
  }
}
