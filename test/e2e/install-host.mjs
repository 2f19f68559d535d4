// Owns a host to be killed while one of its servers is being installed; the other one, if there is one, is up.
//
//   node install-host.mjs NPX [FAULTY PID_FILE]

import { createRuntime } from 'plexus';

const [npx, faulty, pidFile] = process.argv.slice(2);
const stubborn = [faulty, '--fault=ignore-eof', '--fault=ignore-sigterm', '--fault=grandchild-detached'];
const runtime = await createRuntime({
  discover: false,
  interactive: false,
  startup: { whenUncached: 'background', gateMs: 1 },
  servers: {
    slow: { command: npx, args: ['-y', 'x'] },
    ...(faulty && { usual: { command: process.execPath, args: [...stubborn, '--pid-file', pidFile] } }),
  },
});
if (faulty) await runtime.ready({ servers: ['usual'], timeoutMs: 60_000 });
console.log('started');
process.stdin.resume();
