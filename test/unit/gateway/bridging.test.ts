// Owns the proof that a server's question reaches the client that called, and its answer the server, whichever eras both speak; and that a
// client that cannot be asked is answered for at once.

import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { gatewayHandlers } from '../../../src/gateway/gateway.ts';
import { openProfile } from '../../../src/gateway/profiles.ts';
import { passedMeta } from '../../../src/gateway/served-relay.ts';
import { isObject, type JsonObject } from '../../../src/kernel/json.ts';
import { verifies } from '../../verifies.ts';
import { type Fronted, front } from './fronted.ts';

const program = fileURLToPath(new URL('../../servers/eliciting.mjs', import.meta.url));
const eras = ['legacy', 'modern'] as const;
type Era = (typeof eras)[number];

const eliciting = (era: Era) => ({ command: process.execPath, args: [program, '--era', era] });

const fronting = (era: Era) => front({ s: eliciting(era) }, { runtime: gatewayHandlers({ sampling: true }) });

const able = { elicitation: { form: {}, url: {} }, sampling: {} };
const answers: Readonly<Record<string, JsonObject>> = {
  form: { action: 'accept', content: { name: 'Ada', color: 'r' } },
  url: { action: 'accept' },
  sampling: { role: 'assistant', content: { type: 'text', text: 'Four' }, model: 'm', stopReason: 'endTurn' },
};

interface Asked {
  readonly result: JsonObject;
  /** The parameters of each question. */
  readonly questions: readonly JsonObject[];
}

function answerTo({ method, params }: JsonObject): JsonObject {
  if (method === 'sampling/createMessage') return answers['sampling'] as JsonObject;
  return (isObject(params) && params['mode'] === 'url' ? answers['url'] : answers['form']) as JsonObject;
}

/** A call of a client of that era, its questions answered. */
async function called(fronted: Fronted, era: Era, tool: string, capabilities: JsonObject = able): Promise<Asked> {
  const questions: JsonObject[] = [];
  const params = { name: tool, arguments: {} };
  if (era === 'legacy') {
    const session = await fronted.open('/mcp/s/s', { capabilities });
    const message = await session.answering('tools/call', params, (question) => {
      questions.push(question['params'] as JsonObject);
      return { result: answerTo(question) };
    });
    return { result: (message['result'] ?? message['error']) as JsonObject, questions };
  }
  let inputs: JsonObject = {};
  for (let round = 0; round < 5; round++) {
    const { message } = await fronted.modern('/mcp/s/s', 'tools/call', { ...params, ...inputs }, { capabilities });
    const { inputRequests, requestState, ...result } = (message['result'] ?? message['error']) as JsonObject;
    if (result['resultType'] !== 'input_required') return { result, questions };
    const asked = Object.entries(inputRequests as Record<string, JsonObject>);
    questions.push(...asked.map(([, question]) => question['params'] as JsonObject));
    inputs = {
      ...(requestState !== undefined && { requestState }),
      inputResponses: Object.fromEntries(asked.map(([key, question]) => [key, answerTo(question)])),
    };
  }
  throw new Error('the server asked too often');
}

const textOf = ({ content }: JsonObject) => JSON.parse(String((content as { text: string }[])[0]?.text));

describe.each(eras)('a %s server', (server) => {
  describe.each(eras)('called by a %s client', (client) => {
    test('asks for a form, a page and a thought, and gets the answers', async () => {
      const fronted = await fronting(server);
      const form = await called(fronted, client, 'register');
      expect(form.questions).toMatchObject([{ message: 'Who are you?' }]);
      expect(textOf(form.result).answer).toMatchObject({ action: 'accept', content: { name: 'Ada', color: 'r' } });
      const page = await called(fronted, client, 'visit');
      expect(page.questions).toMatchObject([{ mode: 'url', url: 'https://login.example/start?state=1' }]);
      expect(textOf(page.result).answer).toMatchObject({ action: 'accept' });
      expect(JSON.stringify((await called(fronted, client, 'think')).result)).toContain('Four');
    });

    verifies('EXT-36', 'that cannot be asked for a form, a page or a thought is answered for at once', async () => {
      const fronted = await fronting(server);
      const decline = '\\"action\\":\\"decline\\"';
      // A modern server is told what the client cannot do, and does not ask.
      const answers = { legacy: [decline, decline, 'cannot be asked'], modern: ['apabilit', 'apabilit', 'apabilit'] };
      for (const [at, tool] of ['register', 'visit', 'think'].entries()) {
        const { result, questions } = await called(fronted, client, tool, {});
        expect(questions).toEqual([]);
        expect(JSON.stringify(result), tool).toContain(answers[server][at]);
      }
      expect(fronted.gateway.measures()).toMatchObject({ unanswered: 0, suspended: 0 });
    });
  });
});

test.each(eras)('a tool that is called through mcp_call asks the client too: a %s server', async (server) => {
  const search = { ...openProfile, expose: 'search' as const };
  const fronted = await front({ s: eliciting(server) }, { profiles: { default: search } });
  const session = await fronted.open('/mcp', { capabilities: able });
  await session.request('tools/list');
  const carried = { name: 'mcp_call', arguments: { name: 'mcp__s__register', arguments: {} } };
  const { result } = await session.answering('tools/call', carried, (question) => ({ result: answerTo(question) }));
  expect(textOf(result as JsonObject).answer).toMatchObject({ action: 'accept', content: { name: 'Ada' } });
  expect(fronted.gateway.measures().servers.get('s')?.outcomes.get('ok')).toBe(1);
});

test('a page that a legacy server demands by an error is asked for in a modern call, which then is sent again', async () => {
  const fronted = await front({ s: eliciting('legacy') });
  const { result, questions } = await called(fronted, 'modern', 'locked');
  expect(questions).toMatchObject([{ mode: 'url', url: 'https://login.example/start?state=1' }]);
  expect(textOf(result)).toMatchObject({ calls: 2 });
});

test('a legacy client gets that error itself', async () => {
  const fronted = await front({ s: eliciting('legacy') });
  const { result } = await called(fronted, 'legacy', 'locked');
  expect(result).toMatchObject({ code: -32042, data: { elicitations: [{ elicitationId: 'locked' }] } });
});

test('_meta passes, but for what belongs to one hop', () => {
  expect(passedMeta({ progressToken: 1, 'io.modelcontextprotocol/logLevel': 'info', traceparent: 't' })).toEqual({
    traceparent: 't',
  });
  expect(passedMeta({ progressToken: 1 })).toBeUndefined();
});
