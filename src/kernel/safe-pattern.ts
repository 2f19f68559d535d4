// Owns matching an untrusted regular expression without being stalled by it: a match that could take long is not attempted.

/** The pattern is not safe or not valid, or the text is too long for it. */
export class UndecidedPattern extends Error {
  override readonly name = 'UndecidedPattern';
}

/** By the number of choice points of a pattern: the longest text it is matched against. With more choices it is not matched. */
const longestText: readonly number[] = [2_000, 2_000, 300, 60];
const LONGEST_SOURCE = 2_000;

interface CompiledPattern {
  readonly pattern: RegExp;
  readonly longest: number;
  /** How many positions of a text it may combine, and how much it may compare at each of them. */
  readonly places: number;
  readonly width: number;
}

const compiledBySource = new Map<string, CompiledPattern | undefined>();
const MOST_COMPILED = 1_000;

/** Calls `spend` with the possible cost before matching, in steps of about a microsecond. */
export function isMatch(source: string, text: string, spend: (steps: number) => void): boolean {
  const compiled = compile(source, spend);
  if (compiled === undefined || text.length > compiled.longest) throw new UndecidedPattern();
  spend(costOf(compiled, text.length));
  return compiled.pattern.test(text);
}

/** The number of ways to choose so many positions in order. */
function costOf({ places, width }: CompiledPattern, length: number): number {
  let ways = 1;
  for (let place = 1; place <= places; place++) ways *= (length + place) / place;
  return 0.5 + (ways * width) / 100;
}

function compile(source: string, spend: (steps: number) => void): CompiledPattern | undefined {
  if (source.length > LONGEST_SOURCE) return undefined;
  if (compiledBySource.has(source)) return compiledBySource.get(source);
  spend(COMPILING_STEPS + source.length / 5);
  if (compiledBySource.size >= MOST_COMPILED) compiledBySource.clear();
  const compiled = tryCompile(source);
  compiledBySource.set(source, compiled);
  return compiled;
}

const COMPILING_STEPS = 20;

function tryCompile(source: string): CompiledPattern | undefined {
  const choices = choicesIn(source);
  const longest = longestText[choices];
  if (longest === undefined) return undefined;
  // Without an anchor, where the match begins is one more choice.
  const places = source.startsWith('^') && !source.includes('|') ? choices : choices + 1;
  try {
    return { pattern: new RegExp(source, 'u'), longest, places, width: widthOf(source) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Comparing characters in a row is much cheaper than backtracking. */
function widthOf(source: string): number {
  const repeats = [...source.matchAll(/\{(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  return 1 + (source.length + repeats) / 16;
}

/** Where a matcher may backtrack: open-ended parts and alternatives. Repeated groups and backreferences count as endless. */
function choicesIn(source: string): number {
  const bare = source
    .replace(/\\[1-9k]/g, '\u0000')
    .replace(/\\./g, '_')
    .replace(/\[[^\]]*\]/g, '_')
    .replace(/\(\?(?::|<?[=!]|<\w+>)/g, '(');
  if (bare.includes('\u0000') || /\)[*+?{]/.test(bare)) return Number.POSITIVE_INFINITY;
  return bare.replace(/\{\d+\}/g, '').match(/[*+?{|]/g)?.length ?? 0;
}
