// Owns the proof of what approvals mean for a loaded configuration: who is unapproved, what counts of it, and how many are connected.

import { expect } from 'vitest';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Launch, ServerDefinition } from '../../../src/model/server.ts';
import { approvedBy, judgeConfig, withCap } from '../../../src/servers/judge-config.ts';
import type { Judgement } from '../../../src/trust/gate.ts';
import { verifies } from '../../verifies.ts';
import { defined, remote, stdio } from '../trust/definition.ts';
import { configOf } from './registry.ts';

const named = (name: string, launch: Launch, scope?: 'user'): ServerDefinition => ({
  ...defined(launch, scope),
  name,
});

/** Judges by the beginning of the name. */
const gate = {
  judge: async ({ name }: ServerDefinition): Promise<Judgement> => {
    if (name.startsWith('endless')) throw new RuntimeError('CONFIG_INVALID', { problem: 'it has no end' });
    if (name.startsWith('approved')) return { kind: 'approved', grants: [] };
    return name.startsWith('local') ? { kind: 'asks', changes: [], identity: {} } : { kind: 'restricted' };
  },
};

verifies('TRU-02', 'remote servers of the workspace are unapproved unless their approval is stored', async () => {
  const definitions = [
    named('approved', remote),
    named('endless', remote),
    named('local', remote),
    named('mine', remote, 'user'),
    named('process', stdio),
    named('theirs', remote),
  ];
  const { unapproved, overCap } = await judgeConfig(configOf({ definitions }), gate);
  expect([...unapproved]).toEqual([
    ['endless', 'asks'],
    ['local', 'asks'],
    ['theirs', 'restricted'],
  ]);
  expect(overCap.size).toBe(0);
  const claims = definitions.map((definition) => ({ ...definition, written: {}, definition }));
  expect(await Promise.all(claims.map((claim) => approvedBy(gate)(claim as never)))).toEqual(
    definitions.map(({ name }) => name === 'approved'),
  );
});

verifies('TRU-02', 'those over the cap are not used; approved, local and disabled ones do not count', async () => {
  const names = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${100 + at}`);
  const off = (definition: ServerDefinition) => ({
    ...definition,
    settings: { ...definition.settings, enabled: false },
  });
  const others = [...names('approved', 40), ...names('local', 40)].map((name) => named(name, remote));
  const disabled = names('off', 40).map((name) => off(named(name, remote)));
  const within = names('s', limits.unapprovedServers).map((name) => named(name, remote));
  const refused = new Map([['s100', 'a list denies it']]);
  const judged = async (more: readonly ServerDefinition[]) =>
    withCap(await judgeConfig(configOf({ definitions: [...others, ...disabled, ...within, ...more], refused }), gate));
  const full = await judged([named('t100', remote)]);
  expect([full.overCap.size, full.refused, full.diagnostics]).toEqual([0, refused, []]);
  const over = await judged(['t100', 't101', 't102'].map((name) => named(name, remote)));
  expect([...over.overCap]).toEqual(['t101', 't102']);
  expect(over.refused.get('t102')).toContain('approve it with: plexus approve t102');
  expect(over.diagnostics).toMatchObject([{ message: expect.stringContaining('2 more remote servers') }]);
});
