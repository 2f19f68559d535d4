// Owns `npm run docs`: regenerates docs/settings.md, schema.json and src/config/checks.json from the schema, the arrows of
// docs/lifecycle.md from the state table, docs/api.md, events.md and errors.md from the sources, and the compiled signals from
// their rules. The tests that check these files also write them.

import { bin, run, setUp } from './setup.mjs';

setUp();
const tests = [
  'config/compile-schema',
  'config/settings-doc',
  'config/json-schema',
  'connection/lifecycle-doc',
  'docs/generated-pages',
  'shaping/signals/compiled',
].map((name) => `test/unit/${name}.test.ts`);
run(process.execPath, [bin('vitest', 'vitest.mjs'), 'run', ...tests], {
  env: { ...process.env, UPDATE_DOCS: '1' },
});
