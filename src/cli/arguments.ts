// Owns texts that a command takes as themselves, from a file or from standard input, and all arguments of a tool as one JSON object.
// `parameters/` reads arguments that are written one by one.

import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { changedNumberIn, changedNumberText } from '../kernel/exact-numbers.ts';
import { isObject, type JsonObject, parseJson } from '../kernel/json.ts';
import { type Context, UsageError } from './command.ts';

/** Reads a text that a command takes as itself, as `@FILE`, or as `-` for standard input. Errors call the text itself `name`. */
export async function readText(
  word: string,
  name: string,
  { cwd, readStdin }: Context,
): Promise<{ readonly text: string; readonly source: string }> {
  if (word === '-') return { text: await readStdin(), source: 'standard input' };
  if (!word.startsWith('@')) return { text: word, source: name };
  const file = resolve(cwd, word.slice(1));
  try {
    return { text: await readFile(file, 'utf8'), source: file };
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`);
  }
}

/** For `key=@FILE`: bytes that are no text would reach the tool changed, so they are refused. `@-` is standard input. */
export async function readTextFile(
  file: string,
  { cwd, readStdin }: Pick<Context, 'cwd' | 'readStdin'>,
): Promise<string> {
  if (file === '-') return readStdin();
  const path = resolve(cwd, file);
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} cannot be read (${error.code ?? 'unknown reason'})`);
  });
  if (!isUtf8(bytes)) throw new UsageError(`${path} is not text in UTF-8`);
  return bytes.toString('utf8').replace(/^\uFEFF/, '');
}

/** `source` names in errors where the text came from: `--args`, a file or standard input. */
export function parseArgumentsJson(text: string, source: string): JsonObject {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new UsageError(`${source} is not valid JSON: ${parsed.problem}`);
  if (!isObject(parsed.value)) throw new UsageError(`${source} must be a JSON object`);
  const changed = changedNumberIn(text);
  if (changed !== undefined) throw new UsageError(`${source}: ${changedNumberText(changed)}`);
  return parsed.value;
}
