// Owns the proof that a person is shown what would run with folders and answers filled in, whose answers these are, and no secret.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about

import { expect, test } from 'vitest';
import { inputName } from '../../../src/config/inputs.ts';
import { previewLaunch } from '../../../src/config/preview.ts';
import type { InputRequest, Scope, StdioLaunch } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';
import { defined, remote, stdio } from '../trust/definition.ts';

const environment = { cwd: '/work', home: '/home/me', platform: 'linux', env: { TEAM: 'blue' } } as const;
const plain: InputRequest = { id: 'x', password: false, default: 'proposed' };

function preview(change: Partial<StdioLaunch>, given: Record<string, string> = {}, scope: Scope = 'project') {
  const definition = { ...defined({ ...stdio, ...change }, scope), inputs: [plain, { id: 'pin', password: true }] };
  const kept = new Map(Object.entries(given).map(([id, value]) => [inputName(definition.provenance, id), value]));
  return previewLaunch(definition, environment, { get: async (name) => kept.get(name) });
}

verifies('TRU-06', 'answers of the person are filled in, hidden ones as a word, and variables by name', async () => {
  const args = [
    '${workspaceFolder}/a',
    '${input:x}',
    '${input:pin}',
    '${TEAM}',
    '${TEAM:-red}',
    '${GONE:-red}',
    '${A}',
  ];
  const { filled, inputs } = await preview({ args, env: { A: '1-${input:x}' } }, { x: 'mine', pin: '1234' });
  expect(filled).toBe("A=1-mine node /work/a mine '(hidden)' '${TEAM}' '${TEAM}' red 1-mine");
  expect(inputs).toEqual([
    { id: 'x', by: 'you', default: 'proposed' },
    { id: 'pin', by: 'you' },
  ]);
});

verifies('TRU-06', 'the default of a repository fills nothing, that of the person’s own file does', async () => {
  const args = ['${input:x}'];
  expect(await preview({ args })).toMatchObject({
    filled: "node '${input:x}'",
    inputs: [{ by: 'nobody', default: 'proposed' }, { by: 'nobody' }],
  });
  expect(await preview({ args }, {}, 'user')).toMatchObject({
    filled: 'node proposed',
    inputs: [{ by: 'default' }, { by: 'nobody' }],
  });
});

test('an address is filled in as well, and an entry without inputs asks for no answer', async () => {
  const get = async () => 'unused';
  const definition = defined({ ...remote, url: 'https://${HOST:-a.example}/${workspaceFolderBasename}' });
  expect(await previewLaunch(definition, environment, { get })).toEqual({
    filled: 'https://a.example/work',
    inputs: [],
  });
});

verifies('TRU-06', 'a secret that the entry spells out is hidden', async () => {
  const { filled } = await preview({ args: ['--passphrase', 'correct-horse'] });
  expect(filled).toBe("node --passphrase '(hidden)'");
});
