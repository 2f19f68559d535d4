// Owns testing whether the arguments of one call meet a rule's conditions. Which conditions exist, and which values each of
// them takes, is `model/rule.ts`.

import { dirname, isAbsolute, resolve } from 'node:path';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { matchesWildcard } from '../kernel/wildcard.ts';
import { limits } from '../model/limits.ts';
import { type ConditionReading, type ConditionWord, type Plain, readCondition } from '../model/rule.ts';
import type { Provenance } from '../model/server.ts';
import { valuesAt } from './argument-values.ts';
import { type HostPattern, hostMatch, hostPatternOf } from './host.ts';
import { containment, type PathContext, type RuleFolder } from './path-containment.ts';
import { anyOf, looseForm, type TriState } from './tri-state.ts';
import { mayBeSame } from './value-readings.ts';

/** The folders that relative folders in rules are resolved from. */
export interface FolderBases {
  /** The workspace: for rules of the host program, and for `${workspaceFolder}`. */
  readonly cwd?: string;
  readonly home?: string;
}

/** One rule's condition on one argument. */
export interface ArgumentCondition {
  readonly keys: readonly string[];
  readonly tests: readonly ConditionTest[];
  /** For people: `path under "./out"`. */
  readonly text: string;
}

type ConditionTest =
  | { readonly word: 'under'; readonly folders: readonly RuleFolder[] }
  | { readonly word: 'host'; readonly hosts: readonly HostPattern[] }
  | { readonly word: 'is'; readonly values: readonly Plain[] }
  | { readonly word: 'like'; readonly patterns: readonly string[] };

export interface ParsedConditions {
  readonly conditions: readonly ArgumentCondition[];
  /** A condition could not be read. An allow must then match nothing; a deny or ask applies without that condition. */
  readonly isInvalid: boolean;
}

export function parseConditions(
  args: unknown,
  { file }: Pick<Provenance, 'file'>,
  bases: FolderBases,
): ParsedConditions {
  if (args === undefined) return NONE;
  const conditions: ArgumentCondition[] = [];
  let isInvalid = !isObject(args);
  const base = file === undefined ? bases.cwd : dirname(file);
  const read = (map: JsonObject, before: readonly string[]): void => {
    for (const [name, written] of Object.entries(map)) {
      const keys = [...before, ...name.split('.')];
      const reading = readCondition(written);
      const isTooMuch = keys.length > limits.ruleValues.depth || conditions.length >= limits.ruleValues.needs;
      const condition =
        reading.kind === 'condition'
          ? conditionOf(keys, reading.said, (text) => folderOf(text, base, bases))
          : undefined;
      if (reading.kind === 'within' && !isTooMuch) read(reading.map, keys);
      else if (condition && !isTooMuch) conditions.push(condition);
      else isInvalid = true;
    }
  };
  if (isObject(args)) read(args, []);
  return { conditions, isInvalid };
}

const NONE: ParsedConditions = { conditions: [], isInvalid: false };

type ToFolder = (text: string) => RuleFolder | undefined;
type ConditionTerms = Extract<ConditionReading, { readonly kind: 'condition' }>['said'];

function conditionOf(
  keys: readonly string[],
  terms: ConditionTerms,
  toFolder: ToFolder,
): ArgumentCondition | undefined {
  const tests = terms.map(([word, values]) => testOf(word, values, toFolder));
  if (!tests.every((test) => test !== undefined)) return undefined;
  const texts = terms.map(([word, values]) => `${word} ${values.map((each) => JSON.stringify(each)).join(' or ')}`);
  return { keys, tests, text: `${keys.join('.')} ${texts.join(' and ')}` };
}

/** `readCondition` has checked that the values are of the type the word takes. */
function testOf(word: ConditionWord, values: readonly unknown[], toFolder: ToFolder): ConditionTest | undefined {
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

/** `undefined` where the folder is relative and the folder it is relative to is not known. */
function folderOf(text: string, base: string | undefined, { cwd, home }: FolderBases): RuleFolder | undefined {
  const [, placeholder, rest = ''] = /^(~|\$\{\w+\})(.*)$/s.exec(text) ?? [];
  if (placeholder === undefined && isAbsolute(text)) return { path: resolve(text) };
  const isHome = placeholder !== undefined && placeholder !== WORKSPACE;
  const from = placeholder === undefined ? base : isHome ? home : cwd;
  if (from === undefined || !isAbsolute(from)) return undefined;
  const path = resolve(from, placeholder === undefined ? text : `.${rest}`);
  return isHome ? { path } : { path, base: resolve(from) };
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes it
const WORKSPACE = '${workspaceFolder}';

/**
 * For an allow, every value of the argument must certainly meet the condition; for a deny or ask, it is enough that one may. A
 * condition on an absent argument does not hold.
 */
export function conditionsHold(
  conditions: readonly ArgumentCondition[],
  args: JsonObject,
  mode: 'allow' | 'restrict',
  context: PathContext,
): boolean {
  return conditions.every(({ keys, tests }) => {
    const { values, isComplete, isClear } = valuesAt(args, keys);
    if (mode === 'restrict')
      return !isClear || values.some((value) => tests.every((test) => testValue(test, value, context) !== 'no'));
    return isComplete && values.every((value) => tests.every((test) => testValue(test, value, context) === 'yes'));
  });
}

function testValue(test: ConditionTest, value: unknown, context: PathContext): TriState {
  if (value === null || value === undefined) return 'no';
  if (test.word === 'is') return anyOf(test.values, (expected) => compareIs(expected, value));
  if (typeof value !== 'string') return 'unsure';
  if (test.word === 'under') return containment(value, test.folders, context);
  if (test.word === 'host') return hostMatch(value, test.hosts);
  if (value.length > limits.ruleValues.textChars) return 'unsure';
  return anyOf(test.patterns, (pattern) => compareLike(value, pattern));
}

/** Unsure where some server may take the one for the other: `"1"`, `"01"` or `"1.0"` for 1, `"yes"` for true, or other capitals. */
function compareIs(expected: Plain, value: unknown): TriState {
  if (value === expected) return 'yes';
  if (typeof value === 'object' || typeof value === 'function') return 'unsure';
  if (typeof value === 'string' && value.length > limits.ruleValues.textChars) return 'unsure';
  return mayBeSame(expected, value as Plain) ? 'unsure' : 'no';
}

function compareLike(value: string, pattern: string): TriState {
  if (matchesWildcard(pattern, value)) return 'yes';
  const plain = (text: string) => looseForm(text).replace(/\s+/g, ' ').trim();
  return matchesWildcard(plain(pattern), plain(value)) ? 'unsure' : 'no';
}
