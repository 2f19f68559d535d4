#!/usr/bin/env node
// Owns one MCP server that fails on demand over every transport, in plain JavaScript and without the SDK, so that no library
// can soften a fault. Without flags it is a healthy server on its own pipes. Its parts are in `faulty/`: its answers, its
// tools, the faults and the requests they strike, and a file per transport.
//
//   node faulty.mjs --transport stdio|http|sse|ws [--fault NAME]… [flags]
//
//   --transport KIND     stdio (default), http (Streamable HTTP), sse (the older HTTP+SSE) or ws
//   --era legacy|modern  speak `initialize` (default) or 2026-07-28
//   --reply json|stream  http: how a request is answered; default json
//   --listen             modern: has news to tell, on a stream of its own
//   --port N             network: come back where one was before; default any free one
//   --tools N            N more tools, tool_1 … tool_N
//   --start-ms N         how long it takes to start: nothing is read or listened to before
//   --answer-ms N        how long each answer takes
//   --help               print this text
//
// What goes wrong, and which requests it strikes
//   --fault NAME         one of the names in faulty/faults.mjs; may be repeated
//   --at STAGE           open, initialize, initialized, list, call (default), ping, listen or any, or
//                        one method, as server/discover; may be repeated
//   --when before|after  whether what was asked for has been done by then; default as the fault is in nature
//   --after N            the first N requests of that stage are spared
//   --times N            so many are struck, the rest is spared; default all
//   --tally FILE         counts them over restarts too
//   --bomb FILE          one more fault, in JSON, for the next request of its stage; left there while the server runs
//   --status CODE        for `status`, with --retry-after SECONDS or a date
//   --body KIND          for `status`: text (default), none, page (HTML), or a JSON-RPC error: ours (names the request),
//                        loose (names none), stream (ours, as an event)
//   --location ADDRESS   for `status`: the redirect's
//   --bytes N            for `huge` and `stderr`
//   --ms N               for `flap`: how long it lives once it was listed
//   --close-code N       for `end` over ws
//
// What it writes down
//   --log FILE           one line per effect: the text given to `write` or `put`
//   --journal FILE       one line for each thing that arrives
//   --pid-file FILE      its pid and its descendants', one per line
//
// A network server prints { url, port, pid } as one line of JSON when it listens, and exits at the end of its input, so
// that it never outlives the test that started it.
//
// Tools: echo {text}, add {a,b}, big {bytes}, sleep {ms,text,progress} and env {} only read; fail {} gives an error, ask {}
// asks the client for a name; write {text,ms} has an effect each time, put {text,ms} has one that may be repeated. Their
// `ms` is the time between the effect and the answer.

import { appendFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { begin } from './faulty/faults.mjs';
import { parseFlags } from './faulty/flags.mjs';
import { createMcp } from './faulty/mcp.mjs';

const options = parseFlags(process.argv.slice(2));

if (options.help) {
  const header = readFileSync(fileURLToPath(import.meta.url), 'utf8').split('\n\n')[0];
  process.stdout.write(`${header.replace(/^(#!.*|\/\/ ?)/gm, '').trim()}\n`);
  process.exit(0);
}

begin(options);
if (Number(options['start-ms']) > 0) await new Promise((resolve) => setTimeout(resolve, Number(options['start-ms'])));
if (options['pid-file']) appendFileSync(options['pid-file'], `${process.pid}\n`);
const mcp = createMcp(options);

// Loaded only where it is needed: what speaks over its own pipes starts in half the time.
const { serve } = await import(
  { stdio: './faulty/stdio.mjs', http: './faulty/http.mjs', sse: './faulty/http.mjs', ws: './faulty/ws.mjs' }[
    options.transport
  ]
);
const { path, server } = await serve(mcp, options);

if (server) {
  server.listen(Number(options.port), '127.0.0.1', () => {
    const { port } = server.address();
    const scheme = options.transport === 'ws' ? 'ws' : 'http';
    const url = `${scheme}://127.0.0.1:${port}${path}`;
    process.stdout.write(`${JSON.stringify({ url, port, pid: process.pid })}\n`);
  });
  process.stdin.on('end', () => process.exit(0)).resume();
}
