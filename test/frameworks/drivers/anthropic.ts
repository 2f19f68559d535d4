// Owns driving the package `@anthropic-ai/sdk`: a loop of the host's own, and the SDK's tool runner, with and without streaming.

import assert from 'node:assert/strict';
import { Anthropic } from '@anthropic-ai/sdk';
import { messagesTools, runnerTools } from '../../../src/adapters/anthropic.ts';
import { isObject } from '../../../src/kernel/json.ts';
import { sentResults } from '../../servers/models/sent.ts';
import { startModelServer } from '../../servers/models/server.ts';
import { loop as ask, type Driver, logOf, type Situation, type Task } from '../situations.ts';

const common = { model: 'scripted', max_tokens: 1000 };

const clientOf = ({ url }: Pick<Task, 'url'>) => new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 });

const textOf = ({ content }: { readonly content: readonly { readonly type: string; readonly text?: string }[] }) =>
  content.map(({ text = '' }) => text).join('');

async function loop(task: Task, stream: boolean): Promise<string> {
  const { source, prompt, signal } = task;
  // What the framework passes to each call has to suffice.
  const { signal: _signal, ...options } = task.options;
  const client = clientOf(task);
  const mcp = messagesTools(source, options);
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: prompt }];
  for (;;) {
    const request = { ...common, messages, system: mcp.systemPrompt(), tools: mcp.tools() };
    const message = stream
      ? await client.messages.stream(request, { signal }).finalMessage()
      : await client.messages.create(request, { signal });
    const results = await mcp.run(message.content, { signal });
    if (results.length === 0) return textOf(message);
    messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results });
  }
}

async function runner(task: Task, stream: boolean): Promise<string> {
  const { source, prompt, signal } = task;
  const { signal: _signal, ...options } = task.options;
  const mcp = runnerTools(source, options);
  const messages = [{ role: 'user' as const, content: prompt }];
  const request = { ...common, messages, system: mcp.systemPrompt(), tools: mcp.tools(), thread: false as const };
  return textOf(
    await clientOf(task)
      .beta.messages.toolRunner({ ...request, stream }, { signal })
      .runUntilDone(),
  );
}

const throws: Situation = {
  name: 'a listener that throws changes nothing for the loop, and is told to the host',
  async check(driver, { small }) {
    const aborting = new AbortController();
    const problem = new Error('the listener is broken');
    const onProgress = () => {
      aborting.abort();
      throw problem;
    };
    await logOf(small);
    const waiting = { calls: [{ name: 'mcp__desk__wait' }] };
    await assert.rejects(ask(driver, small, [waiting], { aborting, onProgress }), /abort/i);
    assert.match(await logOf(small), /cancelled:wait/);
    assert.ok(small.errors.some((error) => String(error).includes(problem.message)));
  },
};

const streams: Situation = {
  name: 'streams each reply over a thread of the API, and tells a failure as one',
  async check(_driver, { small }) {
    const failing = { text: 'Let me print.', calls: [{ name: 'mcp__desk__fail' }] };
    const model = await startModelServer([failing, { text: 'No paper.' }]);
    const mcp = runnerTools(small);
    const texts: string[] = [];
    const runner = clientOf(model).beta.messages.toolRunner({
      ...common,
      messages: [{ role: 'user', content: 'Print it.' }],
      tools: mcp.tools(),
      stream: true,
    });
    for await (const stream of runner) {
      stream.on('text', (piece) => texts.push(piece));
      await stream.finalMessage();
    }
    await model.close();
    assert.deepEqual(texts, ['Let me ', 'print.', 'No pa', 'per.']);
    const [, second] = model.requests;
    assert.ok(second && isObject(second.body['thread']));
    assert.equal(second.body['thread']['type'], 'continue');
    assert.match(sentResults(second)[0]?.text ?? '', /out of paper/);
    assert.match(JSON.stringify(second.body['messages']), /"is_error":true/);
  },
};

export async function openDrivers(): Promise<Readonly<Record<string, Driver>>> {
  const ofRunner = { keepsTools: true, unknownTool: /not found/ };
  // Of a stream the SDK reads what is whole in the arguments.
  const badArguments = /"b" is missing/;
  return {
    messages: { run: (task) => loop(task, false), further: [throws] },
    'messages, streaming': { run: (task) => loop(task, true), badArguments },
    'tool runner': { run: (task) => runner(task, false), ...ofRunner },
    'tool runner, streaming': { run: (task) => runner(task, true), ...ofRunner, badArguments, further: [streams] },
  };
}
