// Owns a small model of how Windows takes a command line apart: cmd.exe first, as often as a batch file hands it on, and
// then the runtime of the program. Written from the known rules, not from the code under test.

/** What cmd.exe would have done besides: an operator outside of quotes, or a variable's value in the line. */
export class Escaped extends Error {}

/** The way of `cmd.exe /d /e:on /v:off /s /c "…"` through `depth` batch files into the arguments of a program. */
export function argumentsThroughBatch(args: readonly string[], env: Record<string, string>, depth: number): string[] {
  const [, quoted = ''] = /^\/d \/e:on \/v:off \/s \/c "(.*)"$/s.exec(args.join(' ')) ?? [];
  let line = takeCarets(expand(quoted, { ...env, cd: 'C:\\work' }));
  // A batch file puts its arguments into a line of its own. They are not searched for variables, but read again.
  for (let level = 0; level < depth; level += 1) line = takeCarets(line);
  return splitLikeRuntime(line);
}

/** On a command line, what names no variable stays as it is. */
function expand(line: string, env: Record<string, string>): string {
  let out = '';
  let at = 0;
  while (at < line.length) {
    const end = line[at] === '%' ? line.indexOf('%', at + 1) : -1;
    const value = end === -1 ? undefined : lookUp(line.slice(at + 1, end), env);
    out += value ?? line[at];
    at = value === undefined ? at + 1 : end + 1;
  }
  return out;
}

function lookUp(reference: string, env: Record<string, string>): string | undefined {
  const [, name = '', substring] = /^([^:]+)(?::~(.*))?$/s.exec(reference) ?? [];
  const value = Object.entries(env).find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1];
  if (value === undefined || substring === undefined) return value;
  const [start = '', length] = substring.split(',');
  return value.slice(Number(start), length === undefined ? undefined : Number(start) + Number(length));
}

/** Takes away what carets protect with them; inside quotes nothing is special. */
function takeCarets(line: string): string {
  let out = '';
  let isQuoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && character === '^') {
      at += 1;
      out += line.charAt(at);
      continue;
    } else if (/[\0\r\n]/.test(character) || (!isQuoted && /[&|<>()]/.test(character))) {
      throw new Escaped(`${JSON.stringify(character)} at ${at} of ${line}`);
    }
    out += character;
  }
  return out;
}

/** As the C runtime does it since 2008: backslashes count only before a quote, a doubled quote inside quotes is one. */
export function splitLikeRuntime(line: string): string[] {
  const found: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (let at = 0; at < line.length; at += 1) {
    if (!isQuoted && /[ \t]/.test(line.charAt(at))) {
      if (word !== undefined) found.push(word);
      word = undefined;
      continue;
    }
    const [backslashes = ''] = /^\\*/.exec(line.slice(at)) ?? [];
    const before: string = word ?? '';
    at += backslashes.length;
    if (line[at] !== '"') {
      word = before + backslashes;
      if (backslashes === '') word += line.charAt(at);
      else at -= 1;
    } else if (backslashes.length % 2 === 1) word = `${before}${'\\'.repeat((backslashes.length - 1) / 2)}"`;
    else {
      word = before + '\\'.repeat(backslashes.length / 2);
      if (isQuoted && line[at + 1] === '"') {
        word += '"';
        at += 1;
      } else isQuoted = !isQuoted;
    }
  }
  return word === undefined ? found : [...found, word];
}
