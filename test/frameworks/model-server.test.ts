// Owns the proof that the scripted model server speaks its four APIs as the real clients read them, and fails in every way it should.

import { expect, onTestFinished, test } from 'vitest';
import type { ScriptedStep } from '../servers/models/script.ts';
import { type ModelServer, startModelServer } from '../servers/models/server.ts';
import { describeInstalled } from './installed.ts';

async function serve(...script: readonly ScriptedStep[]): Promise<ModelServer> {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  return server;
}

const reply: ScriptedStep = {
  text: 'Let me look.',
  calls: [
    { name: 'read', arguments: { path: 'a' } },
    { name: 'list', arguments: {} },
  ],
  usage: { input: 7, output: 3 },
};
const read = {
  text: 'Let me look.',
  calls: [
    { id: 'call_1', name: 'read', arguments: { path: 'a' } },
    { id: 'call_2', name: 'list', arguments: {} },
  ],
  usage: [7, 3],
};
const base = { model: 'scripted', apiKey: 'none' };

describeInstalled('a real client reads', () => {
  test.each([false, true])('chat completions, streaming: %s', async (stream) => {
    const { OpenAI } = await import('openai-6');
    const { url } = await serve(reply);
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: base.apiKey, maxRetries: 0 });
    const request = { model: base.model, messages: [{ role: 'user' as const, content: 'Hi' }] };
    const answer = stream
      ? await client.chat.completions
          .stream({ ...request, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await client.chat.completions.create(request);
    const { message, finish_reason } = answer.choices[0] ?? expect.fail('no choice');
    expect(finish_reason).toBe('tool_calls');
    expect({
      text: message.content,
      calls: message.tool_calls?.map((call) => {
        if (call.type !== 'function') return expect.fail('no function');
        return { id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) };
      }),
      usage: [answer.usage?.prompt_tokens, answer.usage?.completion_tokens],
    }).toEqual(read);
  });

  test.each([false, true])('responses, streaming: %s', async (stream) => {
    const { OpenAI } = await import('openai-6');
    const { url } = await serve(reply);
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: base.apiKey, maxRetries: 0 });
    const request = { model: base.model, input: 'Hi' };
    const answer = stream
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    const calls = answer.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) }]
        : [],
    );
    const usage = [answer.usage?.input_tokens, answer.usage?.output_tokens];
    expect({ text: answer.output_text, calls, usage }).toEqual(read);
  });

  test.each([false, true])('messages, streaming: %s', async (stream) => {
    const { Anthropic } = await import('@anthropic-ai/sdk');
    const { url } = await serve(reply);
    const client = new Anthropic({ baseURL: url, apiKey: base.apiKey, maxRetries: 0 });
    const request = { model: base.model, max_tokens: 10, messages: [{ role: 'user' as const, content: 'Hi' }] };
    const answer = stream
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request);
    const text = answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
    const calls = answer.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, arguments: block.input }] : [],
    );
    expect({ text, calls, usage: [answer.usage.input_tokens, answer.usage.output_tokens] }).toEqual(read);
  });

  test.each([false, true])('generateContent, streaming: %s', async (stream) => {
    const { GoogleGenAI } = await import('@google/genai');
    const { url } = await serve(reply);
    const client = new GoogleGenAI({ apiKey: base.apiKey, httpOptions: { baseUrl: url } });
    const request = { model: base.model, contents: 'Hi' };
    const chunks = [];
    if (stream) for await (const chunk of await client.models.generateContentStream(request)) chunks.push(chunk);
    else chunks.push(await client.models.generateContent(request));
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    const calls = parts.flatMap(({ functionCall: call }) =>
      call ? [{ id: call.id, name: call.name, arguments: call.args }] : [],
    );
    const counts = chunks.at(-1)?.usageMetadata;
    const usage = [counts?.promptTokenCount, counts?.candidatesTokenCount];
    expect({ text: parts.map(({ text = '' }) => text).join(''), calls, usage }).toEqual(read);
  });
});

const post = (url: string, path = '/v1/chat/completions', body: object = {}, signal?: AbortSignal) =>
  fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) });

test('a status is worded as the API does, with the time to wait', async () => {
  const { url } = await serve(
    { fault: 'status', status: 429, retryAfterSec: 2 },
    { fault: 'status', status: 401, message: 'no key' },
    { fault: 'status', status: 500 },
  );
  const limited = await post(url);
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '2']);
  expect(await (await post(url, '/v1/messages')).json()).toEqual({
    type: 'error',
    error: { type: 'authentication_error', message: 'no key' },
  });
  const broken = await post(url, '/v1beta/models/scripted:generateContent');
  expect(await broken.json()).toMatchObject({ error: { code: 500, status: 'INTERNAL' } });
  const over = await post(url);
  expect([over.status, await over.text()]).toEqual([500, expect.stringContaining('the script ends after 3 steps')]);
});

test('messages refuse an image in a result that is an error, as the API does, and the script does not go on', async () => {
  const { url } = await serve({ text: 'Fine.' });
  const parts = [{ type: 'text', text: 'no' }, { type: 'image' }];
  const send = (is_error: boolean, content: object[]) =>
    post(url, '/v1/messages', {
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content, is_error }] }],
    });
  const refused = await send(true, parts);
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { type: 'invalid_request_error' } }]);
  expect((await send(false, parts)).status).toBe(200);
});

test('OpenAI and Google refuse a request with more tools than they take', async () => {
  const { url } = await serve({ text: 'Fine.' }, { text: 'Fine.' }, { text: 'Fine.' });
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `tool_${at}` }));
  const statuses = (path: string, ...bodies: readonly object[]) =>
    Promise.all(bodies.map(async (body) => (await post(url, path, body)).status));
  const ofOpenAI = [{ tools: many(129) }, { tools: many(128) }];
  const ofGoogle = [513, 512].map((count) => ({ tools: [{ functionDeclarations: many(count) }] }));
  expect(await statuses('/v1/chat/completions', ...ofOpenAI)).toEqual([400, 200]);
  expect(await statuses('/v1/responses', ...ofOpenAI)).toEqual([400, 200]);
  expect(await statuses('/v1beta/models/scripted:generateContent', ...ofGoogle)).toEqual([400, 200]);
});

test('an answer is garbage, ends in the middle, or stops in the middle until the client goes', async () => {
  const { url, requests } = await serve(
    { fault: 'garbage' },
    { fault: 'cut', reply: { text: 'never whole' } },
    { fault: 'stall', reply: { text: 'never whole' } },
  );
  expect(await (await post(url)).text()).toBe('<html>not what was asked for');
  const cut = await post(url, undefined, { stream: true });
  await expect(cut.text()).rejects.toThrow();
  const client = new AbortController();
  const stalled = await post(url, undefined, { stream: true, marked: 'stalled' }, client.signal);
  const reader = stalled.body?.getReader() ?? expect.fail('no body');
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('data: {');
  client.abort();
  await expect(reader.read()).rejects.toThrow();
  expect(requests.at(-1)).toMatchObject({ api: 'chat-completions', body: { marked: 'stalled' } });
});

test('models are listed', async () => {
  const { url } = await serve();
  expect(await (await fetch(`${url}/v1/models`)).json()).toMatchObject({ data: [{ id: 'scripted' }] });
});
