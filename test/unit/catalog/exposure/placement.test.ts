// Owns the proof that of all settings on how a model reaches a tool the most specific one counts.

import { expect, test } from 'vitest';
import {
  claimsToBeLoaded,
  createPlacement,
  honouredClaims,
  type PlacementDeps,
} from '../../../../src/catalog/exposure/placement.ts';
import { verifies } from '../../../verifies.ts';
import { toolsOf } from './tools.ts';

type Settings = NonNullable<ReturnType<PlacementDeps['settingsOf']>>;

function placementOf(settings: Partial<Settings> | undefined, isAlwaysLoaded = false): string {
  const [tool] = toolsOf({ files: ['read_file'] });
  if (tool === undefined) throw new Error('no tool');
  const settingsOf = () => (settings === undefined ? undefined : { alwaysLoad: false, ...settings });
  return createPlacement({ isAlwaysLoaded: () => isAlwaysLoaded, settingsOf })(tool);
}

const cases: Record<string, [settings: Partial<Settings> | undefined, isAlwaysLoaded: boolean, placement: string]> = {
  'nobody says anything': [{}, false, 'auto'],
  'its server is not configured any more': [undefined, false, 'auto'],
  'its server says load': [{ exposure: 'load' }, false, 'load'],
  'its server says defer': [{ exposure: 'defer' }, false, 'defer'],
  'its server says use_tool': [{ exposure: 'use_tool' }, false, 'use_tool'],
  'its server is always loaded': [{ alwaysLoad: true }, false, 'load'],
  'its server is deferred and always loaded': [{ exposure: 'defer', alwaysLoad: true }, false, 'load'],
  'the list for all names it': [{ exposure: 'use_tool' }, true, 'load'],
  'its own entry says otherwise': [{ exposure: 'load', tools: { read_file: { exposure: 'defer' } } }, false, 'defer'],
  'its own entry says defer of an always loaded server': [
    { alwaysLoad: true, tools: { read_file: { exposure: 'defer' } } },
    false,
    'defer',
  ],
  'its own entry is always loaded': [{ exposure: 'defer', tools: { read_file: { alwaysLoad: true } } }, false, 'load'],
  'its own entry is not always loaded': [
    { alwaysLoad: true, tools: { read_file: { alwaysLoad: false } } },
    false,
    'auto',
  ],
  'a pattern fits it': [{ tools: { 'read_*': { exposure: 'use_tool' } } }, false, 'use_tool'],
  'two patterns fit it, the closer counts': [
    { tools: { '*': { exposure: 'load' }, 'read_*': { exposure: 'defer' } } },
    false,
    'defer',
  ],
  'its name counts more than a pattern': [
    { tools: { 'read_fil*': { exposure: 'load' }, read_file: { exposure: 'defer' } } },
    false,
    'defer',
  ],
  'its own entry says nothing of it, and a pattern does': [
    { tools: { '*': { exposure: 'defer' }, read_file: { enabled: true } } },
    false,
    'defer',
  ],
  'its own entry says defer, and a pattern always loads': [
    { tools: { 'read_*': { alwaysLoad: true }, read_file: { exposure: 'defer' } } },
    false,
    'defer',
  ],
  'its own entry takes back what a pattern always loads': [
    { exposure: 'defer', tools: { 'read_*': { alwaysLoad: true }, read_file: { alwaysLoad: false } } },
    false,
    'defer',
  ],
  'only other tools have an entry': [{ exposure: 'defer', tools: { write: { exposure: 'load' } } }, false, 'defer'],
};

for (const [what, [settings, isAlwaysLoaded, placement]] of Object.entries(cases)) {
  verifies('SRC-07', `when ${what}, a tool is placed as ${placement}`, () => {
    expect(placementOf(settings, isAlwaysLoaded)).toBe(placement);
  });
}

test('the settings are asked once for each tool', () => {
  const [tool] = toolsOf({ files: ['read'] });
  if (tool === undefined) throw new Error('no tool');
  let asked = 0;
  const placement = createPlacement({
    isAlwaysLoaded: () => false,
    settingsOf: () => {
      asked++;
      return { alwaysLoad: false };
    },
  });
  placement(tool);
  placement(tool);
  expect(asked).toBe(1);
});

verifies('SRC-07', "a server's wish to have a tool loaded counts only where its hints are trusted", () => {
  const [wishing, plain] = toolsOf({ files: [{ name: 'a', _meta: { alwaysLoad: true } }, { name: 'b' }] });
  if (!wishing || !plain) throw new Error('no tools');
  const heard = (trustHints?: boolean) => {
    const isClaimed = honouredClaims(() => (trustHints === undefined ? undefined : { trustHints }));
    return [wishing, plain].map(isClaimed);
  };
  expect([heard(true), heard(false), heard()]).toEqual([
    [true, false],
    [false, false],
    [false, false],
  ]);
  const cached = { ...wishing, freshness: 'cached' as const };
  expect(honouredClaims(() => ({ trustHints: true }))(cached), 'the same from memory').toBe(true);
});

test('a wish to be loaded is true, and nothing that only looks like it', () => {
  const wish = (_meta: unknown) => claimsToBeLoaded({ name: 'a', inputSchema: {}, _meta });
  expect(
    [{ alwaysLoad: true }, { 'vendor/alwaysLoad': true }, { 'com.example/alwaysLoad': true, other: 1 }].map(wish),
  ).toEqual([true, true, true]);
  const others = [
    undefined,
    null,
    'alwaysLoad',
    [],
    { alwaysLoad: 'true' },
    { alwaysLoad: 1 },
    { neveralwaysLoad: true },
  ];
  expect(others.map(wish)).toEqual(others.map(() => false));
});
