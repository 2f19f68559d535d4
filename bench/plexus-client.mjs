// Owns how users of Plexus open their servers, with every stage of a call: results are searched for signals and for a known secret.

import { createRuntime } from 'plexus';

const TOKEN = 'bench-0123456789abcdef';

export async function open(servers, awaited) {
  const mcp = await createRuntime({
    discover: false,
    servers: Object.fromEntries(Object.entries(servers).map(([name, entry]) => [name, withSecret(entry)])),
    permissions: [{ tool: '*', action: 'allow' }],
    startup: { whenUncached: 'background', gateMs: 0 },
  });
  await mcp.ready({ servers: awaited, orThrow: true });
  const name = `mcp__${awaited[0]}__echo`;
  return {
    tools: mcp.getTools().length,
    call: async (args) => (await mcp.turn().call(name, args)).content[0].text,
    close: () => mcp.close(),
  };
}

const withSecret = (entry) =>
  entry.url === undefined
    ? { ...entry, env: { BENCH_TOKEN: TOKEN } }
    : { ...entry, transport: 'http', headers: { 'X-Bench-Token': TOKEN } };

/** Starts as an interactive agent does: the configuration is in the user's files. */
export async function openConfigured() {
  const mcp = await createRuntime({ interactive: true });
  mcp.turn();
  return { tools: mcp.getTools().length, close: () => mcp.close() };
}

/** The same, with servers that never answer and are not cached. */
export async function openStalled(servers) {
  const mcp = await createRuntime({ discover: false, interactive: true, servers });
  mcp.turn();
  return { close: () => mcp.close() };
}
