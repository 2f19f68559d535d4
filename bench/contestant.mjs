// Owns one contestant in a process of its own, so that its CPU time is nobody else's: `contestant.mjs plexus|sdk|hand`.
// Does what the parent asks for, one job after the other, and goes when the parent is gone.

import { fileURLToPath } from 'node:url';
import { openHandWritten } from './hand-written.mjs';

const server = { command: process.execPath, args: [fileURLToPath(new URL('./echo-server.mjs', import.meta.url))] };

/** Each opens the way its users do, from the import to the first listed tool. */
const open = {
  async plexus() {
    const { createRuntime } = await import('plexus');
    const mcp = await createRuntime({
      discover: false,
      servers: { bench: server },
      permissions: [{ tool: 'mcp__bench__*', action: 'allow' }],
      startup: { whenUncached: 'wait' },
    });
    await mcp.ready();
    return {
      tools: mcp.turn().tools,
      call: (args) => mcp.turn().call('mcp__bench__echo', args),
      close: () => mcp.close(),
    };
  },

  async sdk() {
    const [{ Client }, { StdioClientTransport }] = await Promise.all([
      import('@modelcontextprotocol/client'),
      import('@modelcontextprotocol/client/stdio'),
    ]);
    const client = new Client({ name: 'bench', version: '1.0.0' });
    await client.connect(new StdioClientTransport(server));
    const { tools } = await client.listTools();
    return {
      tools,
      call: (args) => client.callTool({ name: 'echo', arguments: args }),
      close: () => client.close(),
    };
  },

  async hand() {
    const { tools, call, close } = await openHandWritten(server.command, server.args);
    return { tools, call: (args) => call('echo', args), close };
  },
}[process.argv[2]];

let opened;

const jobs = {
  async open() {
    const from = performance.now();
    opened = await open();
    const tookMs = performance.now() - from;
    if (opened.tools.length !== 1) throw new Error(`expected one tool, not ${opened.tools.length}`);
    return { tookMs };
  },

  async close() {
    await opened.close();
    return {};
  },

  /** Keeps so many calls in flight for so long. */
  async call({ size, inFlight, forMs }) {
    let calls = 0;
    const cpu = process.cpuUsage();
    const from = performance.now();
    const callOn = async () => {
      while (performance.now() - from < forMs) {
        const { content } = await opened.call({ text: 'how do you do?', size });
        if (content[0].text.length !== size) throw new Error('the answer has the wrong size');
        calls += 1;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, callOn));
    const seconds = (performance.now() - from) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    return { perSecond: calls / seconds, cpuMicros: (user + system) / calls };
  },
};

process.once('disconnect', () => process.exit());
process.on('message', async ({ job, ...options }) => process.send(await jobs[job](options)));
