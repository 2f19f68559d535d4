// Owns driving the package `@openai/agents`: the fleet as an MCP server, with and without streaming, and as function tools whose
// questions all are answered with no.

import assert from 'node:assert/strict';
import { Agent, OpenAIProvider, Runner } from '@openai/agents';
import { agentsServer, agentsTools } from '../../../src/adapters/openai-agents.ts';
import { sentResults } from '../../servers/models/sent.ts';
import { startModelServer } from '../../servers/models/server.ts';
import { catalogOf, type Driver, logOf, type Situation, type Task } from '../situations.ts';

const name = 'Ada';
const model = 'scripted';

const runnerOf = ({ url }: Pick<Task, 'url'>) =>
  new Runner({
    modelProvider: new OpenAIProvider({ baseURL: `${url}/v1`, apiKey: 'none', useResponses: true }),
    tracingDisabled: true,
    toolNotFoundBehavior: 'return_error_to_model',
  });

async function server(task: Task, stream: boolean): Promise<string> {
  const { source, prompt, signal } = task;
  // What the framework passes to each call has to suffice.
  const { signal: _signal, ...options } = task.options;
  const mcp = agentsServer(source, options);
  const agent = new Agent({ name, model, instructions: () => mcp.systemPrompt(), mcpServers: [mcp] });
  if (!stream) return (await runnerOf(task).run(agent, prompt, { signal })).finalOutput ?? '';
  const result = await runnerOf(task).run(agent, prompt, { signal, stream });
  await result.completed;
  return result.finalOutput ?? '';
}

async function functionTools(task: Task): Promise<string> {
  const { source, prompt, signal } = task;
  const { approve: _approve, signal: _signal, ...options } = task.options;
  const mcp = agentsTools(source, options);
  const agent = new Agent({ name, model, instructions: mcp.systemPrompt(), tools: mcp.tools() });
  const runner = runnerOf(task);
  let result = await runner.run(agent, prompt, { signal });
  while (result.interruptions.length > 0) {
    for (const question of result.interruptions) result.state.reject(question);
    result = await runner.run(agent, result.state, { signal });
  }
  return result.finalOutput ?? '';
}

const lists: Situation = {
  name: 'the list is kept until the tools change',
  async check(_driver, { small }) {
    const late = 'mcp__desk__late';
    await small.reconnect('desk');
    const mcp = agentsServer(small);
    const given: (readonly object[])[] = [];
    const watched = {
      ...mcp,
      listTools: async () => {
        const tools = await mcp.listTools();
        given.push(tools);
        return tools;
      },
    };
    const grown = async () => {
      await catalogOf(small, (names) => names.includes(late));
      return { calls: [{ name: late }] };
    };
    const growing = { calls: [{ name: 'mcp__desk__grow' }] };
    const server = await startModelServer([
      { calls: [{ name: 'mcp__desk__chart' }] },
      growing,
      grown,
      { text: 'Done.' },
    ]);
    const agent = new Agent({ name, model, mcpServers: [watched] });
    const { finalOutput } = await runnerOf(server).run(agent, 'Do it.');
    await server.close();
    assert.equal(finalOutput, 'Done.');
    const [first = [], second = [], , last = []] = given;
    assert.ok(first.length > 0 && first.every((tool, at) => tool === second[at]));
    assert.deepEqual([first.length, last.length], [second.length, first.length + 1]);
  },
};

const approves: Situation = {
  name: 'an approval that is given counts for its call alone',
  async check(_driver, { small }) {
    const removing = { calls: [{ name: 'mcp__desk__remove', arguments: { path: 'a' } }] };
    const server = await startModelServer([removing, removing, { text: 'Done.' }]);
    // The view says no: only the framework's approval can have allowed the call.
    const mcp = agentsTools(small.view({ approve: async () => 'no' }));
    const agent = new Agent({ name, model, tools: mcp.tools() });
    await logOf(small);
    let result = await runnerOf(server).run(agent, 'Do it.');
    let questions = 0;
    while (result.interruptions.length > 0) {
      questions += result.interruptions.length;
      for (const question of result.interruptions) result.state.approve(question);
      result = await runnerOf(server).run(agent, result.state);
    }
    await server.close();
    assert.equal(questions, 2);
    assert.match(await logOf(small), /remove remove/);
    const last = server.requests.at(-1);
    assert.deepEqual(
      (last ? sentResults(last) : []).map(({ text }) => /removed/.test(text)),
      [true, true],
    );
  },
};

const sticks: Situation = {
  name: 'a yes to every `mcp_call` is none to the tools that are called with it',
  async check(_driver, { large }) {
    const removing = { name: 'mcp_call', arguments: { name: 'mcp__archive__remove', arguments: { path: 'a' } } };
    const server = await startModelServer([{ calls: [removing] }, { calls: [removing] }, { text: 'Done.' }]);
    // The view says no, and its answer has to count.
    const mcp = agentsTools(large.view({ approve: async () => 'no' }));
    const agent = new Agent({ name, model, tools: mcp.tools() });
    let result = await runnerOf(server).run(agent, 'Do it.');
    for (const question of result.interruptions) result.state.approve(question, { alwaysApprove: true });
    result = await runnerOf(server).run(agent, result.state);
    await server.close();
    assert.equal(result.finalOutput, 'Done.');
    const last = server.requests.at(-1);
    assert.deepEqual(
      (last ? sentResults(last) : []).map(({ text }) => /APPROVAL_REFUSED/.test(text)),
      [true, true],
    );
  },
};

export async function openDrivers(): Promise<Readonly<Record<string, Driver>>> {
  const ofSdk = { unknownTool: /not found/, badArguments: /parsing tool arguments/ };
  return {
    'an MCP server': { run: (task) => server(task, false), ...ofSdk, further: [lists] },
    'an MCP server, streaming': { run: (task) => server(task, true), ...ofSdk },
    'function tools': {
      run: functionTools,
      unknownTool: /not found/,
      keepsTools: true,
      refusal: /not approved/,
      // The SDK asks about arguments that it cannot read.
      badArguments: /not approved/,
      further: [approves, sticks],
    },
  };
}
