#!/usr/bin/env node
// Owns one MCP server that misbehaves on demand, in plain JavaScript and without the SDK, so that no library can soften it.
//
//   node hostile.mjs [flags]
//
//   --era legacy|modern      speak `initialize` (default) or 2026-07-28: `server/discover` and `resultType`
//   --help                   print this text
//
// What it never does
//   --stall WHAT             never answer: initialize, list, call, discover or everything; may be repeated
//   --silent-discover        ignore server/discover
//   --ignore-eof             live on after the end of input
//   --ignore-sigterm         live on after SIGTERM, and say so on stderr
//   --deaf                   never read its input
//
// How it ends
//   --exit-on METHOD[:CODE]  exit when METHOD comes; may be repeated
//   --exit-on-discover       exit with code 1 when server/discover comes
//   --exit CODE              exit at once
//   --die-after N            SIGKILL itself when more than N tools/call have come
//   --close-input            close its own stdin at the start and live on
//
// What it prints
//   --banner TEXT            print TEXT on stdout first
//   --noise N                print N lines of random bytes on stdout first
//   --stderr BYTES           write so many bytes on stderr first
//   --flood-stderr           write on stderr for ever
//   --id-last                write the id as the last key
//   --answer-twice           send every answer twice
//   --unknown-ids            send an answer to an id nobody used before each answer
//   --garbage-result         answer tools/call with a result of no known shape
//   --slow MS                wait before each answer
//   --big BYTES              size of what tool `big` gives when its arguments do not say; default 1 MiB
//
// What it lists
//   --tools N                N more tools, named tool_1 … tool_N
//   --bad-tool               one definition that is broken
//   --pages N                spread over N pages
//   --pages-forever          each page names another one
//   --repeat-cursor          each page names the same next one
//
// Whom it starts
//   --grandchild             a process that ignores the end of input and SIGTERM and holds stdout open
//   --grandchild-detached    the same, in a session of its own
//
// What it writes down
//   --pid-file FILE          its pid and its descendants', one per line, each when it is ready
//   --count-file FILE        one line for each effect of tool `write`, and for each beginning of tool `sleep`
//
// Tools: echo {text}, add {a,b}, big {bytes}, sleep {ms,progress}, env {}, fail {}, write {}, ask {}.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, closeSync, readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const flag = { type: 'boolean', default: false };
const text = { type: 'string' };
const texts = { type: 'string', multiple: true, default: [] };

const { values: options } = parseArgs({
  options: {
    era: { type: 'string', default: 'legacy' },
    help: flag,
    stall: texts,
    'silent-discover': flag,
    'ignore-eof': flag,
    'ignore-sigterm': flag,
    deaf: flag,
    'exit-on': texts,
    'exit-on-discover': flag,
    exit: text,
    'die-after': text,
    'close-input': flag,
    banner: text,
    noise: text,
    stderr: text,
    'flood-stderr': flag,
    'id-last': flag,
    'answer-twice': flag,
    'unknown-ids': flag,
    'garbage-result': flag,
    slow: text,
    big: text,
    tools: text,
    'bad-tool': flag,
    pages: text,
    'pages-forever': flag,
    'repeat-cursor': flag,
    grandchild: flag,
    'grandchild-detached': flag,
    'pid-file': text,
    'count-file': text,
  },
});

const modern = options.era === 'modern';
const serverInfo = { name: 'hostile', version: '1.0.0' };
const capabilities = { tools: {} };
const schema = (properties = {}, required = []) => ({ type: 'object', properties, required });
const said = (...texts) => ({ content: texts.map((each) => ({ type: 'text', text: each })) });

// --- the wire

function post(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function answer(id, body) {
  const message = options['id-last'] ? { jsonrpc: '2.0', ...body, id } : { jsonrpc: '2.0', id, ...body };
  if (options['unknown-ids']) post({ jsonrpc: '2.0', id: `nobody-${id}`, result: {} });
  post(message);
  if (options['answer-twice']) post(message);
}

/** Modern results carry `resultType`; lists also carry how long they are valid. */
function stamped(method, result) {
  if (!modern) return result;
  const cacheable = method === 'tools/list' || method === 'server/discover' ? { ttlMs: 0, cacheScope: 'private' } : {};
  const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo };
  return { resultType: 'complete', ...cacheable, _meta, ...result };
}

class RpcError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// --- the tools: definition and what a call does

const running = new Map();
const asked = new Map();
let effects = 0;

