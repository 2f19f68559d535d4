// Owns a pass-through written by hand: HTTP on one side, one server's pipes on the other, ids rewritten, and nothing else. What a gateway
// cannot do without, and so the yardstick: `hand-gateway.mjs PORT COMMAND ARGS…`.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const [, , port, command, ...args] = process.argv;
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
let lastId = 0;
let unfinished = '';

child.stdout.setEncoding('utf8').on('data', (chunk) => {
  const lines = (unfinished + chunk).split('\n');
  unfinished = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    const answer = waiting.get(message.id);
    waiting.delete(message.id);
    answer?.(message);
  }
});

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const message = JSON.parse(Buffer.concat(chunks).toString());
    if (message.id === undefined) {
      child.stdin.write(`${JSON.stringify(message)}\n`);
      response.writeHead(202).end();
      return;
    }
    const id = ++lastId;
    waiting.set(id, (answer) => {
      const body = JSON.stringify({ ...answer, id: message.id });
      const session = message.method === 'initialize' ? { 'mcp-session-id': randomUUID() } : {};
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...session };
      response.writeHead(200, headers).end(body);
    });
    child.stdin.write(`${JSON.stringify({ ...message, id })}\n`);
  });
}).listen(Number(port), '127.0.0.1');
