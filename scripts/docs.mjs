// Owns writing the generated pages: docs/settings.md, from the schema. The test that checks the page also writes it.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const { status } = spawnSync('npx', ['vitest', 'run', 'test/unit/config/settings-doc.test.ts'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: { ...process.env, UPDATE_DOCS: '1' },
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
process.exitCode = status ?? 1;
