// Owns writing what is generated from the schema: docs/settings.md and schema.json. The tests that check them also write them.

import { bin, run, setUp } from './setup.mjs';

setUp();
const tests = ['settings-doc', 'json-schema'].map((name) => `test/unit/config/${name}.test.ts`);
run(process.execPath, [bin('vitest', 'vitest.mjs'), 'run', ...tests], {
  env: { ...process.env, UPDATE_DOCS: '1' },
});
