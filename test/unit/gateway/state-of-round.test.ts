// Owns the proof that a state comes back only with its own request, of its own client, in time, and that an approval in it counts for
// one call.

import { expect, test } from 'vitest';
import { RoundSeal } from '../../../src/gateway/state-of-round.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { limits } from '../../../src/model/limits.ts';
import type { ServedCall } from '../../../src/serving/service.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { echoService, serveHttp } from '../serving/served.ts';
import { front } from './fronted.ts';

const key = Buffer.alloc(32, 7);
const call = (params: object, principal = 'own') =>
  ({ method: 'tools/call', params, peer: { principal: { id: principal } } }) as unknown as ServedCall;
const params = { name: 'ask', arguments: { a: 1 } };
const place = { path: '/mcp', server: 'as it was' };
const approved = 'sha256:1';
const retried = (requestState: string) => call({ ...params, requestState, inputResponses: {}, _meta: {} });

test('a state outlives a restart with the same key, and an approval in it does not', () => {
  const clock = createFakeClock();
  const requestState = new RoundSeal({ clock, key }).seal(call(params), place, { state: 'upstream', approved });
  const seal = new RoundSeal({ clock, key });
  expect(seal.isOwn(requestState)).toBe(true);
  expect(seal.open(retried(requestState), place)).toEqual({ state: 'upstream' });
  expect(requestState).not.toContain('upstream');
});

test.each([
  ['another client', call(params, 'other'), place],
  ['other arguments', call({ ...params, arguments: { a: 2 } }), place],
  ['another address', call(params), { ...place, path: '/mcp/s/a' }],
  ['another server, which has taken the name', call(params), { ...place, server: 'as it is now' }],
] as const)('it is refused with %s', (_, wrong, there) => {
  const seal = new RoundSeal({ clock: createFakeClock() });
  const requestState = seal.seal(call(params), place, { state: 'upstream' });
  const foreign = { ...wrong, params: { ...wrong.params, requestState } };
  expect(() => seal.open(foreign, there)).toThrow('requestState belongs to another request');
});

test('what was not sealed here is left to others', () => {
  const { isOwn } = new RoundSeal({ clock: createFakeClock() });
  expect([undefined, 7, 'p1.x', ''].map(isOwn)).toEqual([false, false, false, false]);
});

test('a state counts for an hour, with the key of an earlier gateway too', async () => {
  const clock = createFakeClock();
  const requestState = new RoundSeal({ clock, key }).seal(call(params), place, { state: 'upstream' });
  const seal = new RoundSeal({ clock, key });
  await clock.advance(limits.relay.roundMs - 1);
  expect(seal.open(retried(requestState), place)).toEqual({ state: 'upstream' });
  await clock.advance(1);
  expect(() => seal.open(retried(requestState), place)).toThrow(
    /^requestState has expired: send the request again without/,
  );
  expect(seal.isOwn(requestState), 'it is still refused here').toBe(true);
});

test('an approval counts once; only those that are not used are kept, and no more than a number of them', () => {
  const clock = createFakeClock();
  const seal = new RoundSeal({ clock });
  const agreed = () => retried(seal.seal(call(params), place, { approved }));
  const first = agreed();
  const [round, again] = [seal.open(first, place), seal.open(first, place)];
  expect([round, again].map((each) => seal.useApproval(each, approved))).toEqual([true, false]);
  expect(() => seal.open(first, place)).toThrow(/^requestState was used already: send the request again without/);
  expect(seal.useApproval({}, approved), 'a round without one').toBe(false);
  expect(seal.useApproval(seal.open(agreed(), place), 'sha256:2'), 'of another definition').toBe(false);
  const [oldest, next, ...others] = Array.from({ length: limits.relay.approvedRounds + 1 }, agreed);
  expect(() => oldest && seal.open(oldest, place)).toThrow('used already');
  const kept = [next, others.at(-1)].map((each) => each && seal.open(each, place).approval?.definition);
  expect(kept).toEqual([approved, approved]);
});

const able = { elicitation: { form: {} } };
const yes = { action: 'accept', content: { decision: 'once' } };
/** Each question for an approval has a name of its own. */
const kindOf = (question: string) => question.replace(/^(plexus-approval)-[\da-f-]{36}$/, '$1');
const form = { method: 'elicitation/create', params: { message: 'How many?', requestedSchema: { type: 'object' } } };
const answered = { q: { action: 'accept', content: {} } };

