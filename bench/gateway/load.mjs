// Owns the load on a gateway: one session of the older era, which all of them speak, and so many calls in flight over kept connections,
// written by hand so that the client costs as little as can be.

import { connect } from 'node:net';

/** Ids of one length make requests of one length. */
const FIRST_ID = 1_000_000;
const VERSION = '2025-06-18';

/** Opens a session; `call(count, inFlight)` makes so many calls, and resolves with how long each took, in milliseconds. */
export async function openSession({ port, path, tool, sse = false }) {
  const stream = sse ? await openStream(port, path) : undefined;
  const target = stream?.path ?? path;
  const clientInfo = { name: 'bench', version: '1.0.0' };
  const first = createConnection(port);
  const isInitialized = stream?.answerTo(1);
  const opened = await first.post(
    requestOf(target, port, {
      ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
      params: { protocolVersion: VERSION, capabilities: {}, clientInfo },
    }),
  );
  await isInitialized;
  const session = /^mcp-session-id: *(\S+)/im.exec(opened)?.[1];
  await first.post(requestOf(target, port, { jsonrpc: '2.0', method: 'notifications/initialized' }, session));
  const params = { name: tool, arguments: { text: 'how do you do?', size: 5 } };
  const template = requestOf(target, port, { jsonrpc: '2.0', id: FIRST_ID, method: 'tools/call', params }, session);
  const [head, tail] = template.split(String(FIRST_ID));
  const connections = [first];
  let id = FIRST_ID;
  return {
    async call(count, inFlight) {
      while (connections.length < inFlight) connections.push(createConnection(port));
      const took = [];
      let left = count;
      const callOn = async (connection) => {
        while (left-- > 0) {
          const own = ++id;
          const from = performance.now();
          const answer = stream?.answerTo(own);
          const text = await connection.post(head + own + tail);
          const body = (await answer) ?? text;
          took.push(performance.now() - from);
          if (!body.includes('The \\"') || !body.includes(String(own)))
            throw new Error(`not the echo of ${own}: ${body}`);
        }
      };
      await Promise.all(connections.slice(0, inFlight).map(callOn));
      return took;
    },
    close() {
      for (const connection of connections) connection.close();
      stream?.close();
    },
  };
}

function requestOf(path, port, message, session) {
  const body = JSON.stringify(message);
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    ...(session === undefined ? [] : [`Mcp-Session-Id: ${session}`, `MCP-Protocol-Version: ${VERSION}`]),
    `Content-Length: ${body.length}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** One request at a time; resolves with all of the response. */
function createConnection(port) {
  const socket = connect(port, '127.0.0.1').setNoDelay().setEncoding('latin1');
  let text = '';
  let waiting;
  socket.on('data', (chunk) => {
    text += chunk;
    if (!isComplete(text)) return;
    const whole = text;
    text = '';
    if (/^HTTP\/1.1 20[02]/.test(whole)) waiting.resolve(whole);
    else waiting.reject(new Error(`refused: ${whole}`));
  });
  socket.on('error', (error) => waiting?.reject(error));
  socket.on('close', () => waiting?.reject(new Error('the gateway closed the connection')));
  return {
    post: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

function isComplete(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const [, length] = /content-length: (\d+)/i.exec(text) ?? [];
  if (length !== undefined) return text.length >= end + 4 + Number(length);
  return text.endsWith('\r\n0\r\n\r\n') || !/transfer-encoding/i.test(text);
}

/** The stream of the oldest transport: its first event names the address for requests, the others are answers. */
function openStream(port, path) {
  const waiting = new Map();
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`);
    const answerTo = (id) => new Promise((answered) => waiting.set(String(id), answered));
    const told = (data) => {
      if (data.startsWith('/')) resolve({ path: data.trim(), answerTo, close: () => socket.destroy() });
      const [, id] = /"id":(\d+)/.exec(data) ?? [];
      waiting.get(id)?.(data);
      waiting.delete(id);
    };
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      const events = text.split('\n\n');
      text = events.pop();
      for (const event of events) told(/^data: (.*)$/m.exec(event)?.[1] ?? '');
    });
    socket.on('error', reject).on('close', () => reject(new Error('the gateway closed the stream')));
  });
}
