// Owns a host to be killed: opens two servers that obey nobody, says when they are up, and then does as it is told.
//
//   node watchdog-host.mjs STDIO_MODULE CLOCK_MODULE HOSTILE PID_FILE

import { createInterface } from 'node:readline';

const [stdioModule, clockModule, hostile, pidFile] = process.argv.slice(2);
const { openStdio } = await import(stdioModule);
const { systemClock } = await import(clockModule);

const stubborn = ['--ignore-eof', '--ignore-sigterm', '--pid-file', pidFile];
const channels = ['--grandchild', '--grandchild-detached'].map((descendant) =>
  openStdio({
    server: descendant,
    command: process.execPath,
    args: [hostile, ...stubborn, descendant],
    env: { PATH: process.env.PATH },
    maxMessageBytes: 1_000_000,
    clock: systemClock,
  }),
);
await Promise.all(channels.map((channel) => channel.start()));

const orders = {
  close: async () => {
    await Promise.all(channels.map((channel) => channel.close()));
    console.log('closed');
  },
  exit: () => process.exit(0),
};
createInterface({ input: process.stdin }).on('line', (order) => orders[order]());
console.log('started');
