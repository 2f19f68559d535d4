// Owns the proof of what is decided where no rule speaks, of what a view's rules and a host's own permissions may change.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ApprovalMode } from '../../../src/model/server.ts';
import type { ToolAnnotations } from '../../../src/model/tool.ts';
import { judgeByMode, strictest } from '../../../src/policy/approval-mode.ts';
import { type Decision, narrow, strictestFirst } from '../../../src/policy/decision.ts';
import { answeredBy, createGate, type PermissionGate } from '../../../src/policy/gate.ts';
import { createJudge } from '../../../src/policy/judge.ts';
import { parseRule } from '../../../src/policy/rule.ts';
import { verifies } from '../../verifies.ts';

const modes: readonly ApprovalMode[] = ['prompt', 'writes', 'auto', 'approve'];

const reads: ToolAnnotations = { readOnlyHint: true };
const destroys: ToolAnnotations = { destructiveHint: true };
const both: ToolAnnotations = { readOnlyHint: true, destructiveHint: true };
const staysInside: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

verifies(['EXT-03', 'PER-07'], 'each mode asks for what it says, of a tool that is believed', () => {
  const protocolCache = (annotations: ToolAnnotations) =>
    modes.map((mode) => judgeByMode(mode, annotations, true).verdict).join(' ');
  expect(protocolCache({})).toBe('ask ask ask allow');
  expect(protocolCache(reads)).toBe('ask allow allow allow');
  expect(protocolCache(staysInside)).toBe('ask ask allow allow');
  expect(protocolCache(destroys)).toBe('ask ask ask allow');
  expect(protocolCache(both)).toBe('ask ask ask allow');
  expect(protocolCache({ ...both, openWorldHint: false })).toBe('ask ask ask allow');
  expect(protocolCache({ destructiveHint: false })).toBe('ask ask ask allow');
  expect(protocolCache({ openWorldHint: false })).toBe('ask ask ask allow');
});

verifies(
  ['EXT-03', 'PER-07'],
  'what a tool says of itself relaxes nothing where it is not believed, or not said in so many words',
  () => {
    const anyHint = fc.constantFrom(undefined, true, false, 'true', 1);
    const hints = fc.record({ readOnlyHint: anyHint, destructiveHint: anyHint, openWorldHint: anyHint });
    fc.assert(
      fc.property(hints, fc.constantFrom<ApprovalMode>('prompt', 'writes', 'auto'), (said, mode) => {
        const annotations = said as ToolAnnotations;
        expect(judgeByMode(mode, annotations, false).verdict).toBe('ask');
        if (said.destructiveHint === true || (said.readOnlyHint !== true && said.destructiveHint !== false))
          expect(judgeByMode(mode, annotations, true).verdict).toBe('ask');
      }),
    );
  },
);

verifies('EXT-03', 'of all modes that somebody wrote the strictest counts, and none means auto', () => {
  expect(strictest()).toBe('auto');
  expect(strictest(undefined, undefined)).toBe('auto');
  expect(strictest('approve', undefined)).toBe('approve');
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...modes), { minLength: 1 }), (said) => {
      expect(modes.indexOf(strictest(...said))).toBe(Math.min(...said.map((mode) => modes.indexOf(mode))));
    }),
  );
});

test('a mode says in words why, and whether a person wrote it', () => {
  expect(judgeByMode('prompt', reads, true)).toEqual({
    verdict: 'ask',
    because: 'approval = "prompt" in its entry',
    byRule: true,
    isEveryTime: true,
  });
  expect(judgeByMode('approve', {}, false)).toEqual({
    verdict: 'allow',
    because: 'approval = "approve" in its entry',
    byRule: true,
  });
  expect(judgeByMode('auto', {}, false)).toEqual({
    verdict: 'ask',
    because: 'no rule matches, and it does not state that it is harmless',
    byRule: false,
  });
  expect(judgeByMode('writes', { destructiveHint: false, openWorldHint: false }, true).because).toBe(
    'approval = "writes" in its entry, and it does not state that it only reads',
  );
  expect(judgeByMode('auto', destroys, true).because).toBe(
    'no rule matches, and it states that it may destroy something',
  );
  expect(judgeByMode('writes', reads, false)).toEqual({
    verdict: 'ask',
    because:
      'approval = "writes" in its entry, and what it states of itself is not believed; that takes "trustHints", and its server to be up',
    byRule: true,
  });
  expect(judgeByMode('auto', reads, true)).toMatchObject({
    because: 'it states that it only reads, and its server is believed',
    byRule: false,
  });
});