const tools = {
  echo: { inputSchema: schema({ text: { type: 'string' } }, ['text']), call: ({ text }) => said(String(text)) },
  add: {
    inputSchema: schema({ a: { type: 'number' }, b: { type: 'number' } }, ['a', 'b']),
    call: ({ a, b }) => said(String(a + b)),
  },
  big: {
    inputSchema: schema({ bytes: { type: 'integer' } }),
    call: ({ bytes = Number(options.big ?? 1024 * 1024) }) => said('x'.repeat(bytes)),
  },
  sleep: {
    inputSchema: schema({ ms: { type: 'integer' }, progress: { type: 'boolean' } }, ['ms']),
    call: sleep,
  },
  env: { inputSchema: schema(), call: () => said(JSON.stringify(process.env)) },
  fail: { inputSchema: schema(), call: () => ({ ...said('it failed, as asked'), isError: true }) },
  write: {
    inputSchema: schema(),
    call: () => {
      effects += 1;
      if (options['count-file']) appendFileSync(options['count-file'], 'write\n');
      return said(`effect ${effects}`);
    },
  },
  ask: { inputSchema: schema(), call: modern ? askModern : askLegacy },
};

/** Sends no response when it is cancelled, as the protocol demands. */
function sleep({ ms, progress }, { id, params }) {
  if (options['count-file']) appendFileSync(options['count-file'], 'sleep\n');
  const token = progress ? params._meta?.progressToken : undefined;
  return new Promise((resolve) => {
    let steps = 0;
    const ticking = setInterval(() => {
      steps += 1;
      if (token !== undefined) {
        const method = 'notifications/progress';
        post({ jsonrpc: '2.0', method, params: { progressToken: token, progress: steps, total: 5 } });
      }
    }, ms / 5);
    const timer = setTimeout(() => settle(said(`slept ${ms} ms`)), ms);
    const settle = (result) => {
      clearInterval(ticking);
      clearTimeout(timer);
      running.delete(id);
      resolve(result);
    };
    running.set(id, () => settle(undefined));
  });
}

const question = {
  message: 'What is your name?',
  requestedSchema: schema({ name: { type: 'string' } }, ['name']),
};

function askLegacy(_args, { id }) {
  return new Promise((resolve) => {
    const request = `ask-${id}`;
    asked.set(request, (response) => resolve(said(JSON.stringify(response.result ?? response.error))));
    post({ jsonrpc: '2.0', id: request, method: 'elicitation/create', params: question });
  });
}

/** The state has to come back byte for byte, with the answer beside it. */
function askModern(_args, { params }) {
  const state = 'state é "1"';
  if (params.requestState === undefined) {
    const inputRequests = { name: { method: 'elicitation/create', params: { mode: 'form', ...question } } };
    return { resultType: 'input_required', inputRequests, requestState: state };
  }
  if (params.requestState !== state) throw new RpcError(-32602, 'the state was changed on its way');
  return said(JSON.stringify(params.inputResponses?.name));
}

function definitions() {
  const offered = Object.entries(tools).map(([name, { inputSchema }]) => ({
    name,
    description: `The tool ${name}.`,
    inputSchema,
  }));
  const more = Array.from({ length: Number(options.tools ?? 0) }, (_, index) => ({
    name: `tool_${index + 1}`,
    description: `Tool number ${index + 1}.`,
    inputSchema: schema(),
  }));
  const broken = options['bad-tool'] ? [{ name: 42, inputSchema: 'none' }] : [];
  return [...offered, ...more, ...broken];
}

// --- the methods

const methods = {
  initialize: legacyOnly(({ params }) => ({
    protocolVersion: params?.protocolVersion ?? '2025-11-25',
    capabilities,
    serverInfo,
    instructions: 'Be careful.',
  })),
  ping: legacyOnly(() => ({})),
  'server/discover': modernOnly(() => ({
    supportedVersions: ['2026-07-28'],
    capabilities,
    instructions: 'Be careful.',
  })),
  'tools/list': listTools,
  'tools/call': callTool,
};

function legacyOnly(perform) {
  return modern ? unknownMethod : perform;
}

function modernOnly(perform) {
  return modern ? perform : unknownMethod;
}

function unknownMethod({ method }) {
  throw new RpcError(-32601, `Method not found: ${method}`);
}

function listTools({ params }) {
  const all = definitions();
  const page = Number(params?.cursor ?? 0);
  if (options['pages-forever']) return { tools: [{ ...all[0], name: `page_${page}` }], nextCursor: String(page + 1) };
  if (options['repeat-cursor']) return { tools: page === 0 ? all : [], nextCursor: '1' };
  const pages = Number(options.pages ?? 1);
  const size = Math.ceil(all.length / pages);
  const slice = all.slice(page * size, (page + 1) * size);
  return page + 1 < pages ? { tools: slice, nextCursor: String(page + 1) } : { tools: slice };
}

