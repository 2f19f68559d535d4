// Owns the words for why a schema refuses a value: where the problem is, what was wanted, and what came instead.

/** One problem, and the path of the part it is about; a missing part has a path as well. */
export interface SchemaProblem {
  readonly path: readonly (string | number)[];
  readonly kind: 'missing' | 'refused';
  readonly text: string;
}

/** Where a part of the value is, as a list from the inside out, so that a path is built only for a problem. */
export interface ValueLocation {
  readonly key: string | number;
  readonly within: ValueLocation | undefined;
}

export interface Complaint extends Omit<SchemaProblem, 'path'> {
  readonly location: ValueLocation | undefined;
  /** What should stand at the location instead, where the complaint is about the whole value there. */
  readonly wanted?: string;
}

/** `undefined` when the caller only needs a yes or no: the check stops at the first "no". */
export type Complaints = Complaint[] | undefined;

/** Far more than are shown; a hostile schema could produce any number. */
const MOST_COMPLAINTS = 1_000;

const isWanted = (problems: Complaints): problems is Complaint[] =>
  problems !== undefined && problems.length < MOST_COMPLAINTS;

export function addComplaint(problems: Complaints, complaint: Complaint): void {
  if (isWanted(problems)) problems.push(complaint);
}

/** Adds a complaint and returns false, for the end of an `||`. `what` follows "they" or a quoted name: "must …". */
export function complain(problems: Complaints, location: ValueLocation | undefined, what: string): false {
  if (isWanted(problems)) problems.push({ location, kind: 'refused', text: `${subject(location)} ${what}` });
  return false;
}

/** Adds the complaint that another value should stand there, and returns false. */
export function refuse(
  problems: Complaints,
  location: ValueLocation | undefined,
  wanted: string,
  value: unknown,
  suggestion?: string | undefined,
): false {
  if (!isWanted(problems)) return false;
  const text = `${subject(location)} must be ${shorten(wanted, MOST_CHARS)}, not ${describe(value)}${didYouMean(suggestion)}`;
  problems.push({ location, kind: 'refused', text, wanted });
  return false;
}

export const didYouMean = (suggestion: string | undefined) =>
  suggestion === undefined ? '' : ` (did you mean ${quote(suggestion)}?)`;
const subject = (location: ValueLocation | undefined) => (location === undefined ? 'they' : quote(spell(location)));
export const inside = (location: ValueLocation | undefined) =>
  location === undefined ? '' : ` in ${quote(spell(location))}`;

/** The longest text of a problem: it may quote a schema or a value of any length. */
export const MOST_CHARS = 600;
const MOST_QUOTED = 60;

function spell(location: ValueLocation): string {
  return pathOf(location).join('.');
}

export function pathOf(location: ValueLocation | undefined): (string | number)[] {
  const path: (string | number)[] = [];
  for (let each = location; each !== undefined; each = each.within) path.push(each.key);
  return path.reverse();
}

export const quote = (name: string) => `"${shorten(name, MOST_QUOTED * 2)}"`;
export const shorten = (text: string, limit: number) => (text.length <= limit ? text : `${text.slice(0, limit)}…`);

/** The value that came instead, in a few words. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return `${typeof value} ${shorten(String(value), MOST_QUOTED)}`;
  if (value.length <= MOST_QUOTED) return `string ${JSON.stringify(value)}`;
  return `string ${JSON.stringify(value.slice(0, MOST_QUOTED)).slice(0, -1)}…" (${value.length} characters)`;
}
