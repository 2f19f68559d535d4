// Owns the proof that real files of many agents are read as they were before: what each of them yields is pinned in
// test/data/configs.golden.json.
// After a change that is meant: UPDATE_GOLDEN=1 npx vitest run test/unit/config/golden.test.ts

import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type LoadedConfig, loadConfig } from '../../../src/config/load.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, environment, writeFiles } from './folder.ts';
import { type RealFile, realFiles } from './real-files.ts';

const golden = new URL('../../data/configs.golden.json', import.meta.url);

/** The result of loading one file, in the shortest form that shows differences. */
interface Yield {
  readonly file: string;
  readonly sha256: string;
  /** `name kind`, with `off` behind it when it is not used. */
  readonly servers?: readonly string[];
  readonly invalid?: number;
  /** `severity code line hash`, with the hash of the message. */
  readonly diagnostics?: readonly string[];
  /** `code line hash` of the error when the file is named as the configuration file. */
  readonly failure?: string;
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const shortHashOf = (text: string) => hashOf(text).slice(0, 8);

async function yieldOf({ file, text }: RealFile, folder: string): Promise<Yield> {
  const known = { file, sha256: hashOf(text) };
  try {
    return { ...known, ...summaryOf(await loadConfig({ ...environment(folder), configFile: join(folder, file) })) };
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    const { problem = '', line = '-' } = error.data as { problem?: string; line?: number };
    return { ...known, failure: `${error.code} ${line} ${shortHashOf(problem)}` };
  }
}

function summaryOf({ definitions, invalid, diagnostics }: LoadedConfig): Omit<Yield, 'file' | 'sha256'> {
  return {
    servers: definitions.map(({ name, launch, settings }) => `${name} ${launch.kind}${settings.enabled ? '' : ' off'}`),
    invalid: invalid.length,
    diagnostics: diagnostics.map(
      ({ severity, code, line = '-', message }) => `${severity} ${code} ${line} ${shortHashOf(message)}`,
    ),
  };
}

/** One line per file, so that a diff shows which one changed. */
const written = (yields: readonly Yield[]) => `[\n${yields.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`;

describe('six hundred real files', () => {
  const { files: rows, absent } = realFiles('The golden file of configurations');
  if (absent !== undefined) {
    test.skip(`yield what they yielded before: ${absent}`, () => undefined);
    return;
  }

  verifies(['CFG-04', 'CFG-05', 'CFG-06', 'CFG-17', 'VAL-01', 'VAL-02'], 'yield what they yielded before', async () => {
    const folder = await createFolder();
    await writeFiles(folder, Object.fromEntries(rows.map(({ file, text }) => [file, text])));
    const found: Yield[] = [];
    for (const row of rows) found.push(await yieldOf(row, folder));
    if (process.env['UPDATE_GOLDEN']) await writeFile(golden, written(found));
    const expected = JSON.parse(await readFile(golden, 'utf8')) as Yield[];
    const before = new Map(expected.map((each) => [each.file, JSON.stringify(each)]));
    const changed = found.filter((each) => before.get(each.file) !== JSON.stringify(each)).map(({ file }) => file);
    const only = (yields: readonly Yield[]) => yields.filter(({ file }) => changed.includes(file));
    expect(only(found), 'if this is meant, write it with UPDATE_GOLDEN=1').toEqual(only(expected));
    expect(found.map(({ file }) => file)).toEqual(expected.map(({ file }) => file));
  });

  verifies('VAL-01', 'each load completely, or say what is wrong and where', async () => {
    const expected = JSON.parse(await readFile(golden, 'utf8')) as Yield[];
    const isSilent = ({ servers = [], invalid = 0, diagnostics = [], failure }: Yield) =>
      servers.length + invalid + diagnostics.length === 0 && failure === undefined;
    const texts = new Map(rows.map(({ file, text }) => [file, text]));
    const silent = expected.filter(isSilent).map(({ file }) => texts.get(file)?.replace(/\s/g, ''));
    // Only these files yield nothing: an empty map of servers, or an editor's settings without servers.
    expect(silent.every((text) => /^\{("[\w.]+":(true|\{\}),?)*\}$/.test(text ?? ''))).toBe(true);
  });
});
