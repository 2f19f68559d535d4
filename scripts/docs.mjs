// Owns writing the generated pages: docs/settings.md, from the schema. The test that checks the page also writes it.

import { bin, run, setUp } from './setup.mjs';

setUp();
run(process.execPath, [bin('vitest', 'vitest.mjs'), 'run', 'test/unit/config/settings-doc.test.ts'], {
  env: { ...process.env, UPDATE_DOCS: '1' },
});
