// Owns the proof that a child never does what its parent may not, whatever rules, patterns and answers both were given.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApprovalAnswer, Approve, HostRule, ToolOutcome, View, ViewOptions } from '../../src/index.ts';
import { createFakeServer } from '../../src/testing/fake-server.ts';
import { approveBoth } from '../../src/trust/approval.ts';
import { runs } from '../effort.ts';
import { type OpenedRuntime, openRuntime } from '../runtime.ts';
import { verifies } from '../verifies.ts';

const names = ['read', 'write', 'wipe'] as const;
const tools = Object.fromEntries(names.map((name) => [name, { run: () => 'done' }]));
const answers: readonly ApprovalAnswer[] = ['no', 'once', 'session', 'always'];

let runtime: OpenedRuntime;
beforeAll(async () => {
  const servers = { files: createFakeServer(tools).entry, mail: createFakeServer(tools).entry };
  const permissions: HostRule[] = [
    { tool: 'mcp__files__read', action: 'allow' },
    { tool: 'mcp__mail__wipe', action: 'deny' },
  ];
  runtime = await openRuntime('/', { servers, permissions });
  await runtime.ready({ orThrow: true });
});
afterAll(() => runtime.close());

const every = ['files', 'mail'].flatMap((server) => names.map((name) => `mcp__${server}__${name}`));
const patterns = fc.constantFrom(...every, 'mcp__files__*', 'mcp__mail', 'mcp__*', '*__read', 'mcp__none__*');
const rules = fc.array(fc.record({ tool: patterns, action: fc.constantFrom('allow', 'ask', 'deny') }), {
  maxLength: 3,
});

interface Given {
  readonly tools: readonly string[] | undefined;
  readonly permissions: readonly HostRule[] | undefined;
  readonly answer: ApprovalAnswer | undefined;
}
const given: fc.Arbitrary<Given> = fc.record({
  tools: fc.option(fc.array(patterns, { maxLength: 3 }), { nil: undefined }),
  permissions: fc.option(rules, { nil: undefined }) as fc.Arbitrary<readonly HostRule[] | undefined>,
  answer: fc.option(fc.constantFrom(...answers), { nil: undefined }),
});

function optionsOf({ tools: seen, permissions, answer }: Given): Omit<ViewOptions, 'perClient'> {
  return {
    ...(seen && { tools: seen }),
    ...(permissions && { permissions }),
    ...(answer && { approve: async () => answer }),
  };
}

/** The tools that a view sees, and of all tools those that it can call. */
async function abilitiesOf(view: View) {
  const { call, tools: shown } = view.turn();
  const done = await Promise.all(
    every.map((name) =>
      call(name).then(
        ({ isError }: ToolOutcome) => !isError,
        () => false,
      ),
    ),
  );
  return { shown: shown.map(({ name }) => name), can: every.filter((_, at) => done[at]) };
}

verifies(
  ['INT-02', 'PER-02'],
  'a child sees and does nothing that its parent may not, and neither does its own child',
  async () => {
    let performed = 0;
    await fc.assert(
      fc.asyncProperty(given, given, given, async (first, second, third) => {
        const open = () => runtime.view(optionsOf(first));
        const agents = [
          open(),
          open().child(optionsOf(second)),
          open().child(optionsOf(second)).child(optionsOf(third)),
        ];
        const [parent, child, grandchild] = await Promise.all(agents.map(abilitiesOf));
        for (const [inner, outer] of [
          [child, parent],
          [grandchild, child],
        ] as const) {
          expect(outer?.shown, 'sees').toEqual(expect.arrayContaining(inner?.shown ?? []));
          expect(outer?.can, 'does').toEqual(expect.arrayContaining(inner?.can ?? []));
        }
        performed += grandchild?.can.length ?? 0;
      }),
      { numRuns: runs(1_000) },
    );
    expect(performed, 'or nothing was tried').toBeGreaterThan(0);
  },
);

test('of two answers the weaker one counts, and a parent is not asked about what its child refuses', async () => {
  const asked: string[] = [];
  const saying =
    (who: string, answer: ApprovalAnswer): Approve =>
    async () => {
      asked.push(who);
      return answer;
    };
  for (const parent of answers) {
    for (const child of answers) {
      asked.length = 0;
      const both = approveBoth(saying('parent', parent), saying('child', child));
      const answer = await both({ kind: 'tool' } as never, { signal: new AbortController().signal });
      expect(answer).toBe(answers[Math.min(answers.indexOf(parent), answers.indexOf(child))]);
      expect(asked).toEqual(child === 'no' ? ['child'] : ['child', 'parent']);
    }
  }
});
