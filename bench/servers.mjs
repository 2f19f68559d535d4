// Owns which servers there are, and how many of them a client that has no opinion of its own starts at once.

import { fileURLToPath } from 'node:url';

const file = (name) => fileURLToPath(new URL(`./${name}`, import.meta.url));
const [echo, ordinary] = [file('echo-server.mjs'), file('ordinary-server.mjs')];

/** Each server is different, so that no client can reuse what it cached of another. It has the echo, or ordinary tools. */
export const entryOf = (number, tools) => ({
  command: process.execPath,
  args: tools === undefined ? [echo, String(number)] : [ordinary, String(number), String(tools)],
});

const stalledFile = file('stalled-server.mjs');

export const stalledEntryOf = (number) => ({ command: process.execPath, args: [stalledFile, String(number)] });

const AT_ONCE = 3;
const PATIENCE_MS = 250;

/** As Plexus does it: the next server is started as soon as one has answered for the first time or has timed out. */
export async function inTurn(count, open) {
  const opening = [];
  const next = async () => {
    if (opening.length === count) return;
    await new Promise((answered, failed) => {
      const opened = open(opening.length, answered);
      opening.push(opened);
      opened.catch(failed);
      setTimeout(answered, PATIENCE_MS).unref();
    });
    await next();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return Promise.all(opening);
}
