// Owns the proof of the decisions where no rule matches, and of what a view's rules and a host's own permissions may change.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ApprovalMode } from '../../../src/model/server.ts';
import type { ToolAnnotations } from '../../../src/model/tool.ts';
import { judgeByMode, strictest } from '../../../src/policy/approval-mode.ts';
import { type Decision, strictestFirst, tightenDecision } from '../../../src/policy/decision.ts';
import { answeredBy, createRuleGate, type PermissionGate } from '../../../src/policy/gate.ts';
import { createJudge } from '../../../src/policy/judge.ts';
import { parseRule } from '../../../src/policy/rule.ts';
import { verifies } from '../../verifies.ts';

const modes: readonly ApprovalMode[] = ['prompt', 'writes', 'auto', 'approve'];

const reads: ToolAnnotations = { readOnlyHint: true };
const destroys: ToolAnnotations = { destructiveHint: true };
const both: ToolAnnotations = { readOnlyHint: true, destructiveHint: true };
const staysInside: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

verifies(['EXT-03', 'PER-07'], 'each mode asks for the calls it names, for a tool whose hints are trusted', () => {
  const verdicts = (annotations: ToolAnnotations) =>
    modes.map((mode) => judgeByMode(mode, annotations, true).verdict).join(' ');
  expect(verdicts({})).toBe('ask ask ask allow');
  expect(verdicts(reads)).toBe('ask allow allow allow');
  expect(verdicts(staysInside)).toBe('ask ask allow allow');
  expect(verdicts(destroys)).toBe('ask ask ask allow');
  expect(verdicts(both)).toBe('ask ask ask allow');
  expect(verdicts({ ...both, openWorldHint: false })).toBe('ask ask ask allow');
  expect(verdicts({ destructiveHint: false })).toBe('ask ask ask allow');
  expect(verdicts({ openWorldHint: false })).toBe('ask ask ask allow');
});

verifies(['EXT-03', 'PER-07'], 'hints that are not trusted, absent or not booleans relax nothing', () => {
  const anyHint = fc.constantFrom(undefined, true, false, 'true', 1);
  const hints = fc.record({ readOnlyHint: anyHint, destructiveHint: anyHint, openWorldHint: anyHint });
  fc.assert(
    fc.property(hints, fc.constantFrom<ApprovalMode>('prompt', 'writes', 'auto'), (stated, mode) => {
      const annotations = stated as ToolAnnotations;
      expect(judgeByMode(mode, annotations, false).verdict).toBe('ask');
      if (stated.destructiveHint === true || (stated.readOnlyHint !== true && stated.destructiveHint !== false))
        expect(judgeByMode(mode, annotations, true).verdict).toBe('ask');
    }),
  );
});

verifies('EXT-03', 'of all modes that are set the strictest counts, and none means auto', () => {
  expect(strictest()).toBe('auto');
  expect(strictest(undefined, undefined)).toBe('auto');
  expect(strictest('approve', undefined)).toBe('approve');
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...modes), { minLength: 1 }), (given) => {
      expect(modes.indexOf(strictest(...given))).toBe(Math.min(...given.map((mode) => modes.indexOf(mode))));
    }),
  );
});

test('a decision by mode gives its reason, and whether the mode was set', () => {
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
      'approval = "writes" in its entry, and its hints are not trusted, which takes "trustHints" in its entry and a connected server',
    byRule: true,
  });
  expect(judgeByMode('auto', reads, true)).toMatchObject({
    because: 'it states that it only reads, and its hints are trusted',
    byRule: false,
  });
});

const call = { tool: { server: 'files', tool: 'read' }, name: 'mcp__files__read', arguments: {}, annotations: reads };

verifies('PER-01', 'one gate decides about every call: rules first, and where none matches, the mode', async () => {
  const rule = parseRule({ tool: 'mcp__files__read', action: 'deny', provenance: { scope: 'user', key: [] } });
  const gateFor = (rules: readonly (typeof rule)[]): PermissionGate => {
    const judge = createJudge(rules, { folderOf: () => undefined, realPath: () => undefined });
    return createRuleGate({ judge: () => judge, modeOf: () => 'auto' });
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

test('a rule that asks does not undo the mode "prompt", which asks each time', () => {
  const rule = parseRule({ tool: 'mcp__files', action: 'ask', provenance: { scope: 'project', key: [] } });
  const judge = createJudge([rule], { folderOf: () => undefined, realPath: () => undefined });
  const decide = (mode: ApprovalMode) =>
    createRuleGate({ judge: () => judge, modeOf: () => mode }).decide({ ...call, trustsAnnotations: true });
  expect(modes.map((mode) => decide(mode).isEveryTime)).toEqual([true, undefined, undefined, undefined]);
});

const decision = fc.record({
  verdict: fc.constantFrom(...strictestFirst),
  because: fc.constant('so'),
  byRule: fc.boolean(),
});
const rank = ({ verdict }: Decision) => strictestFirst.indexOf(verdict);

verifies('PER-01', "the host's own permissions answer an ask, and never change a deny", () => {
  fc.assert(
    fc.property(decision, decision, (own, host) => {
      const answer = answeredBy(own, host);
      expect(answer.verdict).toBe(own.verdict === 'deny' ? 'deny' : host.verdict);
    }),
  );
  const nonsense = { verdict: 'sure', because: '', byRule: true } as unknown as Decision;
  expect(answeredBy({ verdict: 'allow', because: '', byRule: true }, nonsense).verdict).toBe('ask');
});

test("a view's rules tighten, and allow only where no outer rule matches; a child's allow nothing", () => {
  fc.assert(
    fc.property(decision, decision, fc.boolean(), (outer, inner, mayAnswer) => {
      const tightened = tightenDecision(outer, inner, mayAnswer);
      if (!inner.byRule) expect(tightened).toBe(outer);
      else if (inner.verdict === 'allow') expect(tightened).toBe(outer.byRule || !mayAnswer ? outer : inner);
      else expect(rank(tightened)).toBe(Math.min(rank(outer), rank(inner)));
      if (outer.byRule) expect(rank(tightened)).toBeLessThanOrEqual(rank(outer));
    }),
  );
  const asks: Decision = { verdict: 'ask', because: '', byRule: true };
  expect(tightenDecision(asks, { ...asks, isEveryTime: true }, true).isEveryTime).toBe(true);
});
