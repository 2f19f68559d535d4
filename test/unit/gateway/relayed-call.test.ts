// Owns the proof that a call is counted as waiting until it is sent, and as running until it has ended; and that its client's user is
// asked once.

import { expect, test } from 'vitest';
import { GatewayClient } from '../../../src/gateway/client.ts';
import { GatewayFleet } from '../../../src/gateway/gateway-fleet.ts';
import { Measures } from '../../../src/gateway/measures.ts';
import { openProfile } from '../../../src/gateway/profiles.ts';
import { RelayedCall } from '../../../src/gateway/relayed-call.ts';
import { RoundSeal } from '../../../src/gateway/state-of-round.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Tool } from '../../../src/model/tool.ts';
import { RunningCall } from '../../../src/serving/running-call.ts';
import type { Peer } from '../../../src/serving/service.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import type { ApprovalRequest } from '../../../src/trust/approval.ts';
import { createFolder, createRawServer, start } from '../../e2e/runtimes.ts';

const peer: Peer = {
  ...{ era: 'modern', protocolVersion: '2026-07-28', principal: { id: 'me' }, client: undefined, session: undefined },
  capabilities: { elicitation: {} },
};
const id = { server: 's', tool: 'echo' };
const question = { kind: 'tool', tool: id, arguments: {}, because: 'a rule', source: 'a file' } as ApprovalRequest;

/** `answer` is what the client's user says to each question. */
async function relayed(answer: JsonObject) {
  const runtime = await start(createFolder(), { servers: { s: createRawServer({ tools: {} }).entry } });
  const fleet = new GatewayFleet(runtime);
  const client = new GatewayClient(fleet, { path: '/mcp', profile: openProfile, server: undefined }, peer, false);
  const asked: string[] = [];
  const served = new RunningCall(
    { kind: 'request', id: 1, method: 'tools/call', params: { name: 's__echo', arguments: {} } },
    {
      peer,
      reply: { notify: () => undefined, ask: () => false, closeStream: () => undefined },
      async ask(_, { method }) {
        asked.push(method);
        return answer;
      },
    },
  );
  const clock = createFakeClock();
  const [line, measures, seal] = [fleet.lineOf('s'), new Measures().of('s'), new RoundSeal({ clock })];
  const call = new RelayedCall({
    ...{
      client,
      caller: client.callerOf(peer),
      served,
      tool: { id, definition: { name: 'echo', inputSchema: { type: 'object' } } } as unknown as Tool,
      args: {},
    },
    ...{ round: undefined, seal, line, measures, clock },
  });
  return { call, line, measures, clock, asked };
}

test('a call waits until it is sent, and runs until it has ended', async () => {
  const { call, line, measures, clock } = await relayed({ action: 'decline' });
  expect([line.queued, measures.queued, measures.inFlight]).toEqual([1, 1, 1]);
  call.onSent();
  // A request may be sent again.
  call.onSent();
  expect([line.queued, measures.queued, measures.inFlight]).toEqual([0, 0, 1]);
  await clock.advance(2_000);
  call.ended('ok');
  expect([line.queued, measures.queued, measures.inFlight]).toEqual([0, 0, 0]);
  expect(measures).toMatchObject({ count: 1, seconds: 2, outcomes: new Map([['ok', 1]]) });
});

test('a call that ends before it is sent waits no more', async () => {
  const { call, line, measures } = await relayed({ action: 'decline' });
  call.ended('refused');
  expect([line.queued, measures.queued, measures.inFlight]).toEqual([0, 0, 0]);
});

test('a yes counts for the whole call, a no for the question', async () => {
  const agreed = await relayed({ action: 'accept', content: { decision: 'once' } });
  const options = { signal: new AbortController().signal };
  expect(await agreed.call.approve(question, options)).toBe('once');
  expect(await agreed.call.approve(question, options)).toBe('once');
  expect(agreed.asked).toEqual(['elicitation/create']);
  const refused = await relayed({ action: 'decline' });
  expect(await refused.call.approve(question, options)).toBe('no');
  expect(await refused.call.approve(question, options)).toBe('no');
  expect([refused.call.approved, refused.asked.length]).toEqual([undefined, 2]);
});
