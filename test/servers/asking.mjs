#!/usr/bin/env node
// Owns one MCP server that asks back and has news, over every transport and in both eras, in plain JavaScript and without
// the SDK. How it travels is in `faulty/`, whose faults it leaves alone.
//
//   node asking.mjs [--transport stdio|http|sse|ws] [--era legacy|modern] [--version VERSION] [--journal FILE] [--at-once]
//
//   --version VERSION    of the older era: what it answers to `initialize`; default what it is asked for
//   --journal FILE       one line of JSON for each message that arrives, and for what happens besides
//   --at-once            asks everything it may ask as soon as it may: when it is told `initialized`, over HTTP when its
//                        stream opens; a modern server, which must not ask, when it is first asked for its tools
//
// A network server prints { url, port, pid } as one line of JSON when it listens, and exits at the end of its input.
//
// Tools: ask {method, params} asks its client that and says what it was answered; with {again} it asks again after every
// answer until it is refused, and never says anything; slow {ms} says so much later that it is
// done, with a progress at each quarter; grow {} offers one tool more and says that its list has changed; hush {} ends the
// stream of its news.

import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    transport: { type: 'string', default: 'stdio' },
    era: { type: 'string', default: 'legacy' },
    version: { type: 'string' },
    journal: { type: 'string' },
    'at-once': { type: 'boolean', default: false },
  },
});
const options = { ...values, reply: 'stream', fault: [], 'close-code': '1000' };
const modern = options.era === 'modern';
const serverInfo = { name: 'asking', version: '1.0.0' };
const capabilities = { tools: { listChanged: true } };

const note = (line) => options.journal && appendFileSync(options.journal, `${JSON.stringify(line)}\n`);
const said = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const send = (exchange, message) => exchange.say(JSON.stringify({ jsonrpc: '2.0', ...message }));

/** Requests to the client that are not answered yet, by id; only the older era sends requests of its own. */
const open = new Map();
let asked = 0;
/** The clients that follow notifications: in the modern era, by a request that is never answered. */
const listeners = new Map();

const tools = {
  ask: ({ method, params, again }, { exchange, inputResponses, requestState }) => {
    if (inputResponses && !again) return said({ result: inputResponses.question, requestState });
    const requestStateOf = `state of ${method}`;
    if (modern)
      return {
        resultType: 'input_required',
        inputRequests: { question: { method, params } },
        requestState: requestStateOf,
      };
    return new Promise((resolve) => {
      const question = () => {
        const id = `question-${++asked}`;
        open.set(id, ({ result, error }) => {
          if (!again) resolve(said({ result, error }));
          else if (!error) question();
        });
        send(exchange, { id, method, params });
      };
      question();
    });
  },
  slow: async ({ ms }, { exchange, _meta }) => {
    for (let quarter = 1; quarter <= 4; quarter++) {
      await pause(ms / 4);
      const params = { progressToken: _meta?.progressToken, progress: quarter, total: 4 };
      send(exchange, { method: 'notifications/progress', params });
    }
    return said('done');
  },
  grow: (_args, { exchange }) => {
    tools[`more_${Object.keys(tools).length - 3}`] = () => said('more');
    const method = 'notifications/tools/list_changed';
    if (!modern) send(exchange, { method });
    for (const [id, listener] of listeners)
      send(listener, { method, params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id } } });
    return said('grown');
  },
  hush: () => {
    for (const [id, listener] of listeners) {
      listeners.delete(id);
      // Over HTTP the stream just ends, as if a proxy had closed it; over other transports only a response can end it.
      if (options.transport === 'http') listener.end();
      else send(listener, { id, result: { resultType: 'complete' } });
    }
    return said('hushed');
  },
};

const listen = (exchange, id, params) => {
  listeners.set(id, exchange);
  const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
  const { notifications } = params;
  send(exchange, { method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta } });
};

const form = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
const early = {
  ping: {},
  'roots/list': {},
  'sampling/createMessage': { messages: [], maxTokens: 10 },
  'elicitation/create': form,
};

/** The method is the id, so that the journal tells which answer is whose. */
const askAtOnce = (exchange) => {
  if (!options['at-once']) return;
  for (const [method, params] of Object.entries(early)) send(exchange, { id: `early ${method}`, method, params });
};

const methods = {
  'tools/list': () => ({
    tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })),
  }),
  'tools/call': ({ name, arguments: args = {}, ...params }, exchange) => tools[name](args, { exchange, ...params }),
  ...(modern
    ? { 'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities }) }
    : {
        ping: () => ({}),
        initialize: ({ protocolVersion }) => ({
          protocolVersion: options.version ?? protocolVersion,
          capabilities,
          serverInfo,
        }),
      }),
};

/** Modern results carry `resultType`; lists also carry how long they are valid. */
const stamped = (method, result) => {
  if (!modern) return result;
  const cacheable = method === 'tools/call' ? {} : { ttlMs: 0, cacheScope: 'private' };
  return {
    resultType: 'complete',
    ...cacheable,
    _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
    ...result,
  };
};

const mcp = {
  modern,
  journal: (event) => note({ event }),
  async open(exchange) {
    note({ event: 'open' });
    exchange.accept();
    if (options.transport === 'http') askAtOnce(exchange);
  },
  async take(message, exchange) {
    note(message);
    const { id, method, params = {} } = message;
    exchange.accept();
    const isFirst = method === (modern ? 'tools/list' : 'notifications/initialized');
    if (isFirst && (modern || options.transport !== 'http')) askAtOnce(exchange);
    if (method === undefined) open.get(id)?.(message);
    else if (modern && method === 'subscriptions/listen') listen(exchange, id, params);
    else if (id !== undefined) {
      const error = { code: -32601, message: `Method not found: ${method}` };
      const answer = Object.hasOwn(methods, method)
        ? { result: stamped(method, await methods[method](params, exchange)) }
        : { error };
      exchange.answer(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    }
  },
};

const carriers = { stdio: 'stdio', http: 'http', sse: 'http', ws: 'ws' };
const { serve } = await import(`./faulty/${carriers[options.transport]}.mjs`);
const { path, server } = await serve(mcp, options);

if (server) {
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    const url = `${options.transport === 'ws' ? 'ws' : 'http'}://127.0.0.1:${port}${path}`;
    process.stdout.write(`${JSON.stringify({ url, port, pid: process.pid })}\n`);
  });
  process.stdin.on('end', () => process.exit(0)).resume();
}
