// Owns how arguments are handed to a batch file so that none of them can become a command.
//
// Everything unusual stays between double quotes, where cmd.exe sees no operators: a quote is doubled, which leaves and
// enters the quoted part at one place. That holds however often the line is read – by cmd.exe, by the batch file that
// hands its arguments on – so nobody has to know how often. Only a percent sign works within quotes; see below.

/** Nothing here means anything to cmd.exe or separates arguments; a batch file gets such a word without quotes. */
const PLAIN = /^[\w#$*+./:?@\\-]*[\w#$*+./:?@-]$/;

/** A line's end would end the quotes with it, and nothing can stand for it. */
const UNSPEAKABLE = /[\0\r\n]/;

export function canBeQuoted(argument: string): boolean {
  return !UNSPEAKABLE.test(argument);
}

export function quoteForBatch(argument: string): string {
  if (PLAIN.test(argument)) return argument;
  const escaped = argument
    // Whoever splits the line in the end takes backslashes before a quote in pairs.
    .replace(/(\\*)("|$)/g, (_all, backslashes: string, quote: string) => backslashes.repeat(2) + quote.repeat(2))
    // An expression that is always empty parts the sign from what follows, so that no variable is named.
    .replaceAll('%', '%%cd:~,%');
  return `"${escaped}"`;
}

/**
 * For `cmd.exe`, verbatim. No commands of the registry run first, `!` means nothing, the empty expression is understood,
 * and of all quotes exactly the outermost pair is taken away.
 */
export function batchArguments(file: string, args: readonly string[]): readonly string[] {
  const line = [`"${file.replaceAll('%', '%%cd:~,%')}"`, ...args.map(quoteForBatch)].join(' ');
  return ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`];
}
