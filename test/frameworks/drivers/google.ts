// Owns driving the package `@google/genai`: its automatic function calling, and a streaming loop of the host's own.

import assert from 'node:assert/strict';
import { type CallableTool, type Content, GoogleGenAI, type Part } from '@google/genai';
import { fleetTool } from '../../../src/adapters/google.ts';
import type { ScriptedStep } from '../../servers/models/script.ts';
import { sentResults, sentTools } from '../../servers/models/sent.ts';
import { startModelServer } from '../../servers/models/server.ts';
import { catalogOf, type Driver, type Situation, type Task } from '../situations.ts';

const model = 'scripted';

const clientOf = ({ url }: Pick<Task, 'url'>) => new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } });

async function automatic(task: Task): Promise<string> {
  const { source, options, prompt, signal } = task;
  const mcp = fleetTool(source, options);
  const config = { tools: [mcp], systemInstruction: mcp.systemPrompt(), abortSignal: signal };
  return (await clientOf(task).models.generateContent({ model, contents: prompt, config })).text ?? '';
}

async function streaming(task: Task): Promise<string> {
  const { source, options, prompt, signal } = task;
  const mcp = fleetTool(source, options);
  const contents: Content[] = [{ role: 'user', parts: [{ text: prompt }] }];
  for (;;) {
    const config = { tools: [await mcp.tool()], systemInstruction: mcp.systemPrompt(), abortSignal: signal };
    const parts: Part[] = [];
    for await (const chunk of await clientOf(task).models.generateContentStream({ model, contents, config }))
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    const calls = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []));
    if (calls.length === 0) return parts.map(({ text = '' }) => text).join('');
    contents.push({ role: 'model', parts }, { role: 'user', parts: await mcp.callTool(calls) });
  }
}

/** Asks the scripted model, with the SDK calling these tools by itself; gives what the model was sent. */
async function ask(script: readonly ScriptedStep[], tools: CallableTool[], { stream = false } = {}) {
  const server = await startModelServer(script);
  const request = { model, contents: 'Do it.', config: { tools } };
  if (stream) for await (const _chunk of await clientOf(server).models.generateContentStream(request));
  else await clientOf(server).models.generateContent(request);
  await server.close();
  return server.requests;
}

const done = { text: 'Done.' };
const adding = { calls: [{ name: 'mcp__desk__add', arguments: { a: 1, b: 1 } }] };

const further: readonly Situation[] = [
  {
    name: 'a stream calls its tools by itself too',
    async check(_driver, { small }) {
      const [, second] = await ask([adding, done], [fleetTool(small)], { stream: true });
      assert.match(second ? (sentResults(second)[0]?.text ?? '') : '', /1 \+ 1 = 2/);
    },
  },
  {
    name: 'the next run declares a tool that came in between',
    async check(_driver, { small }) {
      const late = 'mcp__desk__late';
      const mcp = fleetTool(small);
      const offers = async () => (await ask([done], [mcp])).flatMap(sentTools).some(({ name }) => name === late);
      await small.reconnect('desk');
      assert.equal(await offers(), false);
      await small.turn().call('mcp__desk__grow');
      await catalogOf(small, (names) => names.includes(late));
      assert.equal(await offers(), true);
    },
  },
  {
    name: 'beside another callable tool each call has one result',
    async check(_driver, { small }) {
      const own: CallableTool = {
        tool: async () => ({ functionDeclarations: [{ name: 'roll' }] }),
        callTool: async (calls) =>
          calls
            .filter(({ name }) => name === 'roll')
            .map(() => ({ functionResponse: { name: 'roll', response: { output: 'four' } } })),
      };
      const both = { calls: [...adding.calls, { name: 'roll' }] };
      const [, second] = await ask([both, done], [fleetTool(small, { standsBesideOthers: true }), own]);
      const results = second ? sentResults(second) : [];
      assert.equal(results.length, 2);
      assert.match(results[0]?.text ?? '', /1 \+ 1 = 2/);
      assert.match(results[1]?.text ?? '', /four/);
    },
  },
];

export async function openDrivers(): Promise<Readonly<Record<string, Driver>>> {
  return {
    'automatic function calling': { run: automatic, keepsTools: true, further },
    'a streaming loop': { run: streaming, callsFoundByName: false },
  };
}
