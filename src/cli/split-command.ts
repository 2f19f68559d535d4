// Owns splitting a command line into words as a shell would, for `--stdio`. No shell is run: what only a shell could do is refused
// with what to write instead. Pure.

export type SplitCommand =
  | { readonly ok: true; readonly words: readonly string[] }
  | { readonly ok: false; readonly problem: string };

export interface SplitOptions {
  /** On Windows a backslash separates folders, and quotes nothing but a quotation mark. */
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

/** Characters with which a shell would start further programs or open files. */
const OPERATORS = '|&;<>()`';

/** A shell would put the value in; Plexus does that for the form with braces. */
const VARIABLE = /^\$([A-Za-z_]\w*)/;

export function splitCommand(line: string, options: SplitOptions): SplitCommand {
  const splitter = new Splitter(line, options);
  const problem = splitter.run();
  if (problem !== undefined) return { ok: false, problem };
  const [first] = splitter.words;
  if (first === undefined) return { ok: false, problem: 'it names no command' };
  if (/^[A-Za-z_]\w*=/.test(first)) return { ok: false, problem: `"${first}" sets a variable; write --env ${first}` };
  return { ok: true, words: splitter.words };
}

class Splitter {
  readonly words: string[] = [];
  readonly #line: string;
  readonly #escapesAll: boolean;
  readonly #home: string;
  /** `undefined` between two words; an empty pair of quotes is a word. */
  #word: string | undefined;

  constructor(line: string, { platform, home }: SplitOptions) {
    this.#line = line;
    this.#escapesAll = platform !== 'win32';
    this.#home = home;
  }

  /** Returns the problem, if there is one. */
  run(): string | undefined {
    let at = 0;
    while (at < this.#line.length) {
      const next = this.#step(at);
      if (typeof next === 'string') return next;
      at = next;
    }
    this.#end();
    return undefined;
  }

  /** Takes what begins at this place; returns where to go on, or the problem. */
  #step(at: number): number | string {
    const character = this.#line[at] ?? '';
    if (/\s/.test(character)) {
      this.#end();
      return at + 1;
    }
    if (character === "'" && this.#escapesAll) return this.#literal(at);
    if (character === '"') return this.#quoted(at);
    if (character === '\\' && (this.#escapesAll || this.#line[at + 1] === '"')) return this.#escaped(at);
    if (VARIABLE.test(this.#line.slice(at))) return variable(this.#line.slice(at));
    if (this.#escapesAll && OPERATORS.includes(character))
      return `no shell is run, so that ${character} has no meaning; quote it, or start a shell: sh -c '…'`;
    const isHome = character === '~' && this.#word === undefined && /^~(?:[\\/]|\s|$)/.test(this.#line.slice(at));
    this.#add(isHome ? this.#home : character);
    return at + 1;
  }

  #literal(at: number): number | string {
    const end = this.#line.indexOf("'", at + 1);
    if (end < 0) return unclosed("'", at);
    this.#add(this.#line.slice(at + 1, end));
    return end + 1;
  }

  /** Within double quotes a backslash stands for itself, unless it is before a character that would mean something there. */
  #quoted(start: number): number | string {
    const special = this.#escapesAll ? '"\\$`' : '"';
    this.#add('');
    for (let at = start + 1; at < this.#line.length; at++) {
      const character = this.#line[at] ?? '';
      if (character === '"') return at + 1;
      if (VARIABLE.test(this.#line.slice(at))) return variable(this.#line.slice(at));
      const next = this.#line[at + 1];
      const isEscape = character === '\\' && next !== undefined && special.includes(next);
      this.#add(isEscape ? next : character);
      if (isEscape) at++;
    }
    return unclosed('"', start);
  }

  #escaped(at: number): number | string {
    const next = this.#line[at + 1];
    if (next === undefined) return 'it ends with a backslash, which stands before nothing';
    this.#add(next);
    return at + 2;
  }

  #add(text: string): void {
    this.#word = (this.#word ?? '') + text;
  }

  #end(): void {
    if (this.#word !== undefined) this.words.push(this.#word);
    this.#word = undefined;
  }
}

const unclosed = (quote: string, at: number) => `the ${quote} at character ${at + 1} is never closed`;

function variable(rest: string): string {
  const [written, name] = VARIABLE.exec(rest) ?? [];
  return `no shell is run, so that ${written} would stay as it is; write \${${name}}`;
}
