// Owns a host of one remote server that needs a login. It is driven by lines of JSON on its input, and can end itself by -9 at a
// chosen moment of a refresh:
//
//   node login-host.mjs HOME URL
//
//   { "calls": n }                        calls a tool n times at once; prints { results, tookMs }
//   { "dieAt": "request" | "answer", "once": FILE }   ends where the request for new tokens is written, or where its answer is read,
//                                         if no other process has made that file before
//
// Prints { "refreshes": true } when a request for new tokens is written, and { "listed": true } whenever the server is up.

import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { createRuntime } from 'plexus';

const [, , home, url] = process.argv;
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

let death = {};
const dieIfFirst = () => {
  try {
    writeFileSync(death.once, '', { flag: 'wx' });
  } catch {
    return;
  }
  process.kill(process.pid, 'SIGKILL');
};
/** The program itself is as it ships: only its sockets are watched. */
const { write, push } = Socket.prototype;
Socket.prototype.write = function (chunk, ...rest) {
  if (String(chunk).startsWith('POST /token')) {
    if (death.dieAt === 'request') dieIfFirst();
    print({ refreshes: true });
  }
  return write.call(this, chunk, ...rest);
};
Socket.prototype.push = function (chunk, ...rest) {
  if (death.dieAt === 'answer' && chunk && String(chunk).includes('"refresh_token"')) dieIfFirst();
  return push.call(this, chunk, ...rest);
};

const runtime = await createRuntime({
  discover: false,
  home,
  cwd: home,
  env: {},
  interactive: false,
  servers: { web: { url, transport: 'http' } },
  permissions: [{ tool: 'mcp__*', action: 'allow' }],
  logger: false,
  onEvent: ({ type }) => type === 'connection.listed' && print({ listed: true }),
  onError: (error) => process.stderr.write(`${error.stack}\n`),
});
const call = async (n) => {
  try {
    return (await runtime.turn().call('mcp__web__echo', { n })).isError ? 'tool error' : 'ok';
  } catch (error) {
    return error.message;
  }
};
const { notReady } = await runtime.ready({ timeoutMs: 45_000 });
print({ ready: notReady });

const lines = createInterface({ input: process.stdin });
for await (const line of lines) {
  const order = JSON.parse(line);
  if (order.dieAt !== undefined) death = order;
  else {
    const began = performance.now();
    const results = await Promise.all(Array.from({ length: order.calls }, (_, n) => call(n)));
    print({ results, tookMs: performance.now() - began });
  }
}
await runtime.close();
