// Owns how users of mcporter open their servers.

import { createRuntime } from 'mcporter';
import { openEach } from '../open-each.mjs';

export async function open(servers, awaited) {
  const definitions = Object.entries(servers).map(([name, entry]) => ({ name, command: commandOf(entry) }));
  const runtime = await createRuntime({ servers: definitions });
  const openOne = async (_, name) => ({
    tools: (await runtime.listTools(name)).length,
    call: async (args) => (await runtime.callTool(name, 'echo', { args })).content[0].text,
    close: () => runtime.close(name),
  });
  return openEach(openOne, servers, awaited);
}

const commandOf = ({ url, command, args }) =>
  url === undefined ? { kind: 'stdio', command, args, cwd: process.cwd() } : { kind: 'http', url: new URL(url) };
