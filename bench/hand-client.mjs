// Owns the limit: the least that can be done over the same pipes. Newline framing, ids, JSON, one write a tick –
// no checks, no timeouts, no errors. Not for use: it marks the speed that no client can beat by much.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { entryOf, inTurn } from './servers.mjs';

export async function open() {
  const { tools, call, close } = await openOne(0);
  return { tools, call: (args) => call('echo', args), close };
}

export async function openFleet(count) {
  const opened = await inTurn(count, openOne);
  return {
    tools: opened.reduce((sum, { tools }) => sum + tools.length, 0),
    close: () => Promise.all(opened.map(({ close }) => close())),
  };
}

async function openOne(number, answered) {
  const { request, send, close } = connect(entryOf(number));
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  });
  answered?.();
  send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const { tools } = await request('tools/list');
  return { tools, call: (name, args) => request('tools/call', { name, arguments: args }), close };
}

/** In a session of its own, as Plexus starts its servers: Linux shares out the processors by these. */
function connect({ command, args }) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const pending = new Map();
  let nextId = 0;
  let outgoing = '';
  let pieces = [];

  const flush = () => {
    child.stdin.write(outgoing);
    outgoing = '';
  };
  const send = (message) => {
    if (outgoing === '') process.nextTick(flush);
    outgoing += `${JSON.stringify(message)}\n`;
  };
  const request = (method, params) =>
    new Promise((resolve) => {
      const id = nextId++;
      pending.set(id, resolve);
      send({ jsonrpc: '2.0', id, method, params });
    });
  const settle = ({ id, result }) => {
    pending.get(id)(result);
    pending.delete(id);
  };
  child.stdout.on('data', (chunk) => {
    const last = chunk.lastIndexOf(0x0a);
    if (last === -1) {
      pieces.push(chunk);
      return;
    }
    pieces.push(chunk.subarray(0, last));
    const lines = Buffer.concat(pieces).toString('utf8');
    pieces = last + 1 < chunk.length ? [chunk.subarray(last + 1)] : [];
    for (const line of lines.split('\n')) settle(JSON.parse(line));
  });

  return {
    request,
    send,
    async close() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
