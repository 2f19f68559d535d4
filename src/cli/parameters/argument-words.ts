// Owns reading the words of a call as arguments: `key=text` is converted by the tool's schema, `key:=JSON` is taken as it is, and a
// repeated key makes a list. Every mistake is told with the spelling that works.

import { changedNumberIn, changedNumberText } from '../../kernel/exact-numbers.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { parseJson } from '../../kernel/json.ts';
import { nearest } from '../../kernel/nearest.ts';
import { limits } from '../../model/limits.ts';
import { shellWord } from '../render/text.ts';
import { changedBy, coerce, takesAnyText } from './coerce.ts';
import type { ParameterList, ValueForm } from './parameters.ts';
import { correction, spell } from './spell.ts';
import { typeText } from './type-text.ts';

/** Reads the text of `key=@FILE`; throws with the reason if it cannot. */
export type ReadArgumentFile = (file: string) => Promise<string>;

export interface ArgumentProblem {
  /** A sentence without its full stop. */
  readonly text: string;
  /** The words that work, as a person types them. */
  readonly instead?: string;
}

export interface ReadArguments {
  readonly args: JsonObject;
  readonly problems: readonly ArgumentProblem[];
}

interface WrittenArgument {
  readonly key: string;
  readonly isJson: boolean;
  readonly text: string;
}

export async function readArguments(
  words: readonly string[],
  parameters: ParameterList,
  readFile: ReadArgumentFile,
): Promise<ReadArguments> {
  const problems: ArgumentProblem[] = [];
  const byKey = new Map<string, WrittenArgument[]>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const written = splitWord(word, parameters);
    const pair = written === undefined ? pairAt(words, at, parameters) : undefined;
    if (pair) at++;
    if (written) byKey.set(written.key, [...(byKey.get(written.key) ?? []), written]);
    else problems.push(pair ?? notAnArgument(word, parameters, byKey));
  }
  const args: [string, unknown][] = [];
  for (const [key, written] of byKey) {
    try {
      args.push([key, await readKey(key, written, { parameters, readFile })]);
    } catch (error) {
      if (!(error instanceof BadArgument)) throw error;
      problems.push(error.problem);
    }
  }
  return { args: Object.fromEntries(args), problems };
}

class BadArgument extends Error {
  override readonly name = 'BadArgument';
  readonly problem: ArgumentProblem;

  constructor(text: string, instead?: string) {
    super(text);
    this.problem = { text, ...(instead !== undefined && { instead }) };
  }
}

/** A key may hold colons: only the one before the `=` means JSON, and not even that where the tool has a key of this name. */
function splitWord(word: string, { known }: ParameterList): WrittenArgument | undefined {
  const at = word.indexOf('=');
  if (at <= 0 || word === '=') return undefined;
  const [left, text] = [word.slice(0, at), word.slice(at + 1)];
  const isJson = left.endsWith(':') && left.length > 1 && !known.some(({ name }) => name === left);
  return { key: isJson ? left.slice(0, -1) : left, isJson, text };
}

interface KeyReading {
  readonly parameters: ParameterList;
  readonly readFile: ReadArgumentFile;
}

async function readKey(
  key: string,
  written: readonly WrittenArgument[],
  { parameters, readFile }: KeyReading,
): Promise<unknown> {
  const parameter = parameters.known.find(({ name }) => name === key);
  const forms = parameter?.forms ?? parameters.others;
  if (forms === undefined) throw unknownKey(key, written, parameters);
  const [first] = written;
  const correct = (text: string) => parameter && correction(parameter, text, parameters);
  if (first !== undefined && written.length === 1) return readValue(first, forms, { readFile, correct });
  const list = forms.find(({ type, values }) => type === 'array' && values === undefined);
  if (list === undefined)
    throw new BadArgument(`"${key}" is given ${written.length} times, but takes one value (${typeText(forms)})`);
  const items = list.items ?? [];
  return Promise.all(written.map((each) => readValue(each, items, { readFile, correct: () => undefined })));
}

