// Owns the proof of the sentence that ends `plexus config check`.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkConfig } from '../../../src/cli/config-check.ts';
import { plain } from '../../../src/cli/render/text.ts';
import { createTestContext } from './context.ts';

test.each<[string, number, RegExp]>([
  ['', 0, /\nNo errors in .*a\.toml: 0 servers, 1 warning\.$/],
  ['[mcp_servers.one]\ncommand = "x"\n', 0, /^No errors in .*a\.toml: 1 server\.$/],
  ['[mcp_servers.one]\ncolour = 1\n[mcp_servers.two]\n', 1, /\n\n2 errors, 1 warning in .*a\.toml\.$/],
])('%j', async (text, exitCode, end) => {
  const { context } = createTestContext({ positionals: ['check', 'a.toml'] });
  writeFileSync(join(context.cwd, 'a.toml'), text);
  const result = await checkConfig(context);
  expect([result.exitCode, result.text(plain)]).toEqual([exitCode, expect.stringMatching(end)]);
});
