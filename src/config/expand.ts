// Owns placeholders as text: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `{env:VAR}` and `${input:id}`. Pure; where values come
// from, and what a missing one means for its server, is `resolve.ts`'s.

export type Lookup = (name: string) => string | undefined;

export interface Lookups {
  readonly variable: Lookup;
  readonly input?: Lookup;
  /** Whether a placeholder without a value stays as it is written, instead of becoming nothing. */
  readonly keepMissing?: boolean;
}

export interface Expanded {
  readonly value: string;
  /** Variables that are neither set nor have a default; each stands in `value` as nothing. */
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

/** A default may hold placeholders itself; it is looked at only when it is needed. */
export function expand(text: string, { variable, input, keepMissing }: Lookups): Expanded {
  const missing = new Set<string>();
  const missingInputs = new Set<string>();
  const fill = (template: Template): string => template.map(textOf).join('');
  const textOf = (part: string | Placeholder): string => {
    if (typeof part === 'string') return part;
    const { kind, name, fallback, text: written } = part;
    const found = kind === 'input' ? input?.(name) : variable(name);
    // As in a shell, `:-` also stands in for a variable that is set to nothing.
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

/** What looks like a placeholder, of another program or mistyped, and stays as it is written. */
export const foreignPlaceholdersIn = (text: string): readonly string[] => text.match(FOREIGN_PLACEHOLDER) ?? [];

const FOREIGN_PLACEHOLDER = /\$\{(?!(?:env|input):)[A-Za-z]\w*:(?!-)[^{}]*\}|\{file:[^{}]*\}/g;

/** A whole value `!command` stands for what the command prints; `!!` at the beginning is one plain `!`. */
export const isCommand = (value: string) => value.startsWith('!') && !value.startsWith('!!');

const VARIABLE = /^(?:env:)?([A-Za-z_]\w*|\/)(:-)?/;
const INPUT = /^input:([\w.][\w.-]*)(:-)?/;
const BRACED_VARIABLE = /\{env:([A-Za-z_]\w*)\}/y;
const DEEPEST_NESTING = 20;

interface OpenPlaceholder {
  readonly at: number;
  readonly parts: (string | Placeholder)[];
}

/** Linear: one pass, each brace is opened and closed once; what is never closed, or nested absurdly, is plain text. */
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
  // What was never closed is text, with the placeholders in it.
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

/** One placeholder, or the same characters as text when it is none. */
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
