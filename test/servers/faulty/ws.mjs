// Owns the faulty server over WebSocket, subprotocol `mcp`: a text frame per message.

import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

export async function serve(mcp, options) {
  const server = createServer((_request, response) => response.writeHead(426).end());
  const handleProtocols = (protocols) => (protocols.has('mcp') ? 'mcp' : false);
  const sockets = new WebSocketServer({ noServer: true, handleProtocols });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => undefined);
    const upgrade = (then) =>
      sockets.handleUpgrade(request, socket, head, (peer) => {
        peer.on('error', () => undefined);
        then(peer);
      });
    const accept = () =>
      upgrade((peer) => {
        const exchange = createExchange(peer, options);
        peer.on('message', (data) => mcp.take(JSON.parse(data.toString()), exchange));
      });
    mcp.open({
      accept,
      status(code, headers = {}) {
        const lines = Object.entries({ 'content-length': 0, ...headers }).map(([name, value]) => `${name}: ${value}`);
        socket.end(`HTTP/1.1 ${code} As asked\r\n${lines.join('\r\n')}\r\n\r\n`);
      },
      end: () => upgrade((peer) => peer.close(Number(options['close-code']))),
      reset: () => socket.resetAndDestroy(),
      notHttp: () => socket.end('SSH-2.0-OpenSSH_9.6\r\nthis is not HTTP\r\n\r\n'),
      dripHeaders: () => drip(socket, 'HTTP/1.1 101 Switching Protocols\r\nx-slow: '),
    });
  });
  return { server, path: '/mcp' };
}

function drip(socket, text, byte = 'z') {
  socket.write(text);
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(byte)), 10);
}

function createExchange(peer, options) {
  const socket = peer._socket;
  return {
    accept: () => undefined,
    say: (text) => peer.send(text),
    answer: (text) => peer.send(text),
    noise() {
      peer.send('this is no JSON');
      peer.send(Buffer.from([0, 255, 254, 1]));
      peer.send('[]');
      peer.ping('are you there?');
    },
    /** The header of a frame, which promises more than comes. */
    half: (text) => new Promise((resolve) => socket.write(frame(text).subarray(0, text.length / 2), resolve)),
    /** A message in parts, of which none is the last. */
    drip(text) {
      let sent = 0;
      const timer = setInterval(() => {
        if (peer.readyState !== peer.OPEN) clearInterval(timer);
        else peer.send(text[sent++] ?? 'x', { fin: false });
      }, 5);
    },
    end: () => peer.close(Number(options['close-code'])),
    reset: () => socket.resetAndDestroy(),
    /** Reserved bits and an opcode that does not exist. */
    notHttp: () => socket.write(Buffer.from([0xff, 0x05, 1, 2, 3, 4, 5])),
  };
}

/** One unmasked text frame, as a server sends it. */
function frame(text) {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(10);
  head[0] = 0x81;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}
