// Owns what the faulty server answers when nothing is wrong: the methods of both eras and its tools.
// `take` is the one way in for every transport, and where the faults strike.

import { appendFileSync } from 'node:fs';
import { createPlan } from './plan.mjs';

/** A line of the journal. */
const STRUCK = 'struck';

const serverInfo = { name: 'faulty', version: '1.0.0' };
const schema = (properties = {}, required = []) => ({ type: 'object', properties, required });
const said = (text) => ({ content: [{ type: 'text', text }] });

const readOnly = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const writing = (idempotentHint) => ({
  readOnlyHint: false,
  destructiveHint: !idempotentHint,
  idempotentHint,
  openWorldHint: false,
});
const textAndMs = schema({ text: { type: 'string' }, ms: { type: 'integer' } }, ['text']);

class RpcError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** What a process has and a server inside the test gets from it: files to write to, and time. */
const processPorts = {
  note: (file, line) => file && appendFileSync(file, `${line}\n`),
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** `options` are the flags of `faulty.mjs`. */
export function createMcp(options, { note, pause } = processPorts) {
  const modern = options.era === 'modern';
  const plan = createPlan(options);
  const journal = (line) => note(options.journal, line);

  const perform = async ({ text, ms = 0 }) => {
    note(options.log, text);
    await pause(ms);
    return said(`done: ${text}`);
  };

  const tools = {
    echo: {
      inputSchema: schema({ text: { type: 'string' } }, ['text']),
      annotations: readOnly,
      run: ({ text }) => said(text),
    },
    slow: {
      inputSchema: schema({ ms: { type: 'integer' }, text: { type: 'string' } }, ['ms']),
      annotations: readOnly,
      run: async ({ ms, text = 'slow' }) => {
        await pause(ms);
        return said(text);
      },
    },
    big: {
      inputSchema: schema({ megabytes: { type: 'number' } }, ['megabytes']),
      annotations: readOnly,
      run: ({ megabytes }) => said('x'.repeat(megabytes * 1024 * 1024)),
    },
    write: { inputSchema: textAndMs, annotations: writing(false), run: perform },
    put: { inputSchema: textAndMs, annotations: writing(true), run: perform },
  };

  const definitions = Object.entries(tools).map(([name, { inputSchema, annotations }]) => ({
    name,
    description: `The tool ${name}.`,
    inputSchema,
    annotations,
  }));

  const listTools = ({ cursor }) => {
    const page = Number(cursor ?? 0);
    if (options.fault.includes('pages-forever')) return { tools: [], nextCursor: String(page + 1) };
    if (options.fault.includes('repeat-cursor')) return { tools: page === 0 ? definitions : [], nextCursor: '1' };
    return { tools: definitions };
  };

  const callTool = ({ name, arguments: args = {} }) => {
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (tool === undefined) throw new RpcError(-32602, `Unknown tool: ${name}`);
    return tool.run(args);
  };

  const capabilities = { tools: options.listen ? { listChanged: true } : {} };
  const methods = {
    'tools/list': listTools,
    'tools/call': callTool,
    ...(modern
      ? { 'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities }) }
      : {
          initialize: ({ protocolVersion = '2025-11-25' }) => ({ protocolVersion, capabilities, serverInfo }),
          ping: () => ({}),
        }),
  };

  /** Modern results carry `resultType`; lists also carry how long they are valid. */
  const stamped = (method, result) => {
    if (!modern) return result;
    const cacheable = method === 'tools/call' ? {} : { ttlMs: 0, cacheScope: 'private' };
    const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo };
    return { resultType: 'complete', ...cacheable, _meta, ...result };
  };

  const answerTo = async ({ id, method, params = {} }) => {
    try {
      if (!Object.hasOwn(methods, method)) throw new RpcError(-32601, `Method not found: ${method}`);
      return { jsonrpc: '2.0', id, result: stamped(method, await methods[method](params)) };
    } catch (error) {
      return { jsonrpc: '2.0', id, error: { code: error.code ?? -32603, message: error.message } };
    }
  };

  /** The fault, if one strikes now; it is written down, so that a test can tell what came before from what came after. */
  const struck = (method) => {
    const fault = plan.strike(method);
    if (fault) journal(STRUCK);
    return fault;
  };

  return {
    modern,
    journal,
    /** Something is opened: a process, a stream, a socket. */
    async open(exchange) {
      journal('open');
      const fault = struck('open');
      if (fault) await fault.run(exchange);
      else exchange.accept();
    },
    async take(message, exchange) {
      const { id, method, params } = message;
      const what = [params?.name, params?.arguments?.text].filter((word) => word !== undefined);
      journal([method ?? 'response', ...what].join(' '));
      const fault = struck(method);
      if (fault === undefined) exchange.accept();
      if (fault?.when === 'before') return fault.run(exchange, { jsonrpc: '2.0', id, result: {} });
      if (id === undefined || method === undefined) return fault?.run(exchange);
      if (method === 'subscriptions/listen' && options.listen) {
        // Acknowledged and left open; only a fault gives it an end.
        const params = { _meta: { 'io.modelcontextprotocol/subscriptionId': id }, notifications: {} };
        exchange.say(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params }));
        return fault?.run(exchange, { jsonrpc: '2.0', id, result: {} });
      }
      const answer = await answerTo(message);
      if (fault) return fault.run(exchange, answer);
      exchange.answer(JSON.stringify(answer));
      if (method === 'tools/list') plan.listed();
    },
  };
}
