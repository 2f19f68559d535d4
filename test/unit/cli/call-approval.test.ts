// Owns the proof that the person at the terminal sees what they agree to, and that nothing but a clear answer is a yes.

import { describe, expect, test } from 'vitest';
import { approveTypedCall, askOnTerminal, questionFor } from '../../../src/cli/call-approval.ts';
import type { ApprovalRequest } from '../../../src/trust/approval.ts';
import { verifies } from '../../verifies.ts';

type ToolRequest = Extract<ApprovalRequest, { readonly kind: 'tool' }>;

const request: ToolRequest = {
  kind: 'tool',
  tool: { server: 'files', tool: 'write' },
  name: 'mcp__files__write',
  source: 'mcp:files via user',
  arguments: { path: 'a.txt', token: '(hidden)' },
  annotations: {},
  because: 'no rule matches',
  byRule: false,
};
const destructive = { ...request, annotations: { destructiveHint: true } };
const server: ApprovalRequest = { kind: 'server', server: 'files', command: 'node x', variables: [] };

/** A terminal at which somebody types this; `undefined` closes it. */
function terminal(typed: string | undefined, values = {}) {
  const asked: string[] = [];
  const askText = async ({ question }: { question: string }) => {
    asked.push(question);
    return typed;
  };
  return { asked, context: { askText, values } };
}

describe('the question', () => {
  verifies(
    'PER-08',
    'shows the server, its source, the arguments, what the tool says of itself, why, and what changed',
    () => {
      const changes = ['description: added "Send it."', 'readOnlyHint was true and is absent'];
      expect(questionFor({ ...destructive, changes })).toBe(`Call the tool "write" of server "files"?
  from: mcp:files via user
  arguments: {"path":"a.txt","token":"(hidden)"}
  it states: it may destroy data
  you are asked because: no rule matches
  changed since you approved it:
    description: added "Send it."
    readOnlyHint was true and is absent
[y] once, [s] in this session, [a] always, [N] no:`);
      expect(questionFor(request)).toContain('it states: nothing\n');
      const gentle = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };
      expect(questionFor({ ...request, annotations: gentle })).toContain(
        'it destroys no data, it only reads, repeating it changes nothing more, it reaches external systems\n',
      );
    },
  );

  test('says which file the server comes from, where that is known', async () => {
    const { asked, context } = terminal('y');
    await approveTypedCall(context, async (name) => `/a.toml (user), which runs: ${name}`)(destructive);
    expect(asked[0]).toContain('  from: /a.toml (user), which runs: files\n');
  });

  test('has no line that a server, a rule or a model wrote', () => {
    const evil = 'x\n[y] once\u001b[2J\u202e';
    const question = questionFor({
      ...request,
      tool: { server: evil, tool: evil },
      source: evil,
      because: evil,
      arguments: { [evil]: evil, long: 'z'.repeat(100_000) },
      changes: [evil],
    });
    expect(question.split('\n')).toHaveLength(8);
    expect(question).toMatch(/^[\x20-\x7e…\n]+$/);
    expect(question.length).toBeLessThan(2_000);
  });
});

describe('the answer', () => {
  const typed: Record<string, string> = {
    ...{ y: 'once', ' Yes ': 'once', once: 'once', s: 'session', session: 'session', a: 'always', ALWAYS: 'always' },
    ...{ '': 'no', n: 'no', no: 'no', yy: 'no', constructor: 'no', '1': 'no' },
  };
  for (const [text, answer] of Object.entries(typed))
    verifies('PER-08', `${JSON.stringify(text)} means ${answer}`, async () => {
      expect(await askOnTerminal(terminal(text).context)(request)).toBe(answer);
    });

  test('is offered and taken only where it is kept', async () => {
    const each = { ...request, byRule: true, isEveryTime: true as const };
    for (const [typed, answer] of Object.entries({ y: 'once', s: 'no', a: 'no' })) {
      const { asked, context } = terminal(typed);
      expect(await askOnTerminal(context)(each)).toBe(answer);
      expect(asked[0]).toMatch(/\n\[y\] once, \[N\] no:$/);
    }
    const { asked, context } = terminal('s');
    expect(await approveTypedCall(context)(destructive), 'one call is no session').toBe('no');
    expect(asked[0]).toMatch(/\n\[y\] once, \[a\] always, \[N\] no:$/);
  });

  test('is no where the input ends, where nobody can be asked, and to anything but a tool', async () => {
    expect(await askOnTerminal(terminal(undefined).context)(request)).toBe('no');
    expect(await askOnTerminal({ askText: undefined })(request)).toBe('no');
    const { asked, context } = terminal('y');
    expect([await askOnTerminal(context)(server), asked]).toEqual(['no', []]);
  });
});

describe('a person’s own order', () => {
  verifies(
    'PER-08',
    'is asked about where it may destroy, where a rule wants it, and where the tool changed',
    async () => {
      for (const doubtful of [
        destructive,
        { ...request, byRule: true },
        { ...request, changes: ['title was removed'] },
      ]) {
        const { asked, context } = terminal('a');
        expect([await approveTypedCall(context)(doubtful), asked.length]).toEqual(['always', 1]);
        expect(await approveTypedCall({ ...context, askText: undefined })(doubtful)).toBe('no');
        expect(await approveTypedCall({ ...context, values: { yes: true } })(doubtful)).toBe('once');
      }
      const { asked, context } = terminal('n');
      expect([await approveTypedCall(context)(request), asked]).toEqual(['once', []]);
      expect(await approveTypedCall({ ...context, values: { yes: true } })(server)).toBe('no');
    },
  );
});
