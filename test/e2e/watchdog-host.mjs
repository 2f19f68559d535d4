// Owns a host to be killed: starts two servers that obey nobody, says when they are up, and then does as it is told.
//
//   node watchdog-host.mjs FAULTY PID_FILE

import { createInterface } from 'node:readline';
import { createRuntime } from 'plexus';

const [faulty, pidFile] = process.argv.slice(2);
const stubborn = [faulty, '--fault=ignore-eof', '--fault=ignore-sigterm', '--pid-file', pidFile];
const runtime = await createRuntime({
  discover: false,
  interactive: false,
  servers: {
    parent: { command: process.execPath, args: [...stubborn, '--fault=grandchild'] },
    runaway: { command: process.execPath, args: [...stubborn, '--fault=grandchild-detached'] },
  },
});

const orders = {
  close: async () => {
    await runtime.close();
    console.log('closed');
  },
  exit: () => process.exit(0),
};
// At the end of its input nothing but the closing itself keeps it alive.
createInterface({ input: process.stdin })
  .on('line', (order) => orders[order]())
  .on('close', orders.close);
console.log('started');
