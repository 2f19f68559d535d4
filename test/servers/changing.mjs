// Owns a real server that is whatever a file says at the moment: which tools it has, what it says about itself, whether it answers.
// `node changing.mjs FILE`; the file holds { tools, instructions?, capabilities?, stalls?, delayMs?, result?, echoes?,
// toolsWith?, asks? }. With `echoes` the text of a result is the arguments of its call.
// `toolsWith` holds further tools by the client capability they need. With `asks` the server sends a request of each kind once it is
// initialized, lists its tools only when all are answered, and writes the answers to FILE.answers.

import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file] = process.argv.slice(2);
const present = () => JSON.parse(readFileSync(file, 'utf8'));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

let offered = {};
const requests = {
  elicitation: ['elicitation/create', { message: 'Who?', requestedSchema: { type: 'object', properties: {} } }],
  sampling: ['sampling/createMessage', { messages: [], maxTokens: 1 }],
  roots: ['roots/list', {}],
};
const answers = {};
let answered = () => undefined;
const allAnswered = new Promise((resolve) => {
  answered = resolve;
});

function ask() {
  for (const [kind, [method, params]] of Object.entries(requests)) send({ id: kind, method, params });
}

function keep({ id, result, error }) {
  answers[id] = error ?? result;
  if (Object.keys(answers).length < Object.keys(requests).length) return;
  writeFileSync(`${file}.answers`, JSON.stringify(answers));
  answered();
}

const methods = {
  initialize: ({ capabilities = { tools: {} }, instructions }) => ({
    protocolVersion: '2025-11-25',
    capabilities,
    serverInfo: { name: 'changing', version: '1' },
    instructions,
  }),
  'tools/list': ({ tools, toolsWith = {}, list = {} }) => {
    const further = Object.keys(offered).flatMap((capability) => toolsWith[capability] ?? []);
    return { tools: [...tools, ...further], ...list };
  },
  'tools/call': ({ result, echoes }, { name, arguments: args }) => {
    const text = echoes ? JSON.stringify(args) : `called ${name}`;
    return result ?? { content: [{ type: 'text', text }] };
  },
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line);
  const { id, method, params = {} } = message;
  if (method === undefined) return keep(message);
  const now = present();
  if (method === 'initialize') offered = params.capabilities;
  if (now.asks && method === 'notifications/initialized') ask();
  if (now.asks && method === 'tools/list') await allAnswered;
  if (now.stalls) return;
  if (now.delayMs) await new Promise((resolve) => setTimeout(resolve, now.delayMs));
  if (method === 'tools/call' && params.name === 'announce') send({ method: 'notifications/tools/list_changed' });
  if (id === undefined) return;
  const answer = methods[method];
  send(answer ? { id, result: answer(now, params) } : { id, error: { code: -32601, message: 'Method not found' } });
});
