// Owns the proof of what CI believes: a failed test of real processes gets one more run of its file, and everything else fails.

import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { afterSecondRun, filesToRunAgain, readTestReport } from '../../../scripts/test-report.mjs';
import { temporaryFile } from '../../servers/processes.ts';

const failedIn = (...failures: string[]) => ({ passed: 10, failed: failures.length, failures });
const ofProcesses = 'test/e2e/remote.test.ts > the beginning > is one question';

/** As Vitest writes it of one file. */
function report(file: string, statuses: readonly string[], message = ''): string {
  const of = (status: string) => statuses.filter((each) => each === status).length;
  const assertionResults = statuses.map((status, at) => ({ ancestorTitles: ['', 'a group'], title: `${at}`, status }));
  const found = { assertionResults, status: 'failed', message, name: resolve(file) };
  const counts = { numPassedTests: of('passed'), numFailedTests: of('failed'), numTotalTests: statuses.length };
  const path = temporaryFile('report.json');
  writeFileSync(path, JSON.stringify({ ...counts, success: false, testResults: [found] }));
  return path;
}

describe('the report of a run', () => {
  const file = 'test/e2e/gateway-clients.test.ts';

  test('names each test that failed', () => {
    const read = readTestReport(report(file, ['passed', 'failed']));
    expect(read).toEqual({ passed: 1, failed: 1, failures: [`${file} > a group > 1`] });
  });

  test('takes a hook that failed for a test of its file, which runs once more', () => {
    for (const statuses of [['skipped', 'skipped'], ['passed']]) {
      const read = readTestReport(report(file, statuses));
      expect([read.failed, filesToRunAgain(read)]).toEqual([1, [file]]);
    }
  });

  test('takes a file without tests for one that does not load, which does not run once more', () => {
    const read = readTestReport(report(file, [], 'SyntaxError: unexpected token\n at …'));
    expect(read).toEqual({ passed: 0, failed: 1, failures: [`${file}: SyntaxError: unexpected token`] });
    expect(filesToRunAgain(read)).toEqual([]);
  });
});

test('a run that ended with an error beside its tests failed, although every test passed', () => {
  const path = temporaryFile('report.json');
  const counts = { numPassedTests: 2, numFailedTests: 0, numTotalTests: 2, success: true };
  writeFileSync(path, JSON.stringify({ ...counts, testResults: [] }));
  expect(readTestReport(path, 0)).toEqual({ passed: 2, failed: 0, failures: [] });
  const failed = readTestReport(path, 1);
  expect(failed).toMatchObject({ passed: 2, failed: 1 });
  expect(filesToRunAgain(failed)).toEqual([]);
});

describe('the second run of CI', () => {
  test('is of the files with real processes, at most two failures, each file once', () => {
    expect(filesToRunAgain(failedIn(ofProcesses))).toEqual(['test/e2e/remote.test.ts']);
    expect(filesToRunAgain(failedIn(ofProcesses, 'test/e2e/remote.test.ts > another'))).toHaveLength(1);
    const third = 'test/faults/http.test.ts > one more';
    expect(filesToRunAgain(failedIn(ofProcesses, 'test/faults/ws.test.ts > another', third))).toEqual([]);
  });

  test('is never of a test without processes, a file that does not load, or an error beside the tests', () => {
    for (const failure of [
      'test/unit/kernel/clock.test.ts > the fake clock > moves',
      'test/e2e/remote.test.ts: SyntaxError: unexpected token',
      'the run of the tests: every test passed, and an error beside them did not',
      'the tests left no report: no such file',
    ]) {
      expect(filesToRunAgain(failedIn(failure)), failure).toEqual([]);
      expect(filesToRunAgain(failedIn(ofProcesses, failure)), failure).toEqual([]);
    }
  });

  test('names what passed in it as unstable, and fails where anything failed again or nothing ran', () => {
    const first = failedIn(ofProcesses);
    const passed = { passed: 49, failed: 0, failures: [] };
    expect(afterSecondRun(first, passed)).toEqual({ passed: 11, failed: 0, failures: [], unstable: [ofProcesses] });
    expect(afterSecondRun(first, failedIn('test/e2e/remote.test.ts > another'))).toBe(first);
    expect(afterSecondRun(first, { passed: 0, failed: 1, failures: ['the tests left no report: …'] })).toBe(first);
    expect(afterSecondRun(first, { passed: 0, failed: 0, failures: [] })).toBe(first);
  });
});
