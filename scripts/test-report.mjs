// Owns reading the report of a test run: how many passed and failed, the full name of each that failed, and which of
// these run again.

import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from './setup.mjs';

/**
 * A missing report means that the run itself failed; a test file that could not be loaded counts as a failure too. An error beside the
 * tests is in no report: Vitest tells of it by `status`, its exit code.
 */
export function readTestReport(file, status = 0) {
  try {
    const { numPassedTests, numFailedTests, success, numTotalTests, testResults } = JSON.parse(
      readFileSync(file, 'utf8'),
    );
    const failures = testResults.flatMap(failuresIn);
    if (failures.length === 0 && !(success && numTotalTests > 0 && status === 0)) failures.push(RUN_FAILED);
    return { passed: numPassedTests, failed: Math.max(numFailedTests, failures.length), failures };
  } catch (error) {
    return { passed: 0, failed: 1, failures: [`the tests left no report: ${error.message}`] };
  }
}

const MOST_RUN_AGAIN = 2;
const STARTS_PROCESSES = /^(test\/(?:e2e|faults|frameworks|inspector)\/[^ ]+\.test\.ts) > /;

/**
 * Files whose tests start real processes, where the machine can have delayed one of them. Two failures at most: more of them are
 * no accident. Any other test has its time and its chance in its own hand, and is believed at once.
 */
export function filesToRunAgain({ failed, failures }) {
  const files = failures.map((failure) => STARTS_PROCESSES.exec(failure)?.[1]);
  return failed > MOST_RUN_AGAIN || files.includes(undefined) ? [] : [...new Set(files)];
}

/** A test that failed counts as unstable, and as passed, only if every test of the second run passed. */
export function afterSecondRun(first, second) {
  if (second.failed > 0 || second.passed === 0) return first;
  return { passed: first.passed + first.failed, failed: 0, failures: [], unstable: first.failures };
}

const A_HOOK = 'a hook beside its tests';
const RUN_FAILED = 'the run of the tests: every test passed, and an error beside them did not';

function failuresIn({ name, status, message, assertionResults }) {
  const file = relative(root, name);
  const tests = assertionResults.filter((test) => test.status === 'failed');
  if (tests.length > 0)
    return tests.map(({ ancestorTitles, title }) => [file, ...ancestorTitles, title].filter(Boolean).join(' > '));
  if (status !== 'failed') return [];
  // A file that was loaded has tests. They were left out, or had passed, when a hook failed.
  return [assertionResults.length > 0 ? `${file} > ${A_HOOK}` : `${file}: ${message.split('\n')[0]}`];
}
