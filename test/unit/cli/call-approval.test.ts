// Owns the proof that the person at the terminal sees what they agree to, and that nothing but a clear answer is a yes.

import { describe, expect, test } from 'vitest';
import { approveTypedCall, askOnTerminal, questionFor } from '../../../src/cli/call-approval.ts';
import type { ApprovalRequest } from '../../../src/trust/approval.ts';
import { verifies } from '../../verifies.ts';

type ToolRequest = Extract<ApprovalRequest, { readonly kind: 'tool' }>;

const request: ToolRequest = {
  kind: 'tool',
  callId: 'call-1',
  tool: { server: 'files', tool: 'write' },
  name: 'mcp__files__write',
  source: 'mcp:files via user',
  arguments: { path: 'a.txt', token: '(hidden)' },
  annotations: {},
  because: 'no rule matches',
  byRule: false,
};
const options = { signal: new AbortController().signal };
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
  With these arguments: {"path":"a.txt","token":"(hidden)"}
  The server says: it may destroy data.
  The server comes from: mcp:files via user
  Why you are asked: no rule matches.
  Changed since you approved it:
    description: added "Send it."
    readOnlyHint was true and is absent
[y] yes, this once
[s] yes, until I close this session
[a] yes, and do not ask again until it changes
[N] no:`);
      expect(questionFor(request)).toContain('The server does not say what it does to your data.\n');
      const gentle = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };
      expect(questionFor({ ...request, annotations: gentle })).toContain(
        'it destroys no data, it only reads, repeating it changes nothing more, it reaches external systems.\n',
      );
    },
  );

  test('says which file the server comes from, where that is known', async () => {
    const { asked, context } = terminal('y');
    await approveTypedCall(context, { originOf: async (name) => `/a.toml (user), which runs: ${name}` })(
      destructive,
      options,
    );
    expect(asked[0]).toContain('  The server comes from: /a.toml (user), which runs: files\n');
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
    expect(question.split('\n')).toHaveLength(11);
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
      expect(await askOnTerminal(terminal(text).context)(request, options)).toBe(answer);
    });

  test('is offered and taken only where it is kept', async () => {
    const each = { ...request, byRule: true, isEveryTime: true as const };
    for (const [typed, answer] of Object.entries({ y: 'once', s: 'no', a: 'no' })) {
      const { asked, context } = terminal(typed);
      expect(await askOnTerminal(context)(each, options)).toBe(answer);
      expect(asked[0]).toMatch(/\n\[y\] yes, this once\n\[N\] no:$/);
    }
    const { asked, context } = terminal('s');
    expect(await approveTypedCall(context)(destructive, options), 'one call is no session').toBe('no');
    expect(asked[0]).toMatch(/\n\[y\] yes, this once\n\[a\] yes, and .*\n\[N\] no:$/);
  });

  test('is no where the input ends, where nobody can be asked, and to anything but a tool', async () => {
    expect(await askOnTerminal(terminal(undefined).context)(request, options)).toBe('no');
    expect(await askOnTerminal({ askText: undefined })(request, options)).toBe('no');
    const { asked, context } = terminal('y');
    expect([await askOnTerminal(context)(server, options), asked]).toEqual(['no', []]);
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
        expect([await approveTypedCall(context)(doubtful, options), asked.length]).toEqual(['always', 1]);
        expect(await approveTypedCall({ ...context, askText: undefined })(doubtful, options)).toBe('no');
        expect(await approveTypedCall({ ...context, values: { yes: true } })(doubtful, options)).toBe('once');
      }
      const { asked, context } = terminal('n');
      expect([await approveTypedCall(context)(request, options), asked]).toEqual(['once', []]);
      expect(await approveTypedCall({ ...context, values: { yes: true } })(server, options)).toBe('no');
    },
  );
});
