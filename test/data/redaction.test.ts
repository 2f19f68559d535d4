// Owns the proof that secrets are found on the shared data, read where it lies, and that little else is. The figures in full are
// what `npm run bench:redact` prints.

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { createRedactor, KnownSecrets } from '../../src/shaping/redact.ts';
import { verifies } from '../verifies.ts';

const data = new URL('../../../shared/data/secrets/', import.meta.url);
const isThere = existsSync(data);
if (!isThere) console.warn(`SKIPPED: no redaction was measured, there is no ${data.pathname}`);

const LEAST_RECALL = 0.95;
const MOST_FALSE_ALARMS = 0.02;

interface Row {
  readonly text: string;
  readonly secret: string;
}

const readRows = (file: string): readonly Row[] =>
  gunzipSync(readFileSync(new URL(file, data)))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe.skipIf(!isThere)('the redactor', () => {
  const { text: redact } = createRedactor(new KnownSecrets());

  verifies('TRU-08', 'hides 95 of 100 secrets, and what it hid stays as it is', () => {
    const rows = readRows('positive.jsonl.gz');
    const hidden = rows.filter(({ text, secret }) => !redact(text).includes(secret));
    expect(hidden.length / rows.length).toBeGreaterThanOrEqual(LEAST_RECALL);
    expect(rows.filter(({ text }) => redact(redact(text)) !== redact(text))).toEqual([]);
  });

  verifies('TRU-08', 'touches no more than 2 of 100 texts that hold none', () => {
    const rows = readRows('negative.jsonl.gz');
    const touched = rows.filter(({ text }) => redact(text) !== text);
    expect(touched.length / rows.length).toBeLessThanOrEqual(MOST_FALSE_ALARMS);
  });
});
