// Owns the proof that `plexus redact` takes secrets out of a file and out of lines, and leaves every other byte as it is.

import { afterAll, describe, expect, test } from 'vitest';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';

const TOKEN = 'ghp_TZKxveMY13jxVGweQIXFHtIBX8dSQOP6MKWa';
const box = new Sandbox();
afterAll(() => box.remove());

describe('plexus redact', () => {
  verifies('TRU-08', 'prints a file without its secrets, and everything else to the last byte', async () => {
    box.write('log.txt', `a\r\nkey ${TOKEN}\tb \u001b[1mc`);
    const ran = await box.plexus('redact', 'log.txt');
    expect([ran.code, ran.out]).toEqual([0, 'a\r\nkey [redacted:github-token]\tb \u001b[1mc']);
    expect(ran.err).toContain('1 secret replaced.');
  });

  test('tells with --json what was found where, and never the secret', async () => {
    box.write('log.txt', `key ${TOKEN}`);
    expect(await box.json('redact', 'log.txt')).toEqual({
      text: 'key [redacted:github-token]',
      found: [{ name: 'github-token', at: 4 }],
    });
  });

  test('answers each line for itself, and goes on after a broken one', async () => {
    box.write('lines.jsonl', `{"text":"x ${TOKEN}"}\nbroken\n\n{"text":"nothing"}\n`);
    const { code, out } = await box.plexus('redact', 'lines.jsonl', '--jsonl');
    const [first, second, third] = out.trim().split('\n');
    expect(JSON.parse(first ?? '')).toEqual({
      text: 'x [redacted:github-token]',
      found: [{ name: 'github-token', at: 2 }],
    });
    expect(JSON.parse(second ?? '')).toMatchObject({ error: { code: 'USAGE' } });
    expect([JSON.parse(third ?? ''), code]).toEqual([{ text: 'nothing', found: [] }, 1]);
  });

  test('says what is wrong with a file that is not there', async () => {
    const { code, err } = await box.plexus('redact', 'nowhere.txt');
    expect([code, err.includes('nowhere.txt')]).toEqual([1, true]);
  });
});
