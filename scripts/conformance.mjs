// Owns `npm run conformance`: sets up, then runs the official suite's scenarios for clients and servers against the build.
// The last line is `N passed, N failed`. With `--if-available`, a suite that cannot be installed is no failure.
// A word is a pattern for the names of the scenarios to run. PLEXUS_DIST names another build's index.js to put to the test.

import { runConformance } from '../test/conformance/suite.mjs';
import { PackagesMissing } from './pinned-packages.mjs';
import { setUp } from './setup.mjs';

if (process.env['PLEXUS_DIST'] === undefined) setUp();
try {
  const pattern = process.argv.slice(2).find((word) => !word.startsWith('--'));
  const { passed, failed } = await runConformance(pattern);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof PackagesMissing)) throw error;
  console.error(`NOT RUN: ${error.message}`);
  process.exitCode = process.argv.includes('--if-available') ? 0 : 1;
}
