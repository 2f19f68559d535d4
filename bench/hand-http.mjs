// Owns the sockets of the hand-written client: one POST a message, connections kept open, an answer as JSON or as one event.

import { Agent, request as post } from 'node:http';

export function connect({ url }) {
  const agent = new Agent({ keepAlive: true });
  let nextId = 0;
  let session;

  const send = (message) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(message);
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        accept: 'application/json, text/event-stream',
        ...(session !== undefined && { 'mcp-session-id': session }),
      };
      const sent = post(url, { method: 'POST', agent, headers }, (response) => {
        session ??= response.headers['mcp-session-id'];
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve(text));
      });
      sent.on('error', reject).end(body);
    });

  return {
    async request(method, params) {
      const text = await send({ jsonrpc: '2.0', id: nextId++, method, params });
      return JSON.parse(text.startsWith('{') ? text : text.slice(text.indexOf('data: ') + 6)).result;
    },
    notify: (method) => send({ jsonrpc: '2.0', method }),
    close: () => agent.destroy(),
  };
}
