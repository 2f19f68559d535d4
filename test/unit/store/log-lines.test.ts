// Owns the proof that what is kept of a server's words is whole lines, harmless to a terminal and without its secrets,
// however its output is cut into pieces.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { createRedactor, KnownSecrets } from '../../../src/shaping/redact.ts';
import { LogLines } from '../../../src/store/log-lines.ts';
import { printable } from '../../../src/transport/printable.ts';
import { verifies } from '../../verifies.ts';

function create(secrets: Record<string, string> = {}): LogLines {
  const known = new KnownSecrets();
  known.set('it', secrets);
  return new LogLines({ redact: createRedactor(known).text, clean: printable });
}

/** Writes the text as a server would, in chunks of these sizes, repeated. */
function kept(text: string, secrets: Record<string, string> = {}, sizes: readonly number[] = [64 * 1024]): string {
  const lines = create(secrets);
  const bytes = Buffer.from(text);
  let out = '';
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const size = sizes[piece % sizes.length] ?? 1;
    out += lines.push(bytes.subarray(at, at + size));
    at += size;
  }
  return out + lines.end();
}

const KEY = 's3cret-é-0123456789';

describe('a line', () => {
  verifies('TRN-02', 'is kept as it is, whatever the pieces in which it comes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }), (sizes) => {
        expect(kept('één\n\ttwo 🎈\n\nlast', {}, sizes)).toBe('één\n\ttwo 🎈\n\nlast\n');
      }),
    );
    expect(kept('')).toBe('');
  });

  verifies('TRN-02', 'has nothing in it that drives a terminal', () => {
    expect(kept('\u001b[31mred\u001b[0m\u0007\r\n\u001b]0;title\u0007plain\u009b2J\n')).toBe('red\nplain\n');
  });

  test('waits for its end', () => {
    const lines = create();
    expect([lines.push(Buffer.from('a\nb')), lines.push(Buffer.from('c')), lines.push(Buffer.from('\nd'))]).toEqual([
      'a\n',
      '',
      'bc\n',
    ]);
    expect([lines.end(), lines.end()]).toEqual(['d\n', '']);
  });

  test('is cut where nobody would read on, and the next one is whole again', () => {
    const long = 'x'.repeat(limits.log.lineChars);
    for (const sizes of [[10_000_000], [65_536], [1_000]]) {
      expect(kept(`${long}\n${long}y\nnext\n`, {}, sizes)).toBe(`${long}\n${long} …\nnext\n`);
      expect(kept(`${long.repeat(20)}\nnext\n`, {}, sizes)).toBe(`${long} …\nnext\n`);
      expect(kept(long.repeat(20), {}, sizes)).toBe(`${long} …\n`);
    }
  });

  test('whose beginning is missing is left out', () => {
    const lines = create();
    lines.push(Buffer.from('begun, and then '));
    lines.lose();
    expect(lines.push(Buffer.from('rest\nwhole\n'))).toBe('whole\n');
    lines.lose();
    expect(lines.push(Buffer.from('more of it')) + lines.end()).toBe('');
    expect(lines.push(Buffer.from('anew\n'))).toBe('anew\n');
  });
});

describe('a secret', () => {
  verifies('TRN-02', 'is replaced by its name, also when it comes in pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 }), (sizes) => {
        expect(kept(`using ${KEY}${KEY}, then ${KEY}`, { API_KEY: KEY }, sizes)).toBe(
          'using [API_KEY][API_KEY], then [API_KEY]\n',
        );
      }),
    );
  });

  verifies('TRN-02', 'is found within colors, in several lines, and without the word before it', () => {
    const secrets = {
      PEM: '--BEGIN KEY--\nAAAABBBBCCCC\r\nDDDDEEEEFFFF\n--END KEY--\n',
      Authorization: `Bearer ${KEY}`,
    };
    expect(kept(`\u001b[1m${KEY.slice(0, 5)}\u001b[0m${KEY.slice(5)}\n`, secrets)).toBe('[Authorization]\n');
    expect(kept(`Bearer ${KEY}\n`, secrets)).toBe('[Authorization]\n');
    expect(kept('--BEGIN KEY--\nAAAABBBBCCCC\nDDDDEEEEFFFF\n"AAAABBBBCCCC\\nDDDDEEEEFFFF"\n', secrets)).toBe(
      '[PEM]\n[PEM]\n[PEM]\n"[PEM]\\n[PEM]"\n',
    );
  });

  test('is taken for the longest that fits, literally, and only from eight characters on', () => {
    const secrets = { SHORT: '1234567', INNER: '12345678', OUTER: '12345678.*', NAME: '[INNER]x' };
    expect(kept('1234567 12345678 12345678.* 12345678ab [INNER]x', secrets)).toBe(
      '1234567 [INNER] [OUTER] [INNER]ab [NAME]\n',
    );
  });

  verifies('TRN-02', 'does not survive in part where a line is cut, wherever that is', () => {
    const secrets = { API_KEY: KEY };
    for (let shift = 0; shift <= KEY.length + 2; shift++) {
      const before = 'x'.repeat(limits.log.lineChars - KEY.length - 1 + shift);
      for (const after of ['\n', 'y'.repeat(100_000)]) {
        for (const size of [before.length + 5, 1_000_000]) {
          const out = kept(`${KEY}${before}${KEY}${after}`, secrets, [size]);
          expect(out.replaceAll('[API_KEY]', '')).toMatch(/^x+y*( …)?\n$/);
        }
      }
    }
  });

  test('is not in our own words either, which are one line', () => {
    expect(create({ A: KEY }).line(`ended:\n  ${KEY}\u001b[2J`)).toBe('ended: [A]');
  });
});
