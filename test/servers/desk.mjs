// Owns a real stdio server with one tool for each situation that an adapter has to master: tools that answer, draw, fail, wait and
// add another tool. `log` gives what was run and cancelled since it was last asked. `node desk.mjs [FURTHER]` has that many further tools that archive boxes.

import { createInterface } from 'node:readline';

const further = Number(process.argv[2] ?? 0);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (said) => ({ content: [{ type: 'text', text: said }] });
const object = (properties = {}) => ({ type: 'object', properties, required: Object.keys(properties) });

/** A red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const chart = { width: 1, height: 1 };
const log = [];
const waiting = new Map();
let isGrown = false;

const tools = {
  add: {
    description: 'Adds two numbers.',
    inputSchema: object({ a: { type: 'number' }, b: { type: 'number' } }),
    run: ({ a, b }) => text(`${a} + ${b} = ${a + b}`),
  },
  chart: {
    description: 'Draws a chart.',
    run: () => ({
      content: [
        { type: 'text', text: JSON.stringify(chart) },
        { type: 'image', data: PNG, mimeType: 'image/png' },
      ],
      structuredContent: chart,
    }),
  },
  fail: { description: 'Fails.', run: () => ({ ...text('The printer is out of paper.'), isError: true }) },
  remove: {
    description: 'Removes a file.',
    inputSchema: object({ path: { type: 'string' } }),
    run: () => text('removed'),
  },
  wait: {
    description: 'Waits until it is cancelled.',
    run: (_args, { id, token }) => {
      waiting.set(id, 'wait');
      if (token !== undefined)
        send({ method: 'notifications/progress', params: { progressToken: token, progress: 1, message: 'waiting' } });
    },
  },
  grow: {
    description: 'Adds the tool "late".',
    run: () => {
      isGrown = true;
      send({ method: 'notifications/tools/list_changed' });
      return text('grown');
    },
  },
  late: { description: 'Came late.', run: () => text('here I am') },
  log: { description: 'Gives what was run.', run: () => text(log.splice(0).join(' ')) },
  create_invoice: {
    description: 'Create an invoice for a customer.',
    inputSchema: object({ customer: { type: 'string' } }),
    run: ({ customer }) => text(`invoice for ${customer}`),
  },
};

function listed() {
  const own = Object.entries(tools)
    .filter(([name]) => name !== 'late' || isGrown)
    .map(([name, { description, inputSchema = object() }]) => ({ name, description, inputSchema }));
  const boxes = Array.from({ length: further }, (_, at) => ({
    name: `archive_box_${at}`,
    description: `Archive the papers of box ${at}. ${'Papers are kept for ten years. '.repeat(40)}`,
    inputSchema: object(),
  }));
  return [...own, ...boxes];
}

const methods = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'desk', version: '1' },
  }),
  'tools/list': () => ({ tools: listed() }),
  'tools/call': ({ name, arguments: args = {}, _meta: meta = {} }, id) => {
    if (name !== 'log') log.push(name);
    return tools[name].run(args, { id, token: meta.progressToken });
  },
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (method === 'notifications/cancelled') {
    log.push(`cancelled:${waiting.get(params.requestId)}`);
    return;
  }
  if (id === undefined) return;
  const perform = methods[method];
  if (perform === undefined) return send({ id, error: { code: -32601, message: 'Method not found' } });
  const result = perform(params, id);
  if (result !== undefined) send({ id, result });
});