const call = { tool: { server: 'files', tool: 'read' }, name: 'mcp__files__read', arguments: {}, annotations: reads };

verifies('PER-01', 'one gate decides about every call: rules first, and where none speaks, the mode', async () => {
  const rule = parseRule({ tool: 'mcp__files__read', action: 'deny', provenance: { scope: 'user', key: [] } });
  const gateFor = (rules: readonly (typeof rule)[]): PermissionGate => {
    const judge = createJudge(rules, { folderOf: () => undefined, realPath: () => undefined });
    return createGate({ judge: () => judge, modeOf: () => 'auto' });
  };
  expect((await gateFor([rule]).decide({ ...call, trustsAnnotations: true })).verdict).toBe('deny');
  expect((await gateFor([]).decide({ ...call, trustsAnnotations: true })).verdict).toBe('allow');
  expect((await gateFor([]).decide({ ...call, trustsAnnotations: false })).verdict).toBe('ask');
});

test('a host need not say why', () => {
  const own = judgeByMode('auto', {}, false);
  const because = "the host's own permissions say so";
  expect(answeredBy(own, { verdict: 'deny' })).toEqual({ verdict: 'deny', because, byRule: true });
  expect(answeredBy(own, { verdict: 'ask', because: '', byRule: false })).toEqual({
    verdict: 'ask',
    because,
    byRule: false,
  });
  expect(answeredBy(own, { verdict: 'allow', because: 'it is ours' }).because).toBe('it is ours');
});

test('a rule that asks does not take away that somebody wants to be asked each time', () => {
  const rule = parseRule({ tool: 'mcp__files', action: 'ask', provenance: { scope: 'project', key: [] } });
  const judge = createJudge([rule], { folderOf: () => undefined, realPath: () => undefined });
  const decide = (mode: ApprovalMode) =>
    createGate({ judge: () => judge, modeOf: () => mode }).decide({ ...call, trustsAnnotations: true });
  expect(modes.map((mode) => decide(mode).isEveryTime)).toEqual([true, undefined, undefined, undefined]);
});

const decision = fc.record({
  verdict: fc.constantFrom(...strictestFirst),
  because: fc.constant('so'),
  byRule: fc.boolean(),
});
const rank = ({ verdict }: Decision) => strictestFirst.indexOf(verdict);

verifies(
  'PER-01',
  'a host that has permissions of its own answers what is left to ask, and never what is denied',
  () => {
    fc.assert(
      fc.property(decision, decision, (own, host) => {
        const answer = answeredBy(own, host);
        expect(answer.verdict).toBe(own.verdict === 'deny' ? 'deny' : host.verdict);
      }),
    );
    const nonsense = { verdict: 'sure', because: '', byRule: true } as unknown as Decision;
    expect(answeredBy({ verdict: 'allow', because: '', byRule: true }, nonsense).verdict).toBe('ask');
  },
);

test("a view's rules tighten, and allow only where nobody has ruled", () => {
  fc.assert(
    fc.property(decision, decision, (outer, inner) => {
      const narrowed = narrow(outer, inner);
      if (!inner.byRule) expect(narrowed).toBe(outer);
      else if (inner.verdict === 'allow') expect(narrowed).toBe(outer.byRule ? outer : inner);
      else expect(rank(narrowed)).toBe(Math.min(rank(outer), rank(inner)));
      if (outer.byRule) expect(rank(narrowed)).toBeLessThanOrEqual(rank(outer));
    }),
  );
  const asks: Decision = { verdict: 'ask', because: '', byRule: true };
  expect(narrow(asks, { ...asks, isEveryTime: true }).isEveryTime).toBe(true);
});
