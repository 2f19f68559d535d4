// Owns the problems that readers of a file find: their type, and the messages for a value of the wrong type. Lines are looked up
// later, in `file-problems.ts`.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { FailureCode } from '../model/errors.ts';
import type { KeyPath } from './config-map.ts';

export interface ConfigProblem extends Pick<Diagnostic, 'severity' | 'message' | 'remedy' | 'loosens'> {
  readonly code?: FailureCode;
  /** The keys as the file spells them, from where the reader began. */
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
        : `${labelOf(path)} must be ${expected}, but is ${describeValue(path, found)}`;
  return { severity: 'error', path, message, remedy: `Write ${expected} there.` };
}

/** `"args[1]"`, `"env.PORT"`: a path as messages quote it. */
export function labelOf(path: KeyPath): string {
  if (path.length === 0) return 'the file';
  const [first = '', ...rest] = path.map((part) => (typeof part === 'string' ? part.slice(0, QUOTED_CHARS) : part));
  return `"${first}${rest.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')}"`;
}

/** A file can hold anything, so quotes from it are kept short. */
const QUOTED_CHARS = 60;

const mayHoldSecret = /env|header|args|url|token|proxy/i;

/** Names the type of the value, and quotes it only where it cannot be a secret: diagnostics end up in logs and bug reports. */
function describeValue(path: KeyPath, value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  if (typeof value === 'object') return 'a map';
  const kind = typeof value;
  if (value === '') return 'empty';
  if (kind === 'function' || path.some((part) => mayHoldSecret.test(String(part)))) return `a ${kind}`;
  return `the ${kind} ${typeof value === 'string' ? JSON.stringify(value.slice(0, QUOTED_CHARS)) : String(value)}`;
}
