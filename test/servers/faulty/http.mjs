// Owns the faulty server over HTTP, as Streamable HTTP and as the older HTTP+SSE: both are POSTs and a stream.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
const event = (text) => `data: ${text}\n\n`;

export async function serve(mcp, options) {
  const handle = options.transport === 'sse' ? createSse(mcp, options) : createStreamable(mcp, options);
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    request.on('error', () => undefined);
    handle(request, response).catch((error) => {
      process.stderr.write(`${error.stack}\n`);
      response.destroy();
    });
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  return { server, path: options.transport === 'sse' ? '/sse' : '/mcp' };
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** What any HTTP answer can suffer. */
function createHttpExchange(response) {
  const { socket } = response;
  const every = (ms, act) => {
    const timer = setInterval(() => (socket.destroyed || response.writableEnded ? clearInterval(timer) : act()), ms);
  };
  return {
    every,
    status(code, headers, body = `status ${code}, as asked`) {
      response.writeHead(code, { 'content-type': 'text/plain', ...headers }).end(body);
    },
    page: (type, body) => response.writeHead(200, { 'content-type': type }).end(body),
    reset: () => socket.resetAndDestroy(),
    notHttp: () => socket.end('SSH-2.0-OpenSSH_9.6\r\nthis is not HTTP\r\n\r\n'),
    dripHeaders() {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-slow: ');
      every(10, () => socket.write('z'));
    },
    comments() {
      response.writeHead(200, STREAM).flushHeaders();
      every(10, () => response.write(': still here\n\n'));
    },
  };
}

function createStreamable(mcp, options) {
  const sessions = new Set();

  /** A request's own answer, as one document or as a stream. */
  const createExchange = (response, session) => {
    const http = createHttpExchange(response);
    const headers = session ? { 'mcp-session-id': session } : {};
    const open = () => {
      if (!response.headersSent) response.writeHead(200, { ...STREAM, ...headers }).flushHeaders();
    };
    const isStream = () => response.headersSent || options.reply === 'stream';
    return {
      ...http,
      accept: () => isStream() && open(),
      hang: () => isStream() && open(),
      say(text) {
        open();
        response.write(event(text));
      },
      answer(text) {
        if (isStream()) {
          open();
          response.end(event(text));
        } else response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text);
      },
      noise() {
        open();
        response.write(': a comment\n\nevent: unheard-of\ndata: {"jsonrpc":"2.0"}\n\nretry: x\nid: \ndata: <<<\n\n');
        response.write(Buffer.from([0xef, 0xff, 0xfe, 0x80, 0x81, 0x0a, 0x0a]));
      },
      async half(text) {
        const body = isStream() ? event(text) : text;
        if (isStream()) open();
        else response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
        await new Promise((resolve) => response.write(body.slice(0, body.length / 2), resolve));
      },
      drip(text) {
        if (isStream()) open();
        else response.writeHead(200, { 'content-type': 'application/json' });
        let sent = 0;
        http.every(5, () => response.write(text[sent++] ?? 'x'));
      },
      end() {
        open();
        response.end();
      },
      expire() {
        sessions.delete(session);
        http.status(404);
      },
    };
  };

  const post = async (request, response) => {
    const message = await bodyOf(request);
    const session = message.method === 'initialize' ? randomUUID() : request.headers['mcp-session-id'];
    if (message.method === 'initialize') sessions.add(session);
    if (!mcp.modern && !sessions.has(session)) {
      mcp.journal(`refused ${message.method}`);
      const error = { code: -32000, message: session ? 'Session not found' : 'Bad Request: no session' };
      const type = { 'content-type': 'application/json' };
      response.writeHead(session ? 404 : 400, type).end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
      return;
    }
    const exchange = createExchange(response, mcp.modern ? undefined : session);
    // What is no request is only taken.
    const taken = { ...exchange, accept: () => response.writeHead(202).end(), hang: undefined };
    await mcp.take(message, message.id === undefined || message.method === undefined ? taken : exchange);
  };

  const get = (request, response) => {
    if (mcp.modern || !sessions.has(request.headers['mcp-session-id'])) {
      response.writeHead(mcp.modern ? 405 : 404).end();
      return;
    }
    const exchange = createExchange(response);
    const accept = () => response.writeHead(200, STREAM).flushHeaders();
    return mcp.open({ ...exchange, accept, hang: undefined });
  };

  return async (request, response) => {
    if (request.method === 'POST') await post(request, response);
    else if (request.method === 'GET') await get(request, response);
    else {
      mcp.journal(request.method);
      response.writeHead(sessions.delete(request.headers['mcp-session-id']) ? 200 : 404).end();
    }
  };
}

function createSse(mcp, options) {
  const streams = new Map();

  /** Answers go over the stream; what happens to the POST itself is only that it was taken. */
  const createExchange = (response, session, stream) => {
    const http = createHttpExchange(response);
    const accept = () => response.headersSent || response.writeHead(202).end('Accepted');
    const say = (text) => {
      accept();
      stream.write(`event: message\n${event(text)}`);
    };
    return {
      ...http,
      accept,
      hang: accept,
      say,
      answer: say,
      noise: () => stream.write(': a comment\n\nevent: unheard-of\ndata: {"jsonrpc":"2.0"}\n\nretry: x\ndata: <<<\n\n'),
      async half(text) {
        accept();
        await new Promise((resolve) => stream.write(`data: ${text.slice(0, text.length / 2)}`, resolve));
      },
      drip(text) {
        accept();
        stream.write('data: ');
        let sent = 0;
        const timer = setInterval(
          () => (stream.destroyed ? clearInterval(timer) : stream.write(text[sent++] ?? 'x')),
          5,
        );
      },
      comments() {
        accept();
        const timer = setInterval(() => (stream.destroyed ? clearInterval(timer) : stream.write(': here\n\n')), 10);
      },
      end() {
        accept();
        stream.end();
      },
      expire() {
        streams.delete(session);
        http.status(404);
      },
    };
  };

  const get = (response) => {
    const session = randomUUID();
    const accept = () => {
      streams.set(session, response);
      response.on('close', () => streams.delete(session));
      response.writeHead(200, STREAM);
      const origin = options.fault.includes('endpoint-elsewhere') ? 'http://127.0.0.2:9' : '';
      if (options.fault.includes('endpoint-missing')) response.flushHeaders();
      else response.write(`event: endpoint\ndata: ${origin}/message?session=${session}\n\n`);
    };
    const end = () => {
      accept();
      response.end();
    };
    return mcp.open({ ...createHttpExchange(response), accept, end });
  };

  return async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
    if (request.method === 'GET' && pathname === '/sse') return get(response);
    if (request.method !== 'POST' || pathname !== '/message') return response.writeHead(405).end();
    const message = await bodyOf(request);
    const session = searchParams.get('session');
    const stream = streams.get(session);
    if (stream === undefined) {
      mcp.journal(`refused ${message.method}`);
      return response.writeHead(404).end('Session not found');
    }
    await mcp.take(message, createExchange(response, session, stream));
  };
}
