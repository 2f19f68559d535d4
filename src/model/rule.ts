// Owns the types of permission rules as files write them, and checking their conditions. `policy/` compiles and applies them.

import { isObject } from '../kernel/json.ts';
import { limits } from './limits.ts';
import type { Provenance } from './server.ts';

export type Verdict = 'allow' | 'ask' | 'deny';

export interface RuleText {
  /** As written: `mcp__files__*`. */
  readonly tool: string;
  readonly action: Verdict;
  /** The rule applies only to calls whose arguments meet all of these conditions. */
  readonly args?: ArgumentConditions;
  /** Which part of the rule has no effect, in words that complete "it …". */
  readonly misread?: string;
  readonly provenance: Provenance;
}

/** A rule that was read and does not apply; it is listed so that its author finds out why. */
export interface IdleRule extends RuleText {
  /** In words that complete "it …". */
  readonly idle: string;
}

/** By the name of an argument. A dot in the name, or a nested map, reaches into an argument. */
export interface ArgumentConditions {
  readonly [argument: string]: Plain | readonly Plain[] | Condition | ArgumentConditions;
}

/** A value alone means that the argument equals it. */
export type Plain = string | number | boolean;

/** The condition for one argument, as written. All given keys must hold; of a list, one value is enough. */
export interface Condition {
  /** A path in one of these folders; relative ones count from the folder of the rule's file. */
  readonly under?: string | readonly string[];
  /** An address on one of these hosts; `*` and `?` as in names. */
  readonly host?: string | readonly string[];
  /** Equals one of these. */
  readonly is?: Plain | readonly Plain[];
  /** A text that matches one of these patterns; `*` and `?` as in names. */
  readonly like?: string | readonly string[];
}

export type ConditionWord = keyof Condition;

/** What each key accepts, in words that complete "it must be …". */
const expectations: Readonly<Record<ConditionWord, string>> = {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes them
  under: 'a folder or a list of them; of placeholders only "${workspaceFolder}", "${userHome}" or "~" at its beginning',
  host: 'a host such as "*.example.com" or "localhost:3000", or a list of them',
  is: 'a string, a number, true, false, or a list of them',
  like: 'a text such as "select *", or a list of them',
};

export const conditionWords = Object.keys(expectations) as readonly ConditionWord[];

export interface ConditionFault {
  /** The path below `args`, as written. */
  readonly path: readonly string[];
  readonly expected: string;
}

export type ConditionReading =
  | {
      readonly kind: 'condition';
      readonly said: readonly (readonly [word: ConditionWord, values: readonly unknown[]])[];
    }
  /** Conditions for what lies within the argument. */
  | { readonly kind: 'within'; readonly map: Readonly<Record<string, unknown>> }
  | { readonly kind: 'fault'; readonly faults: readonly ConditionFault[] };

/**
 * An argument may have the name of a condition's key: then its value is a map, which no key of a condition takes. To forbid a
 * condition, report a fault here: a key that is only removed from the table would be read as the name of an argument.
 */
export function readCondition(written: unknown): ConditionReading {
  const map = isObject(written) ? written : { is: written };
  const areWords = Object.entries(map).map(([key, value]) => isWord(key) && !isObject(value));
  if (areWords.length === 0 || (areWords.includes(true) && areWords.includes(false)))
    return { kind: 'fault', faults: [{ path: [], expected: alternatives }] };
  if (areWords.includes(false)) return { kind: 'within', map };
  const said = conditionWords
    .filter((word) => Object.hasOwn(map, word))
    .map((word) => [word, [map[word]].flat()] as const);
  const faults = said
    .filter(([word, values]) => !areFit(word, values))
    .map(([word]) => ({ path: isObject(written) ? [word] : [], expected: expectations[word] }));
  return faults.length > 0 ? { kind: 'fault', faults } : { kind: 'condition', said };
}

const isWord = (key: string): key is ConditionWord => Object.hasOwn(expectations, key);
const alternatives = `a map with nothing but ${conditionWords.map((word) => `"${word}"`).join(', ')} in it`;

function areFit(word: ConditionWord, values: readonly unknown[]): boolean {
  return values.length > 0 && values.length <= limits.ruleValues.needs && values.every((value) => isFit(word, value));
}

const PLAIN: readonly string[] = ['string', 'number', 'boolean'];
/** A host name or pattern, with an optional port; no other part of an address. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[^\s/:@#[\]\\%]*[^\s/:@#[\]\\%.]\.?)(?::(?:\d{1,5}|\*))?$/i;
/** Other placeholders could stand for anything, and `~user` for a folder anywhere. */
const FOLDER = /^(?:(?:~|\$\{workspaceFolder\}|\$\{userHome\})(?:[\\/]|$)|(?!~))(?!.*\$\{)/s;

function isFit(word: ConditionWord, value: unknown): boolean {
  if (word === 'is') return PLAIN.includes(typeof value);
  if (typeof value !== 'string' || value === '' || value.length > limits.ruleValues.pathChars) return false;
  if (word === 'host') return HOST.test(value);
  return word === 'like' || (FOLDER.test(value) && !value.includes('\0'));
}

/** Everything in `args` that is no valid condition. */
export function faultsIn(args: unknown): readonly ConditionFault[] {
  if (!isObject(args)) return [{ path: [], expected: 'a map from arguments to what they must be like' }];
  const find = (map: Readonly<Record<string, unknown>>, path: readonly string[]): readonly ConditionFault[] =>
    Object.entries(map).flatMap(([name, written]) => {
      const reading = readCondition(written);
      const at = [...path, name];
      if (reading.kind === 'condition') return [];
      if (reading.kind === 'fault') return reading.faults.map((fault) => ({ ...fault, path: [...at, ...fault.path] }));
      return at.length < limits.ruleValues.depth ? find(reading.map, at) : [{ path: at, expected: alternatives }];
    });
  return find(args, []);
}
