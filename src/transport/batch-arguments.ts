// Owns how arguments are quoted for a batch file so that none of them can become a command.
//
// Unusual characters stay between double quotes, where cmd.exe sees no operators; a quote inside is doubled, which leaves
// and enters the quoted part in one place. The result is the same however often the line is read (by cmd.exe, by a batch
// file that passes its arguments on). Only a percent sign has a meaning within quotes; `quoteForBatch` takes care of it.

/** Characters that neither mean anything to cmd.exe nor separate arguments; such an argument needs no quotes. */
const PLAIN = /^[\w#$*+./:?@\\-]*[\w#$*+./:?@-]$/;

/** A line break ends the quoted part, and cmd.exe has no escape for it. */
const UNQUOTABLE = /[\0\r\n]/;

export function canBeQuoted(argument: string): boolean {
  return !UNQUOTABLE.test(argument);
}

export function quoteForBatch(argument: string): string {
  if (PLAIN.test(argument)) return argument;
  const escaped = argument
    // The C runtime of the program halves backslashes before a quote.
    .replace(/(\\*)("|$)/g, (_all, backslashes: string, quote: string) => backslashes.repeat(2) + quote.repeat(2))
    // An expression that is always empty separates the sign from the text after it, so that no variable is expanded.
    .replaceAll('%', '%%cd:~,%');
  return `"${escaped}"`;
}

/**
 * The arguments of `cmd.exe`, to be passed verbatim. `/d` runs no autorun commands of the registry, `/v:off` takes `!` as it
 * is, `/e:on` understands the empty expression, `/s` removes exactly the outermost pair of quotes.
 */
export function batchArguments(file: string, args: readonly string[]): readonly string[] {
  const line = [`"${file.replaceAll('%', '%%cd:~,%')}"`, ...args.map(quoteForBatch)].join(' ');
  return ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`];
}
