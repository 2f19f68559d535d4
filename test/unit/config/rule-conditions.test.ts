// Owns the proof that a rule's conditions on arguments are kept as written, and that a condition that is not understood never
// makes a rule wider.

import { expect } from 'vitest';
import { verifies } from '../../verifies.ts';
import { loadFolder, USER } from './folder.ts';

const load = async (...lines: readonly string[]) => {
  const { rules, idleRules, diagnostics } = await loadFolder({
    [USER]: ['[[permissions.rules]]', ...lines].join('\n'),
  });
  return {
    rules: rules.map(({ tool, action, args }) => [tool, action, args]),
    idle: idleRules.map(({ tool, idle }) => [tool, idle]),
    misread: rules.flatMap(({ misread }) => misread ?? []),
    told: diagnostics.map(({ severity, message }) => `${severity}: ${message}`),
  };
};
const head = (action: string) => ['tool = "mcp__files__write"', `action = "${action}"`];

verifies('PER-02', 'conditions are taken as they are written, names of arguments to the letter', async () => {
  const lines = [
    'args.file_path = { under = "./out" }',
    'args.url = { host = ["*.example.com", "localhost:3000"] }',
    'args.Mode = "a"',
    'args.options.depth = [1, 2]',
    'args."options.host" = { is = true }',
  ];
  expect(await load(...head('allow'), ...lines)).toEqual({
    rules: [
      [
        'mcp__files__write',
        'allow',
        {
          file_path: { under: './out' },
          url: { host: ['*.example.com', 'localhost:3000'] },
          Mode: 'a',
          options: { depth: [1, 2] },
          'options.host': { is: true },
        },
      ],
    ],
    idle: [],
    misread: [],
    told: [],
  });
});

verifies('PER-02', 'a condition that cannot be read is told, with what becomes of the rule', async () => {
  const place = '"permissions.rules[0].args.path.under" must be a folder or a list of them';
  const allow = await load(...head('allow'), 'args.path = { under = 7 }');
  expect(allow.told).toEqual([expect.stringContaining(place)]);
  expect(allow.told[0]).toMatch(/but is a number, so the rule allows nothing$/);
  const deny = await load(...head('deny'), 'args.path = { under = 7 }');
  expect(deny.told[0]).toMatch(/but is a number, so the rule counts without it$/);
  const words = await load(...head('deny'), 'args.path = { inside = "x", under = "y" }');
  expect(words.told).toEqual([
    'error: "permissions.rules[0].args.path" must be a map with nothing but "under", "host", "is", "like" in it, but is a map, so the rule counts without it',
  ]);
  expect((await load(...head('allow'), 'args = ["path"]')).told[0]).toContain('must be a map from arguments');
});

verifies('PER-02', 'an allow with a key that nobody knows allows nothing; a deny counts without it', async () => {
  expect(await load(...head('allow'), 'arg.path = { under = "./out" }')).toEqual({
    rules: [],
    idle: [
      [
        'mcp__files__write',
        'allows nothing, because part of it is not understood: "arg" is not a setting of a rule and without effect',
      ],
    ],
    misread: [],
    told: [
      'warning: "arg" is not a setting of a rule and without effect',
      'warning: the rule for "mcp__files__write" allows nothing, because part of it is not understood',
    ],
  });
  const deny = await load(...head('deny'), 'arg.path = { under = "./out" }');
  expect(deny.rules).toEqual([['mcp__files__write', 'deny', undefined]]);
  expect(deny.misread).toEqual(['counts without part of it: "arg" is not a setting of a rule and without effect']);
  expect((await load(...head('dney'))).misread).toEqual(['counts as "ask", because part of it cannot be read']);
  // Remarks for people do not narrow a rule.
  const said = await load(...head('allow'), 'description = "reads only"', 'reason = "asked too often"');
  expect(said).toMatchObject({ rules: [['mcp__files__write', 'allow', undefined]], idle: [], misread: [], told: [] });
});
