// Owns placeholders as text: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `{env:VAR}` and `${input:id}`. Pure; `resolve.ts` decides
// where values come from and what a missing value means for its server; the message is `ENV_MISSING` in `model/errors.ts`.

export type Lookup = (name: string) => string | undefined;

export interface Lookups {
  readonly variable: Lookup;
  readonly input?: Lookup;
  /** Whether a placeholder without a value stays as it is written, instead of becoming empty. */
  readonly keepMissing?: boolean;
}

export interface Expanded {
  readonly value: string;
  /** Variables that are neither set nor have a default; each is empty in `value`. */
  readonly missing: readonly string[];
  readonly missingInputs: readonly string[];
}

interface Placeholder {
  readonly kind: 'variable' | 'input';
  readonly name: string;
  readonly fallback: Template | undefined;
  /** As written. */
  readonly text: string;
}

type Template = readonly (string | Placeholder)[];

/** A default may hold placeholders itself; they are filled in only when the default is needed. */
export function expand(text: string, { variable, input, keepMissing }: Lookups): Expanded {
  const missing = new Set<string>();
  const missingInputs = new Set<string>();
  const fill = (template: Template): string => template.map(textOf).join('');
  const textOf = (part: string | Placeholder): string => {
    if (typeof part === 'string') return part;
    const { kind, name, fallback, text: written } = part;
    const found = kind === 'input' ? input?.(name) : variable(name);
    // As in a shell, the default after `:-` also replaces a variable that is set to an empty text.
    if (found || (found === '' && fallback === undefined)) return found;
    if (fallback !== undefined) return fill(fallback);
    (kind === 'input' ? missingInputs : missing).add(name);
    return keepMissing ? written : '';
  };
  return { value: fill(parse(text)), missing: [...missing], missingInputs: [...missingInputs] };
}

export const variablesOf = (text: string): readonly string[] => namesOf(parse(text), 'variable');
export const inputsOf = (text: string): readonly string[] => namesOf(parse(text), 'input');

function namesOf(template: Template, kind: Placeholder['kind']): readonly string[] {
  const names = template.flatMap((part): readonly string[] => {
    if (typeof part === 'string') return [];
    return [...(part.kind === kind ? [part.name] : []), ...namesOf(part.fallback ?? [], kind)];
  });
  return [...new Set(names)];
}

/** Texts that look like placeholders, mistyped or of another program. They stay as they are written. */
export const foreignPlaceholdersIn = (text: string): readonly string[] => text.match(FOREIGN_PLACEHOLDER) ?? [];

const FOREIGN_PLACEHOLDER = /\$\{(?!(?:env|input):)[A-Za-z]\w*:(?!-)[^{}]*\}|\{file:[^{}]*\}/g;

/** A value `!command` stands for the output of the command; `!!` at the beginning is one plain `!`. */
export const isCommand = (value: string) => value.startsWith('!') && !value.startsWith('!!');

const VARIABLE = /^(?:env:)?([A-Za-z_]\w*|\/)(:-)?/;
const INPUT = /^input:([\w.][\w.-]*)(:-)?/;
const BRACED_VARIABLE = /\{env:([A-Za-z_]\w*)\}/y;
const DEEPEST_NESTING = 20;

interface OpenPlaceholder {
  readonly at: number;
  readonly parts: (string | Placeholder)[];
}

/**
 * Linear: one pass, each brace is opened and closed once. A placeholder that is never closed, or nested too deeply, is plain
 * text.
 */
function parse(text: string): Template {
  if (!text.includes('{')) return [text];
  const stack: OpenPlaceholder[] = [{ at: 0, parts: [] }];
  let done = 0;
  const add = (part: string | Placeholder) => part !== '' && stack.at(-1)?.parts.push(part);
  for (let at = nextBrace(text, 0); at < text.length; at = nextBrace(text, at)) {
    BRACED_VARIABLE.lastIndex = at;
    const braced = text[at - 1] === '$' ? undefined : BRACED_VARIABLE.exec(text)?.[1];
    if (braced !== undefined) {
      add(text.slice(done, at));
      done = BRACED_VARIABLE.lastIndex;
      add({ kind: 'variable', name: braced, fallback: undefined, text: text.slice(at, done) });
    } else if (text.startsWith('${', at - 1) && text[at] === '{' && stack.length <= DEEPEST_NESTING) {
      add(text.slice(done, at - 1));
      stack.push({ at: at - 1, parts: [] });
      done = at + 1;
    } else if (text[at] === '}' && stack.length > 1) {
      add(text.slice(done, at));
      done = at + 1;
      const { at: from, parts } = stack.pop() ?? { at, parts: [] };
      for (const part of closed(parts, text.slice(from, done))) add(part);
    }
    at = Math.max(at + 1, done);
  }
  add(text.slice(done));
  // A placeholder that was never closed is text, but the placeholders inside it count.
  while (stack.length > 1) {
    const { parts } = stack.pop() ?? { parts: [] };
    for (const part of ['${', ...parts]) add(part);
  }
  return stack[0]?.parts ?? [];
}

function nextBrace(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === '{' || text[at] === '}') return at;
  return text.length;
}

/** One placeholder, or the same characters as plain text when they do not make one. */
function closed(parts: readonly (string | Placeholder)[], text: string): Template {
  const [head = '', ...rest] = parts;
  const input = typeof head === 'string' ? INPUT.exec(head) : null;
  const match = input ?? (typeof head === 'string' ? VARIABLE.exec(head) : null);
  const [whole = '', name = '', defaulted] = match ?? [];
  const isWhole = typeof head === 'string' && head.length === whole.length && rest.length === 0;
  if (match === null || (!isWhole && defaulted === undefined)) return ['${', ...parts, '}'];
  const fallback = defaulted === undefined ? undefined : [String(head).slice(whole.length), ...rest];
  return [{ kind: input ? 'input' : 'variable', name, fallback, text }];
}
