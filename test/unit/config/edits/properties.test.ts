// Owns the proof, on generated files, that an edit changes what it should and not one character besides.

import fc from 'fast-check';
import { parse as parseWithComments } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect } from 'vitest';
import { runs } from '../../../effort.ts';
import { verifies } from '../../../verifies.ts';
import { jsonFile, newName, tomlFile } from './files.ts';
import { edit } from './texts.ts';

const entry = { command: 'new "one"', args: ['-y', 'é\n'], env: { 'A.B': '{V}' }, tool_timeout_sec: 2 };
const inJson = { command: entry.command, args: entry.args, env: entry.env, toolTimeoutSec: 2 };

const dialects = {
  'mcp.toml': { files: tomlFile, parse: (text: string): unknown => parseToml(text), written: entry },
  '.mcp.json': {
    files: jsonFile,
    parse: (text: string): unknown => parseWithComments(text, [], { allowTrailingComma: true }),
    written: inJson,
  },
};

/** The parsers return maps with and without a prototype. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

const isSubsequence = (part: string, whole: string) => {
  let at = 0;
  for (const character of part) {
    at = whole.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
};

for (const [name, { files, parse, written }] of Object.entries(dialects)) {
  describe(name, () => {
    verifies('EXT-19', 'a new server is added to the others, and taken away again without a trace', async () => {
      await fc.assert(
        fc.asyncProperty(files, newName, async ({ text, read, servers }, added) => {
          fc.pre(!Object.hasOwn(servers, added));
          const put = await edit(name, text, ['put', added, entry]);
          expect(plain(read(parse(put)))).toEqual(plain({ ...servers, [added]: written }));
          expect(isSubsequence(text, put)).toBe(true);
          expect(await edit(name, put, ['remove', added])).toBe(text);
        }),
        { numRuns: runs(150) },
      );
    });

    verifies('EXT-19', 'a server that is removed takes nothing of the others along', async () => {
      await fc.assert(
        fc.asyncProperty(files, fc.nat(), async ({ text, read, servers, remarks }, at) => {
          const names = Object.keys(servers);
          const gone = names[at % names.length] ?? '';
          const { [gone]: _, ...others } = servers;
          const removed = await edit(name, text, ['remove', gone]);
          expect(plain(read(parse(removed)))).toEqual(plain(others));
          expect(isSubsequence(removed, text)).toBe(true);
          for (const [owner, lines] of remarks)
            if (owner !== gone) for (const line of lines) expect(removed).toContain(line);
        }),
        { numRuns: runs(150) },
      );
    });

    verifies('EXT-19', 'a server that is replaced, disabled and enabled leaves the others as they are', async () => {
      await fc.assert(
        fc.asyncProperty(files, fc.nat(), async ({ text, read, servers, remarks }, at) => {
          const names = Object.keys(servers);
          const changed = names[at % names.length] ?? '';
          const replaced = await edit(name, text, ['put', changed, entry]);
          expect(plain(read(parse(replaced)))).toEqual(plain({ ...servers, [changed]: written }));
          const disabled = await edit(name, text, ['disable', changed]);
          expect(plain(read(parse(disabled)))).toEqual(
            plain({ ...servers, [changed]: { ...Object(servers[changed]), enabled: false } }),
          );
          const enabled = await edit(name, disabled, ['enable', changed]);
          expect(enabled.replace(/enabled(.{1,4})true/, 'enabled$1false')).toBe(disabled);
          for (const [owner, lines] of remarks)
            for (const line of lines) {
              expect(disabled).toContain(line);
              if (owner !== changed) expect(replaced).toContain(line);
            }
        }),
        { numRuns: runs(150) },
      );
    });
  });
}
