// Owns what a rule says about arguments: reading it, and whether the arguments of one call are as it says.

import { dirname, isAbsolute, resolve } from 'node:path';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { matchesWildcard } from '../kernel/wildcard.ts';
import { limits } from '../model/limits.ts';
import { type ConditionReading, type ConditionWord, type Plain, readCondition } from '../model/rule.ts';
import type { Provenance } from '../model/server.ts';
import { valuesAt } from './argument-values.ts';
import { type HostPattern, hostPatternOf, isOnHost } from './host.ts';
import { type Folder, isUnder, type PathContext } from './path-containment.ts';
import { anyOf, blur, type TriState } from './tri-state.ts';

/** What folders in rules count from. */
export interface Bases {
  /** The workspace: what a rule of the host program counts from, and `${workspaceFolder}`. */
  readonly cwd?: string;
  readonly home?: string;
}

/** What a rule needs of one argument. */
export interface Need {
  readonly keys: readonly string[];
  readonly tests: readonly Test[];
  /** For people: `path under "./out"`. */
  readonly text: string;
}

type Test =
  | { readonly word: 'under'; readonly folders: readonly Folder[] }
  | { readonly word: 'host'; readonly hosts: readonly HostPattern[] }
  | { readonly word: 'is'; readonly values: readonly Plain[] }
  | { readonly word: 'like'; readonly patterns: readonly string[] };

export interface Conditions {
  readonly needs: readonly Need[];
  /** Something of it has no meaning: what allows must then allow nothing, what closes counts without it. */
  readonly isBroken: boolean;
}

export function readConditions(args: unknown, { file }: Pick<Provenance, 'file'>, bases: Bases): Conditions {
  if (args === undefined) return NONE;
  const needs: Need[] = [];
  let isBroken = !isObject(args);
  const base = file === undefined ? bases.cwd : dirname(file);
  const read = (map: JsonObject, before: readonly string[]): void => {
    for (const [name, written] of Object.entries(map)) {
      const keys = [...before, ...name.split('.')];
      const reading = readCondition(written);
      const isTooMuch = keys.length > limits.ruleValues.depth || needs.length >= limits.ruleValues.needs;
      const need =
        reading.kind === 'condition' ? needOf(keys, reading.said, (text) => folderOf(text, base, bases)) : undefined;
      if (reading.kind === 'within' && !isTooMuch) read(reading.map, keys);
      else if (need && !isTooMuch) needs.push(need);
      else isBroken = true;
    }
  };
  if (isObject(args)) read(args, []);
  return { needs, isBroken };
}

const NONE: Conditions = { needs: [], isBroken: false };

type ToFolder = (text: string) => Folder | undefined;
type Said = Extract<ConditionReading, { readonly kind: 'condition' }>['said'];

function needOf(keys: readonly string[], said: Said, toFolder: ToFolder): Need | undefined {
  const tests = said.map(([word, values]) => testOf(word, values, toFolder));
  if (!tests.every((test) => test !== undefined)) return undefined;
  const texts = said.map(([word, values]) => `${word} ${values.map((each) => JSON.stringify(each)).join(' or ')}`);
  return { keys, tests, text: `${keys.join('.')} ${texts.join(' and ')}` };
}

/** The values are known to fit the word. */
function testOf(word: ConditionWord, values: readonly unknown[], toFolder: ToFolder): Test | undefined {
  if (word === 'is') return { word, values: values as readonly Plain[] };
  const texts = values.map(String);
  if (word === 'like') return { word, patterns: texts };
  if (word === 'host') {
    const hosts = texts.map(hostPatternOf);
    return hosts.every((host) => host !== undefined) ? { word, hosts } : undefined;
  }
  const folders = texts.map(toFolder);
  return folders.every((folder) => folder !== undefined) ? { word, folders } : undefined;
}

/** `undefined` where nobody has said what it counts from. */
function folderOf(text: string, base: string | undefined, { cwd, home }: Bases): Folder | undefined {
  const [, named, rest = ''] = /^(~|\$\{\w+\})(.*)$/s.exec(text) ?? [];
  if (named === undefined && isAbsolute(text)) return { path: resolve(text) };
  const isHome = named !== undefined && named !== WORKSPACE;
  const from = named === undefined ? base : isHome ? home : cwd;
  if (from === undefined || !isAbsolute(from)) return undefined;
  const path = resolve(from, named === undefined ? text : `.${rest}`);
  return isHome ? { path } : { path, base: resolve(from) };
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes it
const WORKSPACE = '${workspaceFolder}';

/** What allows must hold for certain and everywhere; what closes holds wherever it may. An argument that is not there never. */
export function areMet(
  needs: readonly Need[],
  args: JsonObject,
  mode: 'allow' | 'close',
  ground: PathContext,
): boolean {
  return needs.every(({ keys, tests }) => {
    const { values, isComplete, isClear } = valuesAt(args, keys);
    if (mode === 'close')
      return !isClear || values.some((value) => tests.every((test) => answerTo(test, value, ground) !== 'no'));
    return isComplete && values.every((value) => tests.every((test) => answerTo(test, value, ground) === 'yes'));
  });
}

function answerTo(test: Test, value: unknown, ground: PathContext): TriState {
  if (value === null || value === undefined) return 'no';
  if (test.word === 'is') return anyOf(test.values, (one) => isSame(one, value));
  if (typeof value !== 'string') return 'unsure';
  if (test.word === 'under') return isUnder(value, test.folders, ground);
  if (test.word === 'host') return isOnHost(value, test.hosts);
  if (value.length > limits.ruleValues.textChars) return 'unsure';
  return anyOf(test.patterns, (pattern) => isLike(value, pattern));
}

/** Some servers take `"1"` for 1, or do not look at capitals. */
function isSame(one: Plain, value: unknown): TriState {
  if (value === one) return 'yes';
  if (typeof value === 'object' || typeof value === 'function') return 'unsure';
  if (typeof value === 'string' && value.length > limits.ruleValues.textChars) return 'unsure';
  return blur(String(value)).trim() === blur(String(one)).trim() ? 'unsure' : 'no';
}

function isLike(value: string, pattern: string): TriState {
  if (matchesWildcard(pattern, value)) return 'yes';
  const plain = (text: string) => blur(text).replace(/\s+/g, ' ').trim();
  return matchesWildcard(plain(pattern), plain(value)) ? 'unsure' : 'no';
}
