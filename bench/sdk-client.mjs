// Owns how users of the bare SDK open their servers. The library is loaded when the first one is opened.

import { entryOf, inTurn } from './servers.mjs';

export async function open(url) {
  const { client, tools } = await openOne(0, url);
  return {
    tools,
    call: (args) => client.callTool({ name: 'echo', arguments: args }),
    close: () => client.close(),
  };
}

export async function openFleet(count, url) {
  const opened = await inTurn(count, async (number, answered) => {
    const one = await openOne(number, url);
    answered();
    return one;
  });
  return fleetOf(opened);
}

function fleetOf(opened) {
  return {
    tools: opened.reduce((sum, { tools }) => sum + tools.length, 0),
    close: () => Promise.all(opened.map(({ client }) => client.close())),
  };
}

export async function load() {
  await Promise.all([import('@modelcontextprotocol/client'), import('@modelcontextprotocol/client/stdio')]);
}

/** All at once, as one writes it by hand. */
export async function openConfigured({ servers, toolsOfEach }) {
  const opened = await Promise.all(Array.from({ length: servers }, (_, at) => openOne(at, undefined, toolsOfEach)));
  return fleetOf(opened);
}

async function openOne(number, url, toolsOfEach) {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'bench', version: '1.0.0' });
  const overHttp = () => new StreamableHTTPClientTransport(new URL(url));
  await client.connect(url === undefined ? await overPipes(number, toolsOfEach) : overHttp());
  const { tools } = await client.listTools();
  return { client, tools };
}

async function overPipes(number, toolsOfEach) {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  return new StdioClientTransport(entryOf(number, toolsOfEach));
}
