// Owns the faulty server on its own pipes: a line per message.

import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const exchange = {
  accept: () => undefined,
  say: (text) => process.stdout.write(`${text}\n`),
  answer: (text) => process.stdout.write(`${text}\n`),
  noise() {
    process.stdout.write('a line of a log, not a message\n\n');
    process.stdout.write(Buffer.concat([randomBytes(200).map((byte) => byte | 0x80), Buffer.from('\n')]));
  },
  async half(text) {
    writeSync(1, text.slice(0, text.length / 2));
  },
  drip(text) {
    let sent = 0;
    setInterval(() => process.stdout.write(text[sent++] ?? 'x'), 5);
  },
  end: () => process.stdout.end(),
  reset: () => process.stdout.destroy(),
};

export async function serve(mcp, options) {
  await mcp.open(exchange);
  if (options.fault.includes('deaf') || options.fault.includes('close-input')) return {};
  createInterface({ input: process.stdin })
    .on('line', (line) => mcp.take(JSON.parse(line), exchange))
    .on('close', () => {
      if (!options.fault.includes('ignore-eof')) process.exit(0);
    });
  return {};
}
