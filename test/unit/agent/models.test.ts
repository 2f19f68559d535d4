// Owns the tests of the two models over HTTP, against the scripted model server.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ChatMessage, ModelDelay } from '../../../src/agent/agent.ts';
import { chatCompletionsModel } from '../../../src/agent/models/chat-completions.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import type { ScriptedStep } from '../../servers/models/script.ts';
import { sentImages, sentResults, sentTools } from '../../servers/models/sent.ts';
import { waitFor } from '../../wait-for.ts';
import { type Api, apiNames, apis, halfInText, long, openModelServer } from './scene.ts';

const tool = { name: 'echo', description: 'Echoes.', inputSchema: { type: 'object' } };
const question: ChatMessage = { role: 'user', text: 'hello' };
const images = [{ data: 'aGk=', mimeType: 'image/png' }] as const;
const idle = () => new AbortController().signal;

async function ask(api: Api, script: readonly ScriptedStep[], messages: readonly ChatMessage[] = [question]) {
  const server = await openModelServer(script);
  const clock = createFakeClock();
  const model = apis[api](server.url, { clock });
  const [texts, delays]: [string[], ModelDelay[]] = [[], []];
  const work = model.answer(
    { system: 'Be brief.', messages, tools: [tool] },
    { signal: idle(), onText: (text) => texts.push(text), onDelay: (delay) => delays.push(delay) },
  );
  void Promise.allSettled([work]);
  return { work, texts, delays, clock, requests: server.requests };
}

describe.each(apiNames)('%s', (api) => {
  test('streams text, gathers parallel calls and counts tokens', async () => {
    const calls = [{ name: 'echo', arguments: { text: 'one' } }, { name: 'echo' }];
    const { work, texts, requests } = await ask(api, [{ text: 'let me see', calls, usage: { input: 7, output: 3 } }]);
    const answer = await work;
    expect(answer.text).toBe('let me see');
    expect(texts).toEqual(['let m', 'e see']);
    expect(answer.calls.map(({ id, name, arguments: args }) => [id, name, JSON.parse(args || '{}')])).toEqual([
      ['call_1', 'echo', { text: 'one' }],
      ['call_2', 'echo', {}],
    ]);
    expect(answer.usage).toEqual({ inputTokens: 7, outputTokens: 3 });
    const [request] = requests;
    expect(request && sentTools(request)).toMatchObject([{ name: 'echo' }]);
    expect(request?.headers).toMatchObject(
      api === 'messages' ? { 'x-api-key': 'sk-secret-key' } : { authorization: 'Bearer sk-secret-key' },
    );
    expect(JSON.stringify(request?.body)).toContain('Be brief.');
  });

  test('hands back calls, results and images; arguments that were no JSON are not sent again', async () => {
    const { work, requests } = await ask(
      api,
      [{ text: 'done' }],
      [
        question,
        {
          role: 'assistant',
          text: '',
          calls: [
            { id: 'a', name: 'echo', arguments: '{"text":' },
            { id: 'b', name: 'echo', arguments: '{}' },
          ],
        },
        { role: 'tool', callId: 'a', name: 'echo', text: 'no JSON', isError: true, images },
        { role: 'tool', callId: 'b', name: 'echo', text: 'drawn', isError: false, images },
        { role: 'user', text: 'and now?' },
      ],
    );
    await work;
    const [request] = requests;
    expect(request && sentResults(request)).toMatchObject([
      { callId: 'a', text: expect.stringContaining('no JSON') },
      { callId: 'b', text: expect.stringContaining('drawn') },
    ]);
    // Anthropic's API takes none beside an error.
    expect(request && sentImages(request)).toHaveLength(api === 'messages' ? 1 : 2);
    expect(JSON.stringify(request?.body)).not.toContain(String.raw`{\"text\":`);
  });

  test.each([429, 500, 503, 529])('status %i is asked again, after the time it names', async (status) => {
    const fault = { fault: 'status', status, message: 'busy', retryAfterSec: 7 } as const;
    const { work, delays, clock, requests } = await ask(api, [fault, { text: 'now' }]);
    await waitFor(() => expect(delays).toHaveLength(1));
    await clock.advance(6_999);
    expect(requests).toHaveLength(1);
    await clock.advance(1);
    expect((await work).text).toBe('now');
    expect(delays).toEqual([{ reason: `it answered with HTTP ${status}: busy`, waitMs: 7_000 }]);
  });

  test('a model that stays away is asked five times in all, and then unavailable', async () => {
    const { work, delays, clock, requests } = await ask(api, Array(5).fill({ fault: 'status', status: 500 }));
    for (const count of [1, 2, 3, 4]) {
      await waitFor(() => expect(delays).toHaveLength(count));
      await clock.advance(8_000);
    }
    await expect(work).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(requests).toHaveLength(5);
  });

  test('a wait of an hour is not waited for, but told', async () => {
    const { work } = await ask(api, [{ fault: 'status', status: 429, retryAfterSec: 3_600 }]);
    await expect(work).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', data: { waitMs: 3_600_000 } });
  });

  test.each([400, 401, 404])('status %i is final, and its words lose the key', async (status) => {
    const { work, requests } = await ask(api, [{ fault: 'status', status, message: 'bad key sk-secret-key' }]);
    await expect(work).rejects.toMatchObject({
      code: 'MODEL_REFUSED',
      data: { model: 'scripted', status, reason: `it answered with HTTP ${status}: bad key [key]` },
    });
    expect(requests).toHaveLength(1);
  });

  test('garbage is refused', async () => {
    const { work } = await ask(api, [{ fault: 'garbage' }]);
    await expect(work).rejects.toMatchObject({ code: 'MODEL_REFUSED' });
  });

  test('half a stream says whether a call had begun', async () => {
    const text = await ask(api, [{ fault: 'cut', reply: halfInText }]);
    await expect(text.work).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      data: { cut: 'in-text', reason: expect.stringMatching(/^the connection broke \(\w+\)$/) },
    });
    const call = await ask(api, [{ fault: 'cut', reply: { calls: [{ name: 'echo', arguments: { text: long } }] } }]);
    await expect(call.work).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', data: { cut: 'in-calls' } });
    expect([text.requests.length, call.requests.length]).toEqual([1, 1]);
  });

  test.each(['before', 'within'])('an abort %s the answer rejects with its reason', async (when) => {
    const reply = halfInText;
    const server = await openModelServer([{ fault: 'stall', ...(when === 'within' && { reply }) }]);
    const stop = new AbortController();
    let isBegun = false;
    const work = apis[api](server.url).answer(
      { system: '', messages: [question], tools: [] },
      { signal: stop.signal, onText: () => (isBegun = true) },
    );
    void Promise.allSettled([work]);
    await waitFor(() => expect(when === 'within' ? isBegun : server.requests.length === 1).toBe(true));
    stop.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
  });
});

