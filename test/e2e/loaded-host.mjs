// Owns a host that lists the tools of its servers, and then says which tools it found and which files it has loaded. Without
// options it imports the library and starts nothing.
//
//   node loaded-host.mjs [OPTIONS_AS_JSON]

import { createRequire, register } from 'node:module';
import { MessageChannel } from 'node:worker_threads';

// Loading runs in a thread of its own, which tells this one of each module before the module is evaluated.
const hook = `
  let port;
  export const initialize = (data) => { port = data.port; };
  export const load = (url, context, next) => { port.postMessage(url); return next(url, context); };
`;
const { port1, port2 } = new MessageChannel();
const loaded = [];
port1.on('message', (url) => loaded.push(url)).unref();
register(`data:text/javascript,${encodeURIComponent(hook)}`, { data: { port: port2 }, transferList: [port2] });

const { createRuntime } = await import('plexus');
const tools = [];
if (process.argv[2] !== undefined) {
  const runtime = await createRuntime({ interactive: false, ...JSON.parse(process.argv[2]) });
  await runtime.ready();
  tools.push(...runtime.getTools().map(({ name }) => name));
  await runtime.close();
}
// Messages of one port arrive in order: once this module is announced, all before it are.
const last = 'data:text/javascript,"last"';
await import(last);
while (!loaded.at(-1)?.startsWith('data:')) await new Promise((resolve) => setImmediate(resolve));
const required = Object.keys(createRequire(import.meta.url).cache);
console.log(JSON.stringify({ tools, loaded: [...loaded, ...required] }));
