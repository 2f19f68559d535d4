// Owns a fleet with ten thousand tools inside this process, and its changes: a server that lists the same tools in other words.

import { createRuntime } from 'plexus';
import { ordinaryTools } from './ordinary-tools.mjs';

const TOOLS = 10_000;
const LARGE = 1_245;
const SMALL = 40;

const CHANGES = 11;
const TURNS = 10_000;

export async function measure() {
  const { small, ...large } = createServers();
  const from = performance.now();
  const mcp = await createRuntime({
    discover: false,
    servers: Object.fromEntries(Object.entries({ small, ...large }).map(([name, { serve }]) => [name, { serve }])),
    startup: { whenUncached: 'wait' },
  });
  mcp.turn();
  const firstMs = performance.now() - from;
  if (mcp.getTools().length !== TOOLS) throw new Error(`expected ${TOOLS} tools, not ${mcp.getTools().length}`);
  // Compilers and heaps come to rest first.
  await changes(mcp, { small });
  const [smallMs, nextTurnMs] = await changes(mcp, { small });
  const [largeMs] = await changes(mcp, large);
  const turned = performance.now();
  for (let time = 0; time < TURNS; time += 1) mcp.turn();
  const turnMicros = ((performance.now() - turned) * 1_000) / TURNS;
  await mcp.close();
  return { firstMs, smallMs, nextTurnMs, largeMs, turnMicros };
}

/** The medians of several changes, and of the turns after them. */
async function changes(mcp, among) {
  const taken = [];
  for (let time = 0; time < CHANGES; time += 1) taken.push(await change(mcp, among));
  return ['changedMs', 'turnMs'].map(
    (field) => taken.map((each) => each[field]).toSorted((a, b) => a - b)[CHANGES >> 1],
  );
}

/** Eight large ones and a small one. */
function createServers() {
  const large = Array.from({ length: (TOOLS - SMALL) / LARGE }, (_, at) => [`large-${at}`, createServer(LARGE)]);
  return { small: createServer(SMALL), ...Object.fromEntries(large) };
}

/** Its list is text until it is asked for: each time it comes anew, as from a wire. */
function createServer(tools) {
  let edition = 1;
  let list = JSON.stringify({ tools: ordinaryTools(tools, { edition }) });
  const results = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'large', version: '1.0.0' },
    }),
    'tools/list': () => JSON.parse(list),
  };
  return {
    edit() {
      edition += 1;
      list = JSON.stringify({ tools: ordinaryTools(tools, { edition }) });
    },
    async serve(channel) {
      channel.onmessage = ({ id, method, params }) => {
        if (id === undefined) return;
        const result = results[method]?.(params);
        const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
        void channel.send({ jsonrpc: '2.0', id, ...answer });
      };
      await channel.start();
    },
  };
}

/** From asking one server for its list, all of it other than before, to the catalog that has it; and the turn after that. */
async function change(mcp, among) {
  const [[name, server]] = Object.entries(among);
  const tools = mcp.getTools();
  server.edit();
  const from = performance.now();
  await mcp.refreshTools(name);
  const changedMs = performance.now() - from;
  if (mcp.getTools() === tools) throw new Error('the catalog has not changed');
  const changed = performance.now();
  mcp.turn();
  const turnMs = performance.now() - changed;
  return { changedMs, turnMs };
}