let calls = 0;

function callTool(request) {
  calls += 1;
  if (calls > Number(options['die-after'] ?? Number.POSITIVE_INFINITY)) process.kill(process.pid, 'SIGKILL');
  const { name, arguments: args = {} } = request.params ?? {};
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool) return options['garbage-result'] ? 'garbage' : tool.call(args, request);
  if (/^tool_\d+$/.test(name)) return said(name);
  throw new RpcError(-32602, `Unknown tool: ${name}`);
}

// --- what comes in

const stalls = {
  initialize: ['initialize'],
  list: ['tools/list'],
  call: ['tools/call'],
  discover: ['server/discover'],
  everything: Object.keys(methods),
};
const stalled = new Set([
  ...options.stall.flatMap((what) => stalls[what] ?? [what]),
  ...(options['silent-discover'] ? ['server/discover'] : []),
]);
const exits = new Map([
  ...options['exit-on'].map((each) => [each.split(':')[0], Number(each.split(':')[1] ?? 1)]),
  ...(options['exit-on-discover'] ? [['server/discover', 1]] : []),
]);

async function receive(line) {
  const message = JSON.parse(line);
  const { id, method } = message;
  if (exits.has(method)) process.exit(exits.get(method));
  if (stalled.has(method)) return;
  if (method === undefined) asked.get(id)?.(message);
  else if (id === undefined) notice(message);
  else await serve(message);
}

function notice({ method, params }) {
  if (method === 'notifications/cancelled') running.get(params.requestId)?.();
}

async function serve(request) {
  const { id, method } = request;
  try {
    if (options.slow) await new Promise((resolve) => setTimeout(resolve, Number(options.slow)));
    const result = await (methods[method] ?? unknownMethod)(request);
    if (result !== undefined) answer(id, { result: typeof result === 'object' ? stamped(method, result) : result });
  } catch (error) {
    answer(id, { error: { code: error.code ?? -32603, message: error.message } });
  }
}

// --- the start

/** Writes its pid only when nothing but SIGKILL can end it any more. */
const GRANDCHILD = `
  process.on('SIGTERM', () => {});
  process.on('SIGHUP', () => {});
  setInterval(() => {}, 1e6);
  const file = process.argv[1];
  if (file) require('fs').appendFileSync(file, process.pid + '\\n');
`;

function startGrandchild(detached) {
  const args = ['-e', GRANDCHILD, options['pid-file'] ?? ''];
  spawn(process.execPath, args, { detached, stdio: 'inherit' }).unref();
}

function floodStderr() {
  writeSync(2, `${'flood '.repeat(10_000)}\n`);
  setImmediate(floodStderr);
}

/** In this order, each only with its flag: a test that has read the pid or the banner may rely on the steps before it. */
const beginnings = {
  help: () => {
    const header = readFileSync(fileURLToPath(import.meta.url), 'utf8').split('\n\n')[0];
    process.stdout.write(`${header.replace(/^(#!.*|\/\/ ?)/gm, '').trim()}\n`);
    process.exit(0);
  },
  'ignore-sigterm': () => process.on('SIGTERM', () => process.stderr.write('SIGTERM ignored\n')),
  'ignore-eof': () => setInterval(() => undefined, 1e6),
  grandchild: () => startGrandchild(false),
  'grandchild-detached': () => startGrandchild(true),
  'close-input': () => {
    closeSync(0);
    setInterval(() => undefined, 1e6);
  },
  'pid-file': (file) => appendFileSync(file, `${process.pid}\n`),
  banner: (line) => process.stdout.write(`${line}\n`),
  noise: (lines) => {
    for (let left = Number(lines); left > 0; left -= 1) {
      process.stdout.write(Buffer.concat([randomBytes(80).map((byte) => byte | 0x80), Buffer.from('\n')]));
    }
  },
  stderr: (bytes) => {
    const block = `${'e'.repeat(1023)}\n`;
    for (let left = Number(bytes); left > 0; left -= block.length) process.stderr.write(block.slice(0, left));
  },
  'flood-stderr': floodStderr,
  exit: (code) => process.exit(Number(code)),
};

for (const [name, begin] of Object.entries(beginnings)) {
  if (options[name] !== undefined && options[name] !== false) begin(options[name]);
}
if (options.deaf) setInterval(() => undefined, 1e6);
else if (!options['close-input']) {
  createInterface({ input: process.stdin })
    .on('line', receive)
    .on('close', () => {
      if (!options['ignore-eof']) process.exit(0);
    });
}