/** A modern server that keeps nothing: it asks twice, and does what it is asked for as often as it gets its second state. */
async function orderServer() {
  let orders = 0;
  const tool = { name: 'order', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } };
  const asking = (requestState: string) => ({ resultType: 'input_required', requestState, inputRequests: { q: form } });
  const { methods } = echoService();
  const service = echoService({
    keepsRequestState: true,
    methods: {
      ...methods,
      'tools/list': () => ({ tools: [tool] }),
      'tools/call': ({ params: { requestState } }) => {
        if (requestState !== 'u2') return asking(requestState === 'u1' ? 'u2' : 'u1');
        orders++;
        return { content: [{ type: 'text', text: `order ${orders}` }] };
      },
    },
  });
  const { url } = await serveHttp({ service });
  return { url, orders: () => orders };
}

const runtime = { permissions: [] };

async function ordering(options: Parameters<typeof front>[1] = {}) {
  const server = await orderServer();
  const opened = await front({ s: { url: server.url } }, { runtime, ...options });
  const order = async (more: JsonObject = {}, through = opened) => {
    const sent = { name: 's__order', arguments: {}, ...more };
    const { message } = await through.modern('/mcp', 'tools/call', sent, { capabilities: able });
    const { inputRequests, requestState, content } = message['result'] ?? {};
    const questions = Object.keys(inputRequests ?? {});
    const agreed = Object.fromEntries(questions.map((question) => [question, yes]));
    return { error: message['error'], asked: questions.map(kindOf), agreed, requestState, content };
  };
  return { ...server, order };
}

verifies(
  'EXT-33',
  'a state with an approval has one call sent, in as many rounds as its server asks for, and no second one',
  async () => {
    const { order, orders } = await ordering();
    const first = await order();
    expect(first.asked).toEqual(['plexus-approval']);
    const second = await order({ requestState: first.requestState, inputResponses: first.agreed });
    const third = await order({ requestState: second.requestState, inputResponses: answered });
    expect([second.asked, third.asked], 'the user is not asked again').toEqual([['q'], ['q']]);
    const last = await order({ requestState: third.requestState, inputResponses: answered });
    expect(last.content).toEqual([{ type: 'text', text: 'order 1' }]);
    for (const { requestState } of [first, second, third]) {
      const replayed = await order({ requestState, inputResponses: { ...first.agreed, ...answered } });
      expect(replayed).toMatchObject({ error: { code: -32602 } });
    }
    const replayed = await order({ requestState: third.requestState, inputResponses: answered });
    expect(replayed.error?.['message']).toBe(
      'requestState was used already: send the request again without requestState and inputResponses',
    );
    expect(orders()).toBe(1);
  },
);

test('two at once with one state have one call sent: the user is asked about the other', async () => {
  const { order, orders } = await ordering();
  const first = await order();
  const second = await order({ requestState: first.requestState, inputResponses: first.agreed });
  const third = await order({ requestState: second.requestState, inputResponses: answered });
  const retry = { requestState: third.requestState, inputResponses: answered };
  const both = await Promise.all([order(retry), order(retry)]);
  expect(both.filter(({ content }) => content !== undefined)).toHaveLength(1);
  expect(
    both.filter(({ asked, error }) => asked.includes('plexus-approval') || error?.['code'] === -32602),
  ).toHaveLength(1);
  expect(orders()).toBe(1);
});

test('after an hour a round is over, approved or not', async () => {
  const clock = createFakeClock();
  const { order, orders } = await ordering({ clock });
  const first = await order();
  const second = await order({ requestState: first.requestState, inputResponses: first.agreed });
  await clock.advance(limits.relay.roundMs);
  const late = await order({ requestState: second.requestState, inputResponses: answered });
  expect(late.error).toMatchObject({
    code: -32602,
    message: 'requestState has expired: send the request again without requestState and inputResponses',
  });
  expect(orders()).toBe(0);
});

test('after a restart with a stored key a round goes on, once its user has agreed again', async () => {
  const { url, order, orders } = await ordering({ stateKey: key });
  const first = await order();
  const second = await order({ requestState: first.requestState, inputResponses: first.agreed });
  const restarted = await front({ s: { url } }, { runtime, stateKey: key });
  await restarted.modern('/mcp', 'tools/list');
  const asked = await order({ requestState: second.requestState, inputResponses: answered }, restarted);
  expect(asked.asked).toEqual(['plexus-approval']);
  const third = await order({ requestState: asked.requestState, inputResponses: asked.agreed }, restarted);
  expect(third.asked).toEqual(['q']);
  const last = await order({ requestState: third.requestState, inputResponses: answered }, restarted);
  expect([last.content, orders()]).toEqual([[{ type: 'text', text: 'order 1' }], 1]);
});
