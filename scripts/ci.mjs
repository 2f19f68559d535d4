// Owns what CI runs: `npm test` with everything that takes long, every static check, the conformance suite, the data benches
// and the short form of the bench, counted together. The last line is `N passed, N failed`, and before it stands what failed.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runConformance } from '../test/conformance/suite.mjs';
import { runChecks } from './checks.mjs';
import { root, setUp } from './setup.mjs';
import { afterSecondRun, filesToRunAgain, readTestReport } from './test-report.mjs';

const env = { PLEXUS_SEED: seedOfTree(), ...process.env, PLEXUS_LONG: '1' };
const firstRun = runTests();
const again = filesToRunAgain(firstRun);
const tests = again.length > 0 ? afterSecondRun(firstRun, runTests(...again)) : firstRun;

setUp();
// The conformance suite waits for its servers most of the time.
const parts = [tests, ...(await Promise.all([runChecks(), countScenarios()]))];
// A bench without its data says so and passes. The one that measures time comes after everything else.
for (const name of ['search', 'signals', 'redact', 'prompt-cost']) parts.push(await runNode(`bench/${name}.mjs`));
parts.push(await runNode('scripts/bench.mjs', '--short'));
const count = (kind) => parts.reduce((sum, part) => sum + part[kind], 0);
for (const name of tests.unstable ?? [])
  console.log(`UNSTABLE ${name}: failed at first, and passed in a run of its file`);
// Repeated at the end, because often no more than the end of the output is kept.
for (const failure of parts.flatMap(({ failures }) => failures)) console.log(`FAILED ${failure}`);
console.log(`${count('passed')} passed, ${count('failed')} failed`);
process.exitCode = count('failed') === 0 ? 0 : 1;

function runTests(...files) {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-ci-'));
  const report = join(folder, 'tests.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const stdio = ['ignore', 'inherit', 'inherit'];
  const { status } = spawnSync('npm', ['test', '--', ...files, ...reporters], { cwd: root, stdio, env });
  const found = readTestReport(report, status);
  rmSync(folder, { recursive: true, force: true });
  return found;
}

/** Property tests draw by the content of the commit: the same files get the same verdict, and each change is tried with new values. */
function seedOfTree() {
  const tree = spawnSync('git', ['rev-parse', 'HEAD^{tree}'], { cwd: root, encoding: 'utf8' });
  return tree.status === 0 ? String(Number.parseInt(tree.stdout.slice(0, 6), 16)) : '1';
}

/** A bench that failed has said of which rows, each in a line of its own. */
async function runNode(...args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    process.stdout.write(chunk);
    output += chunk;
  }
  const [status] = await closed;
  if (status === 0) return { passed: 1, failed: 0, failures: [] };
  const rows = [...output.matchAll(/^(?:FAILED|MISSED) (.*)$/gm)].map(([, row]) => row);
  const failures = rows.length > 0 ? rows : [`it ended with ${status}`];
  return { passed: 0, failed: 1, failures: failures.map((failure) => `${args.join(' ')}: ${failure}`) };
}

/** A suite that could not be run counts as a failure in CI. */
async function countScenarios() {
  try {
    return await runConformance();
  } catch (error) {
    return { passed: 0, failed: 1, failures: [`the conformance suite was not run: ${error.message}`] };
  }
}
