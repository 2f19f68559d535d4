// Owns matching a stranger's regular expression without being stalled by it: what could take long is not decided at all.

/** The pattern is not safe, not a pattern, or the text too long for it. */
export class UndecidedPattern extends Error {
  override readonly name = 'UndecidedPattern';
}

/** The longest text that a pattern with so many points of choice is matched against; with more than these, none. */
const longestText: readonly number[] = [2_000, 2_000, 300, 60];

interface Known {
  readonly pattern: RegExp;
  readonly longest: number;
}

const known = new Map<string, Known | undefined>();
const MOST_KNOWN = 1_000;

export function isMatch(source: string, text: string): boolean {
  const compiled = compile(source);
  if (compiled === undefined || text.length > compiled.longest) throw new UndecidedPattern();
  return compiled.pattern.test(text);
}

function compile(source: string): Known | undefined {
  if (known.has(source)) return known.get(source);
  if (known.size >= MOST_KNOWN) known.clear();
  const compiled = tryCompile(source);
  known.set(source, compiled);
  return compiled;
}

function tryCompile(source: string): Known | undefined {
  const longest = longestText[choicesIn(source)];
  if (longest === undefined) return undefined;
  try {
    return { pattern: new RegExp(source, 'u'), longest };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Where a matcher may have to come back: open-ended parts and alternatives. A repeated group or a look back is endless. */
function choicesIn(source: string): number {
  const bare = source
    .replace(/\\[1-9k]/g, '\u0000')
    .replace(/\\./g, '_')
    .replace(/\[[^\]]*\]/g, '_')
    .replace(/\(\?(?::|<?[=!]|<\w+>)/g, '(');
  if (bare.includes('\u0000') || /\)[*+?{]/.test(bare)) return Number.POSITIVE_INFINITY;
  return bare.replace(/\{\d+\}/g, '').match(/[*+?{|]/g)?.length ?? 0;
}
