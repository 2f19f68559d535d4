// Owns the proof that an agent which has read what servers wrote is asked for before it does harm, and is told what made it so.

import { expect, test } from 'vitest';
import { type CautionSettings, cautionFor, remember } from '../../../src/call/caution.ts';
import { Taint } from '../../../src/call/taint.ts';
import type { ToolSettings } from '../../../src/model/server.ts';
import type { ToolAnnotations, ToolOutcome } from '../../../src/model/tool.ts';
import { answering, createPermitting, ruleText } from './permitting.ts';
import { callOf, endOf, outcomeOf, toolOf } from './stages.ts';

const page = toolOf('web', 'fetch');
const flagged: ToolOutcome = {
  ...outcomeOf(page, 'x'),
  signals: [
    { name: 'secrecy', at: 0, excerpt: 'x' },
    { name: 'overrides-instructions', at: 3, excerpt: 'y' },
    { name: 'secrecy', at: 9, excerpt: 'z' },
  ],
};

function because(
  settings: Partial<CautionSettings>,
  annotations: ToolAnnotations,
  { read = [outcomeOf(page)], own = {}, isReadOnly = false }: Partial<Circumstances> = {},
): string | undefined {
  const taint = new Taint();
  for (const outcome of read) taint.note(outcome);
  const tool = toolOf('mail', 'send', { annotations });
  const call = callOf(tool);
  return cautionFor(
    { ...call, caller: { ...call.caller, taint } },
    {
      settings: () => ({ taint: 'off', signals: 'log', ...settings }),
      toolSettings: () => own,
      present: ({ definition }) => definition,
      isReadOnly: () => isReadOnly,
    },
  );
}

interface Circumstances {
  readonly read: readonly ToolOutcome[];
  readonly own: ToolSettings;
  readonly isReadOnly: boolean;
}

const ask = { taint: 'ask' } as const;

test('nothing is asked by default, whatever was read', () => {
  expect(because({}, { destructiveHint: true }, { read: [flagged] })).toBeUndefined();
});

test('who has read nothing is not asked', () => {
  expect(because(ask, { destructiveHint: true }, { read: [] })).toBeUndefined();
});

test('only what destroys or reaches outside asks, and it says which output made it so', () => {
  expect(because(ask, {})).toBeUndefined();
  expect(because(ask, { readOnlyHint: true })).toBeUndefined();
  expect(because(ask, { destructiveHint: true })).toBe(
    'it may destroy something, and the agent has read the output of "fetch" of server "web"',
  );
  expect(because(ask, { openWorldHint: true })).toContain('it reaches outside');
});

test('a person’s word on a tool counts more than its own, unless it says that it destroys', () => {
  expect(because(ask, {}, { own: { outbound: true } })).toContain('it reaches outside');
  expect(because(ask, { openWorldHint: true }, { own: { outbound: false } })).toBeUndefined();
  expect(because(ask, { destructiveHint: true }, { own: { outbound: false } })).toContain('may destroy');
});

test('of all that was read, what looked like an order is named', () => {
  const read = [outcomeOf(toolOf('files', 'read')), flagged, outcomeOf(toolOf('files', 'read'))];
  expect(because(ask, { destructiveHint: true }, { read })).toBe(
    'it may destroy something, and the agent has read the output of "fetch" of server "web", which looked as if it gave orders (secrecy, overrides-instructions)',
  );
});

test('after an output that looked like an order, whatever is not known to only read asks', () => {
  const signals = { signals: 'ask' } as const;
  expect(because(signals, {}, { read: [flagged] })).toBe(
    'the output of "fetch" of server "web" looked as if it gave orders (secrecy, overrides-instructions)',
  );
  expect(because(signals, {}, { read: [flagged], isReadOnly: true })).toBeUndefined();
  expect(because(signals, {})).toBeUndefined();
});

test('looking for tools taints nobody; whatever else servers say through our own tools does', async () => {
  const { caller } = callOf(page);
  const perform = remember()(async ({ tool = page }) => outcomeOf(tool));
  const builtin = { isLocal: true, perform: async () => ({ content: [] }) };
  await perform(callOf(page, { caller, builtin, name: 'mcp_search' }));
  expect(caller.taint.source).toBeUndefined();
  await perform(callOf(page, { caller, builtin, name: 'ListMcpResources' }));
  expect(caller.taint.source).toEqual({ tool: page.id, signals: [] });
});

test('a yes holds for what was read: once, or for the session, and never for good', async () => {
  const approve = answering('once', 'always', 'no');
  const { stage } = createPermitting({
    approve,
    rules: () => [ruleText('mcp__*', 'allow')],
    authorize: { caution: () => 'the agent has read something' },
  });
  const tool = toolOf('mail', 'send');
  const perform = stage(async () => outcomeOf(tool, 'done'));
  const { caller } = callOf(tool);
  const call = (by = caller) => endOf((async () => perform(callOf(tool, { caller: by })))());
  const done = expect.objectContaining({ text: 'done' });
  expect([await call(), await call(), await call()]).toEqual([done, done, done]);
  expect(approve.asked).toHaveLength(2);
  expect(approve.asked[0]).toMatchObject({ because: 'the agent has read something', byRule: true });
  expect(await call(callOf(tool).caller), 'another agent').toBe('APPROVAL_REFUSED');
});

test('a grant of the tool does not answer for what was read since', async () => {
  let caution: string | undefined;
  const approve = answering('session', 'no');
  const { stage } = createPermitting({ approve, authorize: { caution: () => caution } });
  const tool = toolOf('mail', 'send');
  const perform = stage(async () => outcomeOf(tool, 'done'));
  const { caller } = callOf(tool);
  const call = () => endOf((async () => perform(callOf(tool, { caller })))());
  await call();
  caution = 'the agent has read something';
  expect(await call()).toBe('APPROVAL_REFUSED');
  expect(approve.asked[1]).toMatchObject({ because: expect.stringContaining('the agent has read something') });
});

test('once somebody said yes, a suspicion is settled until the next', () => {
  const taint = new Taint();
  taint.note(flagged);
  taint.calm(taint.suspicion);
  expect([taint.suspicion, taint.source?.signals.length]).toEqual([undefined, 2]);
  taint.note(flagged);
  expect(taint.suspicion?.tool).toEqual(page.id);
});
