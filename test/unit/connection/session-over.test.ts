// Proves that a session over another one passes on what it does not change.

import { expect, test } from 'vitest';
import { SessionOver } from '../../../src/connection/session-over.ts';
import { createFakeSession } from '../session.ts';

class Plain extends SessionOver {}

test('a session over another one shows its facts and reaches its server', async () => {
  const inner = createFakeSession({
    transport: 'http',
    request: async (method) => ({ kind: 'result', result: method }),
  });
  const session = new Plain(inner);
  expect([session.transport, session.era, session.ended]).toEqual(['http', inner.era, inner.ended]);
  expect(await session.request('ping')).toEqual({ kind: 'result', result: 'ping' });
  await session.close();
  expect(inner.closed()).toBe(1);
});
