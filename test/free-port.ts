// Owns a port for tests whose server has to be told one, or comes back where it was. Knows no test framework: the soak uses it too.

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that every system gives to whoever asks for any: those another test may be given at any moment. */
const LOWEST = 20_000;
const COUNT = 10_000;
let next = randomInt(COUNT);

/** Nobody takes it by chance until it is used, nor while its server is away. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + (next++ % COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
