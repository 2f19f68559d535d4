// Owns the words for what is wrong with a value that a schema refuses: where it is, what was wanted, and what came instead.

/** One thing that is wrong, and which part of the value it is about; a part that is missing has a path as well. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly kind: 'missing' | 'refused';
  readonly text: string;
}

/** Where a part of the value lies, from the inside out; spelled only when there is something to say. */
export interface Place {
  readonly key: string | number;
  readonly within: Place | undefined;
}

export interface Complaint extends Omit<Problem, 'path'> {
  readonly place: Place | undefined;
  /** Where it is about the whole of what stands there: what that should be. */
  readonly wanted?: string;
}

/** Without a list nobody wants to know why: the first "no" is enough. */
export type Problems = Complaint[] | undefined;

/** Far more than anybody is told: a schema may find as many as it likes. */
const MOST_COMPLAINTS = 1_000;

const isWanted = (problems: Problems): problems is Complaint[] =>
  problems !== undefined && problems.length < MOST_COMPLAINTS;

export function tell(problems: Problems, complaint: Complaint): void {
  if (isWanted(problems)) problems.push(complaint);
}

/** Always a "no", for the end of an `or`. It must read well after "they" and after a name: "must …". */
export function say(problems: Problems, place: Place | undefined, what: string): false {
  if (isWanted(problems)) problems.push({ place, kind: 'refused', text: `${subject(place)} ${what}` });
  return false;
}

/** Something else should stand there. */
export function refuse(
  problems: Problems,
  place: Place | undefined,
  wanted: string,
  value: unknown,
  meant?: string | undefined,
): false {
  if (!isWanted(problems)) return false;
  const text = `${subject(place)} must be ${shorten(wanted, MOST_CHARS)}, not ${describe(value)}${didYouMean(meant)}`;
  problems.push({ place, kind: 'refused', text, wanted });
  return false;
}

export const didYouMean = (meant: string | undefined) =>
  meant === undefined ? '' : ` (did you mean ${quote(meant)}?)`;
const subject = (place: Place | undefined) => (place === undefined ? 'they' : quote(spell(place)));
export const inside = (place: Place | undefined) => (place === undefined ? '' : ` in ${quote(spell(place))}`);

/** However many problems there are and whoever wrote what they quote: a reader gets a sentence, not a book. */
export const MOST_CHARS = 600;
const MOST_QUOTED = 60;

function spell(place: Place): string {
  return pathOf(place).join('.');
}

export function pathOf(place: Place | undefined): (string | number)[] {
  const path: (string | number)[] = [];
  for (let each = place; each !== undefined; each = each.within) path.push(each.key);
  return path.reverse();
}

export const quote = (name: string) => `"${shorten(name, MOST_QUOTED * 2)}"`;
export const shorten = (text: string, limit: number) => (text.length <= limit ? text : `${text.slice(0, limit)}…`);

/** What came instead, in a few words. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return `${typeof value} ${shorten(String(value), MOST_QUOTED)}`;
  if (value.length <= MOST_QUOTED) return `string ${JSON.stringify(value)}`;
  return `string ${JSON.stringify(value.slice(0, MOST_QUOTED)).slice(0, -1)}…" (${value.length} characters)`;
}
