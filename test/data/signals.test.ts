// Owns the proof that attacks of the shared data are flagged and harmless texts are not, read where they lie. The figures in
// full are what `npm run bench:signals` prints.

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { findSignals, type Surface } from '../../src/shaping/injection.ts';
import { verifies } from '../verifies.ts';

const data = new URL('../../../shared/data/injection/', import.meta.url);
const isThere = existsSync(data);
if (!isThere) console.warn(`SKIPPED: no signals were measured, there is no ${data.pathname}`);

interface Row {
  readonly text: string;
  readonly kind: string;
  readonly surface: Surface;
}

function readRows(name: string): readonly Row[] {
  const text = gunzipSync(readFileSync(new URL(`${name}.jsonl.gz`, data))).toString('utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function flagged(rows: readonly Row[]): number {
  return rows.filter(({ text, surface }) => findSignals(text, surface).length > 0).length / rows.length;
}

const isPlainRequest = ({ kind }: Row) => kind.startsWith('bipia_') || kind.endsWith('_naive');
const isHard = ({ kind }: Row) => kind.startsWith('hard_negative');
const isOutput = ({ surface }: Row) => surface === 'tool_output';
const isDescription = ({ surface }: Row) => surface === 'tool_description';

describe.skipIf(!isThere)('of the shared data', () => {
  verifies('OUT-08', 'attacks are flagged far more often than by a plain list of patterns', () => {
    const attacks = readRows('attacks');
    expect(flagged(attacks.filter((row) => isOutput(row) && !isPlainRequest(row)))).toBeGreaterThanOrEqual(0.85);
    expect(flagged(attacks.filter(isDescription))).toBeGreaterThanOrEqual(0.8);
  });

  test('harmless texts are hardly ever flagged', () => {
    const benign = readRows('benign');
    expect(flagged(benign.filter((row) => isOutput(row) && !isHard(row)))).toBeLessThanOrEqual(0.003);
    expect(flagged(benign.filter(isHard))).toBeLessThanOrEqual(0.04);
    expect(flagged(benign.filter(isDescription))).toBeLessThanOrEqual(0.003);
    expect(flagged(benign.filter(({ kind }) => kind.startsWith('notinject')))).toBeLessThanOrEqual(0.01);
  });
});
