// Owns the flags of the faulty server and their defaults; `faulty.mjs` says what each one means.

import { parseArgs } from 'node:util';

const text = { type: 'string' };
const texts = { type: 'string', multiple: true };

export function parseFlags(args) {
  const { values } = parseArgs({
    args,
    options: {
      transport: { type: 'string', default: 'stdio' },
      era: { type: 'string', default: 'legacy' },
      reply: { type: 'string', default: 'json' },
      port: { type: 'string', default: '0' },
      listen: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      fault: { ...texts, default: [] },
      at: { ...texts, default: ['call'] },
      when: text,
      after: { type: 'string', default: '0' },
      times: text,
      tally: text,
      bomb: text,
      status: { type: 'string', default: '503' },
      'retry-after': text,
      body: { type: 'string', default: 'text' },
      location: text,
      bytes: { type: 'string', default: '20000000' },
      ms: { type: 'string', default: '50' },
      'start-ms': { type: 'string', default: '0' },
      'answer-ms': text,
      tools: { type: 'string', default: '0' },
      'close-code': { type: 'string', default: '1000' },
      log: text,
      journal: text,
      'pid-file': text,
    },
  });
  return values;
}
