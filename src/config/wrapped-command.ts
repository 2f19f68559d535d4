// Owns finding the commands inside programs that only start others: `env`, `cmd /c`, `sh -c`. Best effort: a shell script
// can hide a command from everything but a shell, so a list that must not be passed denies the shell itself.

export const bareName = (command: string) => {
  const behind = Math.max(command.lastIndexOf('/'), command.lastIndexOf('\\'));
  return command
    .slice(behind + 1)
    .toLowerCase()
    .replace(/\.(exe|cmd|bat|com)$/, '');
};

/** No real command nests or chains more; a program that is hidden deeper could as well stand in a script file. */
const MOST_WRAPPED = 32;
const LONGEST_SCRIPT = 64 * 1024;

/** A command, and the commands that it starts in its place, as far as its own line shows them. */
export function commandsIn(words: readonly string[]): readonly (readonly string[])[] {
  const found = [words];
  for (let at = 0; at < found.length && found.length < MOST_WRAPPED; at++)
    found.push(...wrappedIn(found[at] ?? []).slice(0, MOST_WRAPPED));
  return found;
}

function wrappedIn([program = '', ...args]: readonly string[]): readonly (readonly string[])[] {
  const name = bareName(program);
  if (name === 'env') return behindEnv(args);
  if (name === 'cmd') return behindCmd(args);
  return /^(ba|da|z|k|a)?sh$/.test(name) ? behindShell(args) : [];
}

function behindEnv(args: readonly string[]): readonly (readonly string[])[] {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    const [, glued] = /^(?:-[a-zA-Z0]*?S|--split-string(?:=|$))(.*)$/s.exec(arg) ?? [];
    if (glued !== undefined) {
      const split = glued || (args[++at] ?? '');
      return [['env', ...wordsOf(split), ...args.slice(at + 1)]];
    }
    if (/^(-[uCPa]|--unset|--chdir|--argv0)$/.test(arg)) at++;
    else if (!/^-|^[^=]+=/.test(arg)) return [args.slice(at)];
  }
  return [];
}

function behindCmd(args: readonly string[]): readonly (readonly string[])[] {
  const at = args.findIndex((arg) => /^\/[ckr]/i.test(arg));
  if (at < 0) return [];
  const rest = [(args[at] ?? '').slice(2), ...args.slice(at + 1)].filter((word, index) => index > 0 || word !== '');
  return [rest, ...commandsOf(rest.join(' '), CMD)];
}

function behindShell(args: readonly string[]): readonly (readonly string[])[] {
  const at = args.findIndex((arg) => /^-[a-z]*c[a-z]*$/i.test(arg));
  const script = at < 0 ? undefined : args.slice(at + 1).find((arg) => !/^[-+]/.test(arg));
  return script === undefined ? [] : commandsOf(script, SHELL);
}

interface ShellSyntax {
  /** Words, and the signs between commands. */
  readonly parts: RegExp;
  /** The quotes and escapes that the shell removes from a word. */
  readonly marks: RegExp;
}

const SHELL: ShellSyntax = {
  parts: /(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\;&|()`])+|[\n;&|()`]/gs,
  marks: /["']|\\(?=.)/gs,
};
const CMD: ShellSyntax = { parts: /(?:"[^"]*"|\^.|[^\s"^&|()])+|[\n&|()]/gs, marks: /["^]/g };

/** Words that may stand before a program. */
const PRELUDE = /^(exec|command|call|if|then|else|do|!|\{|@|\w+=.*)$/s;

const wordsOf = (text: string) =>
  (text.slice(0, LONGEST_SCRIPT).match(SHELL.parts) ?? []).map((part) => part.replace(SHELL.marks, ''));

function commandsOf(script: string, { parts, marks }: ShellSyntax): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  for (const part of script.slice(0, LONGEST_SCRIPT).match(parts) ?? []) {
    const words = commands.at(-1) ?? [];
    if (/^[\n;&|()`]$/.test(part)) commands.push([]);
    else if (words.length > 0 || !PRELUDE.test(part)) words.push(part.replace(marks, ''));
  }
  return commands.filter(({ length }) => length > 0);
}
