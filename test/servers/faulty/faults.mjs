// Owns what can go wrong. A fault acts on an exchange, one request's way back, which every transport offers:
//
//   accept()        takes the request, where the transport says so before the answer
//   hang()          takes it at most, where that is not yet an answer
//   say(text)       sends text where a message is expected; the answer is still to come
//   answer(text)    the same, as the last word
//   noise()         sends what is no message at all
//   half(text)      sends the first half, and resolves when it is out
//   drip(text)      sends without an end, byte by byte
//   end()           ends the stream politely, without an answer
//   reset()         tears the connection
//   status(code)    an HTTP status; also page(type, body), dripHeaders(), notHttp(), comments(), expire()

import { spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';

const die = () => process.kill(process.pid, 'SIGKILL');
const json = JSON.stringify;

/** The bodies of a refusal. */
const refused = (id) => json({ jsonrpc: '2.0', id, error: { code: -32000, message: 'refused, as asked' } });
const bodies = {
  text: () => ({}),
  none: () => ({ text: '' }),
  page: () => ({ type: 'text/html', text: '<!doctype html><title>Not found</title>' }),
  ours: (id) => ({ type: 'application/json', text: refused(id) }),
  loose: () => ({ type: 'application/json', text: refused(null) }),
  stream: (id) => ({ type: 'text/event-stream', text: `event: message\ndata: ${refused(id)}\n\n` }),
};

/** Those with `run` strike a request; the others are the nature of the whole server. */
export const faults = {
  // Silence
  hang: { run: (exchange) => exchange.hang?.() },
  freeze: { run: () => process.kill(process.pid, 'SIGSTOP') },

  // Death
  die: { run: die },
  exit: { run: () => process.exit(3) },
  half: {
    run: async (exchange, answer) => {
      await exchange.half(json(answer));
      die();
    },
  },
  'last-words': {
    run: (exchange, answer) => {
      exchange.answer(json(answer));
      setTimeout(die, 20);
    },
  },
  'half-reset': {
    run: async (exchange, answer) => {
      await exchange.half(json(answer));
      exchange.reset();
    },
  },
  reset: { run: (exchange) => exchange.reset() },
  end: { run: (exchange) => exchange.end() },

  // Wrong words
  'unknown-ids': {
    run: (exchange, answer) => {
      for (const id of [-1, 4_000_000_000, 'nobody', null]) exchange.say(json({ ...answer, id }));
      exchange.answer(json(answer));
    },
  },
  twice: {
    run: (exchange, answer) => {
      exchange.say(json(answer));
      exchange.answer(json(answer));
    },
  },
  'id-last': { run: (exchange, { id, ...answer }) => exchange.answer(json({ ...answer, id })) },
  'no-id': { run: (exchange, { id: _id, ...answer }) => exchange.answer(json(answer)) },
  both: {
    run: (exchange, answer) => exchange.answer(json({ ...answer, error: { code: -32603, message: 'and an error' } })),
  },
  neither: { run: (exchange, { id }) => exchange.answer(json({ jsonrpc: '2.0', id })) },
  text: { run: (exchange) => exchange.answer(json('not an object')) },
  'null-result': { run: (exchange, answer) => exchange.answer(json({ ...answer, result: null })) },
  'text-result': { run: (exchange, answer) => exchange.answer(json({ ...answer, result: 'a text' })) },
  'odd-error': { run: (exchange, { id }) => exchange.answer(json({ jsonrpc: '2.0', id, error: 'just a text' })) },
  batch: { run: (exchange, answer) => exchange.answer(json([answer])) },
  noise: {
    run: (exchange, answer) => {
      exchange.noise();
      if (answer) exchange.answer(json(answer));
    },
  },
  junk: { run: (exchange) => exchange.answer('<<<\u0000\u0007 this is no JSON') },
  huge: {
    run: (exchange, answer, { bytes }) => exchange.answer(json({ ...answer, padding: 'x'.repeat(Number(bytes)) })),
  },
  drip: { run: (exchange, answer) => exchange.drip(json(answer)) },

  // HTTP
  status: {
    when: 'before',
    run: (exchange, { id } = {}, { status, body = 'text', location, 'retry-after': retryAfter }) => {
      const { type, text } = bodies[body](id);
      const headers = { ...(retryAfter && { 'retry-after': retryAfter }), ...(location && { location }) };
      exchange.status(Number(status), { ...headers, ...(type && { 'content-type': type }) }, text);
    },
  },
  html: { run: (exchange) => exchange.page('text/html', '<!doctype html><title>Sign in</title>') },
  empty: { run: (exchange) => exchange.page('application/json', '') },
  'drip-headers': { run: (exchange) => exchange.dripHeaders() },
  'not-http': { run: (exchange) => exchange.notHttp() },
  'big-headers': { run: (exchange) => exchange.status(200, { 'x-big': 'h'.repeat(1024 * 1024) }) },
  comments: { run: (exchange) => exchange.comments() },
  'session-expires': { when: 'before', run: (exchange) => exchange.expire() },

  // The endpoint an older SSE server names
  'endpoint-elsewhere': {},
  'endpoint-missing': {},

  // Lists without an end
  'repeat-cursor': {},
  'pages-forever': {},

  // A process that is a burden
  flap: {},
  'ignore-sigterm': { begin: () => process.on('SIGTERM', () => process.stderr.write('SIGTERM ignored\n')) },
  'ignore-eof': { begin: stayAlive },
  deaf: { begin: stayAlive },
  'close-input': {
    begin: () => {
      closeSync(0);
      stayAlive();
    },
  },
  grandchild: { begin: (options) => startGrandchild(options, false) },
  'grandchild-detached': { begin: (options) => startGrandchild(options, true) },
  stderr: { begin: ({ bytes }) => writeStderr(Number(bytes)) },
  'stderr-forever': { begin: writeStderrForever },
  banner: {
    begin: () => {
      writeSync(1, 'Welcome to the faulty server!\n\n\u001b[31m{ "not": "MCP" }\u001b[0m\n');
    },
  },
};

export function begin(options) {
  for (const name of options.fault) {
    if (faults[name] === undefined) throw new Error(`no such fault: ${name}`);
    faults[name].begin?.(options);
  }
}

/** Ends by nothing but SIGKILL, holds stdout open, and says its pid only when that is so. */
const GRANDCHILD = `
  process.on('SIGTERM', () => {});
  process.on('SIGHUP', () => {});
  setInterval(() => {}, 1e6);
  if (process.argv[1]) require('fs').appendFileSync(process.argv[1], process.pid + '\\n');
`;

function startGrandchild(options, detached) {
  spawn(process.execPath, ['-e', GRANDCHILD, options['pid-file'] ?? ''], { detached, stdio: 'inherit' }).unref();
}

/** Keeps the process running when none of its input is read, or none is left. */
function stayAlive() {
  setInterval(() => undefined, 1e6);
}

const STDERR_BLOCK = `${'e'.repeat(64 * 1024 - 1)}\n`;

/** Before the first answer, as fast as the pipe takes it: a client that does not read it blocks the server for good. */
function writeStderr(bytes) {
  for (let left = bytes; left > 0; left -= STDERR_BLOCK.length) process.stderr.write(STDERR_BLOCK.slice(0, left));
}

/** The same between answers, without an end. A pipe that is full for a moment is no reason to die. */
function writeStderrForever() {
  process.stderr.on('error', () => undefined);
  const again = () => process.stderr.write(STDERR_BLOCK, () => setImmediate(again));
  again();
}
