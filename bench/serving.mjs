// Owns the load on a served echo: so many calls of the modern era in flight over kept connections, written by hand so that the
// client costs as little as can be, and what they took: calls per second, the server's processor time a call, and its memory.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('./serving-server.mjs', import.meta.url));
const IN_FLIGHT = 32;
const contestants = ['plexus', 'hand', 'sdk2'];

/**
 * Round by round, each contestant in a fresh process. `calls`: how many are measured, after half as many to warm up: with fewer
 * the compiler is still at work. The SDK's handler is slow enough to be warm after a quarter of them.
 */
export async function measureServing({ rounds, signal, calls = 24_000 }) {
  const samples = { rate: {}, cpu: {}, memory: {} };
  for (let round = 0; round < rounds; round++)
    for (const name of contestants) {
      signal.throwIfAborted();
      const found = await loadOnce(name, name === 'sdk2' ? calls / 4 : calls, signal);
      for (const [kind, value] of Object.entries(found)) {
        samples[kind][name] ??= [];
        samples[kind][name].push(value);
      }
    }
  return samples;
}

async function loadOnce(name, calls, signal) {
  const child = fork(program, [name], { signal });
  try {
    const [port] = await once(child, 'message');
    await load(port, calls / 2);
    const before = await usageOf(child);
    const begun = performance.now();
    await load(port, calls);
    const tookMs = performance.now() - begun;
    const after = await usageOf(child);
    return {
      rate: (calls / tookMs) * 1_000,
      cpu: (after.cpuMicros - before.cpuMicros) / calls,
      memory: after.memoryMb,
    };
  } finally {
    child.disconnect();
  }
}

async function usageOf(child) {
  child.send('usage');
  const [usage] = await once(child, 'message');
  return usage;
}

function load(port, calls) {
  let left = calls;
  const takeTurn = () => left-- > 0;
  return Promise.all(Array.from({ length: IN_FLIGHT }, () => callOn(port, takeTurn)));
}

/** Calls one after the other on one connection, as long as there is a turn. */
function callOn(port, takeTurn) {
  const request = requestTo(port);
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    let text = '';
    const next = () => {
      if (takeTurn()) socket.write(request);
      else socket.end(resolve);
    };
    socket.on('connect', next).on('error', reject);
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
      if (!isComplete(text)) return;
      if (!text.startsWith('HTTP/1.1 200') || !text.includes('"hello"')) reject(new Error(`not an echo: ${text}`));
      text = '';
      next();
    });
  });
}

function requestTo(port) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  };
  const params = { name: 'echo', arguments: { text: 'hello' }, _meta: meta };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const head = [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2026-07-28',
    'Mcp-Method: tools/call',
    'Mcp-Name: echo',
    `Content-Length: ${body.length}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function isComplete(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const [, length] = /content-length: (\d+)/i.exec(text) ?? [];
  return length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= end + 4 + Number(length);
}
