// Owns the tests of the question about a call that a client is asked, and of the answers that count.

import { expect, test } from 'vitest';
import { approveByClient } from '../../../src/agent/client-approval.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { ProtocolError, type ServedCall } from '../../../src/serving/door.ts';
import type { ApprovalRequest } from '../../../src/trust/approval.ts';

const request: ApprovalRequest = {
  kind: 'tool',
  callId: '1',
  tool: { server: 'files', tool: 'write\u202e' },
  name: 'mcp__files__write',
  source: 'your file',
  arguments: { path: 'a\nb' },
  annotations: { destructiveHint: true },
  because: 'no rule matches',
  byRule: false,
};

async function ask(answer: () => JsonObject, asked: ApprovalRequest = request) {
  const questions: JsonObject[] = [];
  const call = {
    async ask(_method: string, params: JsonObject) {
      questions.push(params);
      return answer();
    },
  } as unknown as ServedCall;
  const said = await approveByClient(() => call)(asked, { signal: new AbortController().signal });
  return { said, questions };
}

test('the question says what would be called and why, each on a line of its own', async () => {
  const { questions } = await ask(() => ({ action: 'decline' }));
  expect(questions[0]?.['message']).toBe(
    [
      'The agent wants to call the tool "write\\u202e" of server "files".',
      'With these arguments: {"path":"a\\nb"}',
      'The server says: it may destroy data.',
      'The server comes from: your file',
      'Why you are asked: no rule matches.',
    ].join('\n'),
  );
});

test.each([
  ['once', { action: 'accept', content: { decision: 'once' } }],
  ['session', { action: 'accept', content: { decision: 'session' } }],
  ['no', { action: 'accept', content: { decision: 'no' } }],
  ['no', { action: 'accept', content: { decision: 'always' } }],
  ['no', { action: 'accept' }],
  ['no', { action: 'decline', content: { decision: 'once' } }],
  ['no', { action: 'cancel' }],
])('%s is the meaning of %j', async (meaning, answer) => {
  expect((await ask(() => answer)).said).toBe(meaning);
});

test('a call that is asked about every time can only be allowed once', async () => {
  const { questions } = await ask(() => ({ action: 'cancel' }), { ...request, isEveryTime: true });
  expect(questions[0]).toMatchObject({ requestedSchema: { properties: { decision: { enum: ['once', 'no'] } } } });
});

test('a client that cannot be asked, or answers with an error, has said no; servers are not its to approve', async () => {
  const failing = () => {
    throw new ProtocolError(-32021, 'no elicitation');
  };
  expect((await ask(failing)).said).toBe('no');
  const server = { kind: 'server', server: 'files', command: 'x', variables: [] } as const;
  expect(await ask(() => ({ action: 'accept', content: { decision: 'once' } }), server)).toEqual({
    said: 'no',
    questions: [],
  });
});
