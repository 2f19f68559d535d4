// Owns the pipes of the hand-written client.

import { spawn } from 'node:child_process';

export function connect({ command, args }) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
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
    request: (method, params) =>
      new Promise((resolve) => {
        const id = nextId++;
        pending.set(id, resolve);
        send({ jsonrpc: '2.0', id, method, params });
      }),
    notify: (method) => send({ jsonrpc: '2.0', method }),
    close() {
      child.stdin.end();
      return exited;
    },
  };
}
