// Owns the proof of the gateway's smaller parts: failures, counts, questions for an approval.

import { expect, test } from 'vitest';
import { askClient, canFillForms } from '../../../src/gateway/approval.ts';
import { failureError, failureResult } from '../../../src/gateway/failures.ts';
import { countEnd, Measures } from '../../../src/gateway/measures.ts';
import { readPath } from '../../../src/gateway/route.ts';
import { isObject, type JsonObject } from '../../../src/kernel/json.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import type { ServedCall } from '../../../src/serving/service.ts';
import type { ApprovalRequest } from '../../../src/trust/approval.ts';
import { verifies } from '../../verifies.ts';

verifies('EXT-33', 'a server that cannot be used has its own status, and never 401', () => {
  const status = (error: RuntimeError) => {
    const told = failureError(error, { isStatus: true });
    return isObject(told) ? told['status'] : undefined;
  };
  expect([
    status(new RuntimeError('AUTH_REQUIRED', { server: 's' })),
    status(new RuntimeError('SERVER_DENIED', { server: 's', because: 'x' })),
    status(new RuntimeError('CONNECTION_LOST', { server: 's', reason: 'x' })),
    status(new RuntimeError('STARTUP_TIMEOUT', { server: 's', reason: 'x', afterMs: 1 })),
    status(new RuntimeError('SERVER_UNKNOWN', { server: 's', nearest: [] })),
  ]).toEqual([503, 503, 502, 504, 404]);
  expect(failureError(new RuntimeError('AUTH_REQUIRED', { server: 's' }))).toMatchObject({
    message: expect.stringContaining('plexus login s'),
    status: undefined,
  });
});

test.each([
  [{}, / To allow it for good, run: plexus approve s 'rm it'$/],
  [{ advice: 'change-rule' }, / To allow it for good, run: plexus approve s 'rm it'$/],
  [{ advice: 'answer', isUnstored: true }, / To call it yourself, run: plexus call s 'rm it'$/],
  [{ advice: 'review-lock' }, /for yourself: plexus approve s 'rm it'\.$/],
  [{ advice: 'approve-again' }, /run: plexus approve s 'rm it'\.$/],
] as const)('a call that was refused with %j says the command that helps', (how, end) => {
  const refused = new RuntimeError('APPROVAL_REFUSED', { server: 's', tool: 'rm it', name: 'x', because: 'y', ...how });
  expect(failureResult(refused)).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(end) }],
    _meta: { 'plexus/error': { code: 'APPROVAL_REFUSED', remedy: 'ask-user' } },
  });
});

test('calls are counted by outcome and time', () => {
  const measures = new Measures().of('s');
  measures.inFlight = 2;
  countEnd(measures, 'ok', 3);
  countEnd(measures, 'error', 99_000);
  expect(measures).toMatchObject({ inFlight: 0, count: 2, seconds: 99.003 });
  expect([...measures.outcomes]).toEqual([
    ['ok', 1],
    ['error', 1],
  ]);
  expect(measures.buckets.reduce((sum, each) => sum + each)).toBe(1);
});

test('a path names a profile or a server', () => {
  expect(['/mcp', '/mcp/p/a', '/mcp/s/a%20b', '/mcp/s/', '/mcp/x/a', '/mcp/s/a/b', '/mcp/s/%zz'].map(readPath)).toEqual(
    [
      { kind: 'profile', profile: 'default' },
      { kind: 'profile', profile: 'a' },
      { kind: 'server', server: 'a b' },
      ...[undefined, undefined, undefined, undefined],
    ],
  );
});

const request: ApprovalRequest = {
  ...{ kind: 'tool', callId: '1', tool: { server: 's', tool: 't' }, name: 'mcp__s__t', source: 'here' },
  ...{ arguments: {}, annotations: {}, because: 'no rule\u202e matches', byRule: false },
};

function client(elicitation: unknown, answer: JsonObject): { served: ServedCall; asked: JsonObject[] } {
  const asked: JsonObject[] = [];
  const ask = async (_method: string, params: JsonObject) => {
    asked.push(params);
    return answer;
  };
  return { served: { peer: { capabilities: { elicitation } }, ask } as unknown as ServedCall, asked };
}

const signal = new AbortController().signal;

test.each([
  [{ action: 'accept', content: { decision: 'once' } }, 'once'],
  [{ action: 'accept', content: { decision: 'session' } }, 'session'],
  [{ action: 'accept', content: { decision: 'always' } }, 'no'],
  [{ action: 'accept' }, 'no'],
  [{ action: 'decline', content: { decision: 'once' } }, 'no'],
])('the answer %j means %s', async (answer, expected) => {
  const { served, asked } = client({}, answer);
  expect(await askClient(served, true)(request, { signal })).toBe(expected);
  expect(asked[0]?.['message']).toContain('no rule\\u202e matches');
});

test('a client that nothing tells from others cannot agree for a session', async () => {
  const { served } = client({ form: {} }, { action: 'accept', content: { decision: 'session' } });
  expect(await askClient(served, false)(request, { signal })).toBe('no');
});

verifies('EXT-36', 'a client that cannot fill in a form is not asked', async () => {
  for (const elicitation of [undefined, { url: {} }]) {
    const { served, asked } = client(elicitation, {});
    expect(canFillForms(served)).toBe(false);
    expect(await askClient(served, true)(request, { signal })).toBe('no');
    expect(asked).toEqual([]);
  }
});
