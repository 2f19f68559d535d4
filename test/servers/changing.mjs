// Owns a real server that is whatever a file says at the moment: which tools it has, what it says about itself, whether it answers.
// `node changing.mjs FILE`; the file holds { tools, instructions?, capabilities?, stalls?, delayMs?, result? }.

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file] = process.argv.slice(2);
const present = () => JSON.parse(readFileSync(file, 'utf8'));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const methods = {
  initialize: ({ capabilities = { tools: {} }, instructions }) => ({
    protocolVersion: '2025-11-25',
    capabilities,
    serverInfo: { name: 'changing', version: '1' },
    instructions,
  }),
  'tools/list': ({ tools, list = {} }) => ({ tools, ...list }),
  'tools/call': ({ result }, { name }) => result ?? { content: [{ type: 'text', text: `called ${name}` }] },
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  const now = present();
  if (now.stalls) return;
  if (now.delayMs) await new Promise((resolve) => setTimeout(resolve, now.delayMs));
  if (method === 'tools/call' && params.name === 'announce') send({ method: 'notifications/tools/list_changed' });
  if (id === undefined) return;
  const answer = methods[method];
  send(answer ? { id, result: answer(now, params) } : { id, error: { code: -32601, message: 'Method not found' } });
});