async function serve(body: string, headers: Record<string, string>, status = 200): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status, headers).end(body));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answerOf = (url: string) =>
  chatCompletionsModel({ model: 'm', url }).answer(
    { system: '', messages: [question], tools: [] },
    { signal: idle(), onText: () => undefined },
  );

test('a server that gives every call the index 0 still makes two calls', async () => {
  const call = (id: string) => ({ index: 0, id, function: { name: 'echo', arguments: `{"text":"${id}"}` } });
  const chunk = { choices: [{ delta: { tool_calls: [call('a'), call('b')] }, finish_reason: 'tool_calls' }] };
  const url = await serve(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
    'content-type': 'text/event-stream',
  });
  expect((await answerOf(url)).calls).toEqual([
    { id: 'a', name: 'echo', arguments: '{"text":"a"}' },
    { id: 'b', name: 'echo', arguments: '{"text":"b"}' },
  ]);
});

test('an endpoint that does not stream is understood', async () => {
  const body = { choices: [{ message: { content: 'whole' }, finish_reason: 'stop' }] };
  expect((await answerOf(await serve(JSON.stringify(body), {}))).text).toBe('whole');
});

test('a redirect is not followed, because the key would go along', async () => {
  const url = await serve('', { location: 'http://127.0.0.1:1/' }, 307);
  await expect(answerOf(url)).rejects.toMatchObject({ code: 'MODEL_REFUSED', data: { status: 307 } });
});

test('an answer without an end is given up, and not asked for again', async () => {
  const chunk = Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: {} }], pad: 'x'.repeat(1024 * 1024) })}\n\n`);
  let isOpen = true;
  let requests = 0;
  const server = createServer((_request, response) => {
    requests++;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.on('close', () => (isOpen = false));
    const go = () => {
      while (isOpen && response.write(chunk));
    };
    response.on('drain', go);
    go();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(answerOf(url)).rejects.toMatchObject({
    code: 'MODEL_REFUSED',
    data: { reason: 'its answer is too large' },
  });
  await waitFor(() => expect(isOpen).toBe(false));
  expect(requests).toBe(1);
});