interface ValueReading extends Pick<KeyReading, 'readFile'> {
  /** The spelling that works for what this text means. */
  readonly correct: (text: string) => string | undefined;
}

async function readValue(
  { key, isJson, text: typed }: WrittenArgument,
  forms: readonly ValueForm[],
  { readFile, correct }: ValueReading,
): Promise<unknown> {
  const text = await readTyped(key, typed, readFile);
  if (!isJson) {
    const value = coerce(text, forms);
    refuseChanged(key, changedBy(text, value, forms), forms);
    return value;
  }
  const parsed = parseJson(text);
  if (!parsed.ok) throw new BadArgument(`the value of "${key}" is not valid JSON: ${parsed.problem}`, correct(text));
  refuseChanged(key, changedNumberIn(text), forms);
  return parsed.value;
}

/** `@FILE` stands for what the file holds, and `@@…` for a text that begins with `@`. */
async function readTyped(key: string, typed: string, readFile: ReadArgumentFile): Promise<string> {
  if (typed.startsWith('@@')) return typed.slice(1);
  if (!typed.startsWith('@') || typed === '@') return typed;
  try {
    return await readFile(typed.slice(1));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BadArgument(
      `"${key}" begins with @, which reads a file: ${why}; if you mean the text itself, double the @`,
      `${key}=${shellWord(`@${typed}`)}`,
    );
  }
}

function refuseChanged(key: string, number: string | undefined, forms: readonly ValueForm[]): void {
  if (number === undefined) return;
  const instead = takesAnyText(forms) ? spell(key, number, forms) : undefined;
  throw new BadArgument(`"${key}": ${changedNumberText(number)}`, instead);
}

function unknownKey(key: string, [first]: readonly WrittenArgument[], parameters: ParameterList): BadArgument {
  const { known } = parameters;
  const names = known.map(({ name }) => name);
  if (names.length === 0) return new BadArgument(`there is no parameter "${key}": the tool takes none`);
  const [suggestion] = nearest(key, names, 1);
  const meant = known.find(({ name }) => name === suggestion);
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  const list = `the tool takes ${names.slice(0, MOST_NAMED).join(', ')}${more}`;
  return new BadArgument(
    `there is no parameter "${key}"; ${list}`,
    meant && first && correction(meant, first.text, parameters),
  );
}

const MOST_NAMED = 20;

/** A known key and its value as two words. */
function pairAt(words: readonly string[], at: number, parameters: ParameterList): ArgumentProblem | undefined {
  const [key, value] = [words[at], words[at + 1]];
  const named = parameters.known.find(({ name }) => name === key);
  if (named === undefined || value === undefined || splitWord(value, parameters)) return undefined;
  return refusedWord(`${key} ${value}`, correction(named, value, parameters));
}

const refusedWord = (word: string, instead: string | undefined): ArgumentProblem =>
  instead === undefined
    ? { text: `"${word}" is not an argument; write key=value, or key:=JSON` }
    : { text: `"${word}" is not an argument`, instead };

/** People write a value alone, `key:value` or a whole JSON object, as other programs take them. */
function notAnArgument(word: string, parameters: ParameterList, given: ReadonlyMap<string, unknown>): ArgumentProblem {
  const { known } = parameters;
  if (/^\s*\{/.test(word)) return refusedWord(word, `--args ${shellWord(word)}`);
  const [, key, value = ''] = /^([^:]+):(.+)$/s.exec(word) ?? [];
  const named = known.find(({ name }) => name === key || name === word);
  if (named) return refusedWord(word, correction(named, key === named.name ? value : undefined, parameters));
  const free = known.filter(({ name }) => !given.has(name));
  const open = free.find(({ isRequired }) => isRequired) ?? free[0];
  return refusedWord(word, open && correction(open, word, parameters));
}

/** For the error of a failed call: a few problems are enough to go on. */
export function insteadText(problems: readonly ArgumentProblem[]): string | undefined {
  const spelled = [...new Set(problems.flatMap(({ instead }) => instead ?? []))].slice(0, limits.suggestions);
  return spelled.length === 0 ? undefined : `Write: ${spelled.join(' ')}`;
}
