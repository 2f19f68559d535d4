// Owns the server that the official suite puts to the test behind the gateway, over stdio, on the SDK's server: `legacy` or `modern` as
// its first word is the only era that it speaks.

import { createRequestStateCodec, inputRequired, ProtocolError, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createFixtures } from './conformance/fixtures.mjs';

const INVALID_PARAMS = -32602;
const NOT_FOUND = { legacy: -32002, modern: INVALID_PARAMS };
const capabilities = {
  ...{ tools: { listChanged: true }, prompts: { listChanged: true } },
  ...{ resources: { listChanged: true, subscribe: true }, completions: {}, logging: {} },
};
const states = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });

const era = process.argv[2];
if (era === 'modern') serveStdio(createServer, { legacy: 'reject' });
else await createServer().connect(new StdioServerTransport());

function createServer() {
  const server = new Server(
    { name: 'conformance', version: '1.0.0' },
    { capabilities, requestState: { verify: states.verify } },
  );
  const changed = {
    tools: () => server.sendToolListChanged(),
    prompts: () => server.sendPromptListChanged(),
    resources: () => server.sendResourceListChanged(),
  };
  const { tools, resources, templates, prompts, complete } = createFixtures({
    listChanged: (kind) => changed[kind](),
    updated: (uri) => server.sendResourceUpdated({ uri }),
  });
  const handle = (method, answer) => server.setRequestHandler(method, ({ params = {} }, ctx) => answer(params, ctx));

  handle('tools/list', () => ({
    tools: listed(tools, ({ run: _, inputSchema = { type: 'object' }, ...tool }) => ({ ...tool, inputSchema })),
  }));
  handle('tools/call', async ({ name, arguments: args = {} }, ctx) => {
    const { run } = known(tools, name, INVALID_PARAMS);
    try {
      return await asking(server, ctx, async (call) => contentOf(await run(args, call)));
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      return { isError: true, content: [{ type: 'text', text: error.message }] };
    }
  });
  handle('resources/list', () => ({
    resources: Object.entries(resources).map(([uri, { read: _, ...resource }]) => ({ uri, ...resource })),
  }));
  handle('resources/templates/list', () => ({
    resourceTemplates: Object.entries(templates).map(([uriTemplate, { read: _, ...template }]) => ({
      uriTemplate,
      ...template,
    })),
  }));
  handle('resources/read', ({ uri }) => {
    const { mimeType, read, values } = resources[uri] ?? templated(templates, uri) ?? notFound(uri);
    const contents = read(values);
    return { contents: [{ uri, mimeType, ...(typeof contents === 'string' ? { text: contents } : contents) }] };
  });
  handle('prompts/list', () => ({ prompts: listed(prompts, ({ get: _, ...prompt }) => prompt) }));
  handle('prompts/get', ({ name, arguments: args = {} }, ctx) => {
    const { get } = known(prompts, name, INVALID_PARAMS);
    return asking(server, ctx, async (call) => messagesOf(await get(args, call)));
  });
  handle('completion/complete', ({ argument }) => ({ completion: { values: complete(argument) } }));
  if (era === 'legacy')
    for (const method of ['resources/subscribe', 'resources/unsubscribe']) handle(method, () => ({}));
  return server;
}

/**
 * Runs a handler that asks in the middle of its work. A client of the older era is asked at once. A modern one is told which answers
 * are missing, and the handler runs again from its beginning, with all answers so far.
 */
async function asking(server, ctx, run) {
  const { mcpReq } = ctx;
  const token = mcpReq._meta?.progressToken;
  const answers = { ...mcpReq.requestState()?.answers, ...mcpReq.inputResponses };
  const missing = {};
  let tellMissing;
  const isStuck = new Promise((resolve) => {
    tellMissing = () => setImmediate(resolve);
  });
  const call = {
    signal: mcpReq.signal,
    meta: mcpReq._meta ?? {},
    peer: {
      capabilities: mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? server.getClientCapabilities(),
    },
    log: (level, data) => void mcpReq.log(level, data),
    progress(report) {
      if (token !== undefined)
        void mcpReq.notify({ method: 'notifications/progress', params: { progressToken: token, ...report } });
    },
    // Pipes have no stream to end. A call that takes its time gets one between the gateway and its client.
    closeStream: () => new Promise((resolve) => setTimeout(resolve, 2_500)),
    ask(method, params, { key = method } = {}) {
      if (era === 'legacy') return mcpReq.send({ method, params });
      if (answers[key] !== undefined) return Promise.resolve(answers[key]);
      missing[key] = { method, params };
      tellMissing();
      return new Promise(() => undefined);
    },
  };
  const result = await Promise.race([run(call), isStuck]);
  if (result !== undefined) return result;
  return inputRequired({ inputRequests: missing, requestState: await states.mint({ answers }) });
}

const listed = (offered, definitionOf) =>
  Object.entries(offered).map(([name, each]) => ({ name, ...definitionOf(each) }));

const contentOf = (result) => (typeof result === 'string' ? { content: [{ type: 'text', text: result }] } : result);

const messagesOf = (result) =>
  typeof result === 'string' ? { messages: [{ role: 'user', content: { type: 'text', text: result } }] } : result;

function known(offered, name, code) {
  if (Object.hasOwn(offered, name)) return offered[name];
  throw new ProtocolError(code, `There is no ${name}`);
}

function notFound(uri) {
  throw new ProtocolError(NOT_FOUND[era], 'Resource not found', { uri });
}

/** The template that the address fits, with the values in it. */
function templated(templates, uri) {
  for (const [pattern, template] of Object.entries(templates)) {
    const [, id] = new RegExp(`^${pattern.replace('{id}', '([^/]+)')}$`).exec(uri) ?? [];
    if (id !== undefined) return { ...template, values: { id } };
  }
  return undefined;
}
