// Owns how something wrong in a file is put into words, before anyone has looked up its line.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { FailureCode } from '../model/errors.ts';
import type { KeyPath } from './config-map.ts';

export interface ConfigProblem extends Pick<Diagnostic, 'severity' | 'message' | 'remedy' | 'loosens'> {
  readonly code?: FailureCode;
  /** As written, from where the reader of the file began. */
  readonly path: KeyPath;
}

export function within(base: KeyPath, problem: ConfigProblem): ConfigProblem {
  return { ...problem, path: [...base, ...problem.path] };
}

export function wrongType(path: KeyPath, expected: string, found: unknown): ConfigProblem {
  const message =
    found === undefined
      ? `${labelOf(path)} is missing; it must be ${expected}`
      : found === ''
        ? `${labelOf(path)} is empty; it must be ${expected}`
        : `${labelOf(path)} must be ${expected}, but is ${foundAt(path, found)}`;
  return { severity: 'error', path, message, remedy: `Write ${expected} there.` };
}

/** `"args[1]"`, `"env.PORT"`: how people point into a file. */
export function labelOf(path: KeyPath): string {
  if (path.length === 0) return 'the file';
  const [first = '', ...rest] = path.map((part) => (typeof part === 'string' ? part.slice(0, QUOTED_CHARS) : part));
  return `"${first}${rest.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')}"`;
}

/** Files can hold anything: what is quoted from them stays short. */
const QUOTED_CHARS = 60;

const mayHoldSecret = /env|header|args|url|token|proxy/i;

/** Names the kind of what was found, and shows it only where no secret can be: diagnostics travel. */
function foundAt(path: KeyPath, value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  if (typeof value === 'object') return 'a map';
  const kind = typeof value;
  if (value === '') return 'empty';
  if (kind === 'function' || path.some((part) => mayHoldSecret.test(String(part)))) return `a ${kind}`;
  return `the ${kind} ${typeof value === 'string' ? JSON.stringify(value.slice(0, QUOTED_CHARS)) : String(value)}`;
}
