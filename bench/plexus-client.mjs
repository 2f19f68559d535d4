// Owns how users of Plexus open their servers. The library is loaded when the first one is opened.

import { entryOf } from './servers.mjs';

export async function open(url) {
  const mcp = await start({ bench: plexusEntry(0, url) });
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

const plexusEntry = (number, url) => (url === undefined ? entryOf(number) : { url, transport: 'http' });

async function start(servers) {
  const { createRuntime } = await import('plexus');
  const mcp = await createRuntime({
    discover: false,
    servers,
    permissions: [{ tool: '*', action: 'allow' }],
    startup: { whenUncached: 'wait' },
  });
  await mcp.ready();
  return mcp;
}
