// Owns a server whose tool leaves a trace: `write` adds its token to a ledger and answers with it. A file `die-before` or `die-after` has it
// killed in its next call, before or after the trace; each start leaves a file `start-PID`. It costs as little as can be:
//
//   node ledger.mjs legacy|modern FOLDER

import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const [, , era, folder] = process.argv;
const ledger = join(folder, 'ledger');
writeFileSync(join(folder, `start-${process.pid}`), '');

const tool = {
  name: 'write',
  description: 'Writes a token into the ledger.',
  inputSchema: { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] },
};
const serverInfo = { name: basename(folder), version: '1.0.0' };
const capabilities = { tools: {} };
const complete = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } };

const answers = {
  legacy: {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities, serverInfo }),
    ping: () => ({}),
    'tools/list': () => ({ tools: [tool] }),
    'tools/call': (params) => write(params),
  },
  modern: {
    'server/discover': () => ({ ...complete, supportedVersions: ['2026-07-28'], capabilities }),
    'tools/list': () => ({ ...complete, tools: [tool], ttlMs: 60_000, cacheScope: 'private' }),
    'tools/call': (params) => ({ ...complete, ...write(params) }),
  },
}[era];

function write({ arguments: { token }, _meta: meta }) {
  dieIf('die-before');
  appendFileSync(ledger, `${token}\n`);
  dieIf('die-after');
  if (meta?.progressToken !== undefined)
    send({ method: 'notifications/progress', params: { progressToken: meta.progressToken, progress: 1 } });
  return { content: [{ type: 'text', text: token }] };
}

/** No mark, no death. */
function dieIf(mark) {
  try {
    rmSync(join(folder, mark));
  } catch {
    return;
  }
  process.kill(process.pid, 'SIGKILL');
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

let unfinished = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (unfinished + chunk).split('\n');
  unfinished = lines.pop();
  for (const line of lines) {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined || method === undefined) continue;
    const result = answers[method]?.(params);
    send(result === undefined ? { id, error: { code: -32601, message: 'Method not found' } } : { id, result });
  }
});
process.stdin.on('end', () => process.exit());
process.stdout.on('error', () => process.exit());
