// Owns matching a stranger's regular expression without being stalled by it: what could take long is not decided at all.

/** The pattern is not safe, not a pattern, or the text too long for it. */
export class UndecidedPattern extends Error {
  override readonly name = 'UndecidedPattern';
}

/** The longest text that a pattern with so many points of choice is matched against; with more than these, none. */
const longestText: readonly number[] = [2_000, 2_000, 300, 60];
const LONGEST_SOURCE = 2_000;

interface Known {
  readonly pattern: RegExp;
  readonly longest: number;
  /** How many places of a text it may combine, and how much it may compare at each of them. */
  readonly places: number;
  readonly width: number;
}

const known = new Map<string, Known | undefined>();
const MOST_KNOWN = 1_000;

/** What it may cost is told before it is done, in steps of about a microsecond. */
export function isMatch(source: string, text: string, spend: (steps: number) => void): boolean {
  const compiled = compile(source, spend);
  if (compiled === undefined || text.length > compiled.longest) throw new UndecidedPattern();
  spend(costOf(compiled, text.length));
  return compiled.pattern.test(text);
}

/** All ways to choose so many places one after the other. */
function costOf({ places, width }: Known, length: number): number {
  let ways = 1;
  for (let place = 1; place <= places; place++) ways *= (length + place) / place;
  return 0.5 + (ways * width) / 100;
}

function compile(source: string, spend: (steps: number) => void): Known | undefined {
  if (source.length > LONGEST_SOURCE) return undefined;
  if (known.has(source)) return known.get(source);
  spend(COMPILING_STEPS + source.length / 5);
  if (known.size >= MOST_KNOWN) known.clear();
  const compiled = tryCompile(source);
  known.set(source, compiled);
  return compiled;
}

const COMPILING_STEPS = 20;

function tryCompile(source: string): Known | undefined {
  const choices = choicesIn(source);
  const longest = longestText[choices];
  if (longest === undefined) return undefined;
  // From where it begins, unless that is said.
  const places = source.startsWith('^') && !source.includes('|') ? choices : choices + 1;
  try {
    return { pattern: new RegExp(source, 'u'), longest, places, width: widthOf(source) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Characters in a row are compared much faster than ways are tried. */
function widthOf(source: string): number {
  const repeats = [...source.matchAll(/\{(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  return 1 + (source.length + repeats) / 16;
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
