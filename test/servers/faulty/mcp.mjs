// Owns what the faulty server answers when nothing is wrong: the methods of both eras, with the tools of `tools.mjs`.
// `take` is the one way in for every transport, and where the faults strike.

import { appendFileSync } from 'node:fs';
import { createPlan } from './plan.mjs';
import { createTools, RpcError } from './tools.mjs';

/** A line of the journal. */
const STRUCK = 'struck';

const serverInfo = { name: 'faulty', version: '1.0.0' };
const instructions = 'Be careful.';

/** What a process has and a server inside the test gets from it: files to write to, and time. */
const processPorts = {
  note: (file, line) => file && appendFileSync(file, `${line}\n`),
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** `options` are the flags of `faulty.mjs`. */
export function createMcp(options, { note, pause } = processPorts) {
  const modern = options.era === 'modern';
  const plan = createPlan(options);
  const tools = createTools(options, { note, pause });
  const journal = (line) => note(options.journal, line);

  const listTools = ({ params: { cursor } }) => {
    const { definitions } = tools;
    const page = Number(cursor ?? 0);
    if (options.fault.includes('pages-forever')) {
      return { tools: [{ ...definitions[0], name: `page_${page}` }], nextCursor: String(page + 1) };
    }
    if (options.fault.includes('repeat-cursor')) return { tools: page === 0 ? definitions : [], nextCursor: '1' };
    return { tools: definitions };
  };

  const capabilities = { tools: options.listen ? { listChanged: true } : {} };
  const methods = {
    'tools/list': listTools,
    'tools/call': tools.call,
    ...(modern
      ? { 'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities, instructions }) }
      : {
          initialize: ({ params: { protocolVersion = '2025-11-25' } }) => {
            return { protocolVersion, capabilities, serverInfo, instructions };
          },
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

  /** Nothing where the protocol forbids an answer. */
  const answerTo = async ({ id, method, params = {} }, exchange) => {
    const post = (message) => exchange.say(JSON.stringify({ jsonrpc: '2.0', ...message }));
    try {
      if (options['answer-ms']) await pause(Number(options['answer-ms']));
      if (!Object.hasOwn(methods, method)) throw new RpcError(-32601, `Method not found: ${method}`);
      const result = await methods[method]({ id, params, post });
      return result && { jsonrpc: '2.0', id, result: stamped(method, result) };
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
      if (id === undefined || method === undefined) {
        if (method === undefined) tools.respond(message);
        if (method === 'notifications/cancelled') tools.cancel(params.requestId);
        return fault?.run(exchange);
      }
      if (method === 'subscriptions/listen' && options.listen) {
        // Acknowledged and left open; only a fault gives it an end.
        const params = { _meta: { 'io.modelcontextprotocol/subscriptionId': id }, notifications: {} };
        exchange.say(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params }));
        return fault?.run(exchange, { jsonrpc: '2.0', id, result: {} });
      }
      const answer = await answerTo(message, exchange);
      if (answer === undefined) return;
      if (fault) return fault.run(exchange, answer);
      exchange.answer(JSON.stringify(answer));
      if (method === 'tools/list') plan.listed();
    },
  };
}
