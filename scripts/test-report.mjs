// Owns reading the report of a test run: how many passed and failed, and the full name of each that failed.

import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from './setup.mjs';

/** A missing report means that the run itself failed; a test file that could not be loaded counts as a failure too. */
export function readTestReport(file) {
  try {
    const { numPassedTests, numFailedTests, success, numTotalTests, testResults } = JSON.parse(
      readFileSync(file, 'utf8'),
    );
    const failures = testResults.flatMap(failuresIn);
    if (failures.length === 0 && !(success && numTotalTests > 0)) failures.push(RUN_FAILED);
    return { passed: numPassedTests, failed: Math.max(numFailedTests, failures.length), failures };
  } catch (error) {
    return { passed: 0, failed: 1, failures: [`the tests left no report: ${error.message}`] };
  }
}

const RUN_FAILED = 'the run of the tests: every test passed, and an error beside them did not';

function failuresIn({ name, status, message, assertionResults }) {
  const file = relative(root, name);
  const tests = assertionResults.filter((test) => test.status === 'failed');
  if (tests.length > 0)
    return tests.map(({ ancestorTitles, title }) => [file, ...ancestorTitles, title].filter(Boolean).join(' > '));
  return status === 'failed' ? [`${file}: ${message.split('\n')[0]}`] : [];
}
