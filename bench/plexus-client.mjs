// Owns how users of Plexus open their servers. The library is loaded when the first one is opened.

import { entryOf, stalledEntryOf } from './servers.mjs';

/** All stages of a call: every result is searched for a secret, and a listener may follow the events. */
export async function open(url, isHeard) {
  const token = 'bench-0123456789abcdef';
  const known = url === undefined ? { env: { BENCH_TOKEN: token } } : { headers: { 'X-Bench-Token': token } };
  const mcp = await start({ bench: { ...plexusEntry(0, url), ...known } }, isHeard && { onEvent: () => undefined });
  return {
    tools: mcp.turn().tools,
    call: (args) => mcp.turn().call('mcp__bench__echo', args),
    close: () => mcp.close(),
  };
}

export async function openFleet(count, url) {
  const servers = Array.from({ length: count }, (_, at) => [`bench-${at}`, plexusEntry(at, url)]);
  const mcp = await start(Object.fromEntries(servers));
  return { tools: mcp.turn().tools.length, close: () => mcp.close() };
}

export const load = () => import('plexus');

/** Starts as an interactive agent does: the configuration is in the user's files. */
export async function openConfigured() {
  const { createRuntime } = await load();
  const mcp = await createRuntime({ interactive: true });
  mcp.turn();
  return { tools: mcp.getTools().length, close: () => mcp.close() };
}

/** The same, with that many servers that never answer and are not cached. */
export async function openStalled(count) {
  const { createRuntime } = await load();
  const servers = Array.from({ length: count }, (_, at) => [`stalled-${at}`, stalledEntryOf(at)]);
  const mcp = await createRuntime({ discover: false, interactive: true, servers: Object.fromEntries(servers) });
  mcp.turn();
  return { close: () => mcp.close() };
}

const plexusEntry = (number, url) => (url === undefined ? entryOf(number) : { url, transport: 'http' });

async function start(servers, options) {
  const { createRuntime } = await import('plexus');
  const mcp = await createRuntime({
    ...options,
    discover: false,
    servers,
    permissions: [{ tool: '*', action: 'allow' }],
    startup: { whenUncached: 'wait' },
  });
  await mcp.ready();
  return mcp;
}
