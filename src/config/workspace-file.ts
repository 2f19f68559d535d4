// Owns which file of the working directory a command line runs: a program or script with a relative path, or a recipe that stands
// in a file there, such as a script of a `package.json`. Best effort: programs that are not in its tables are not looked into.

import { isAbsolutePath, namesFolder, programName, runnerOf, verbIn } from './runner.ts';
import { commandsIn } from './wrapped-command.ts';

/** Programs that run a file, and the verb behind which it may stand. */
const interpreters: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['python', 'pythonw', 'py', 'pypy', 'node', 'tsx', 'ts-node'].map((name) => [name, ''])),
  ...Object.fromEntries(['sh', 'bash', 'zsh', 'dash'].map((name) => [name, ''])),
  bun: 'run',
  deno: 'run',
  uv: 'run',
};

/** Programs that do what a file of their folder says, with the verbs for it; none: with any word but those of a runner. */
const recipes: Readonly<Record<string, readonly string[]>> = {
  npm: ['run', 'run-script', 'start', 'test'],
  pnpm: [],
  yarn: [],
  make: [],
  just: [],
  deno: ['task'],
  docker: ['compose'],
  cargo: ['run'],
  go: ['run'],
  dotnet: ['run'],
  poetry: ['run'],
  pipenv: ['run'],
  hatch: ['run'],
};

/** Options whose value is the next word. */
const TAKES_VALUE =
  /^(?:-[WXrpC]|--(?:require|import|loader|experimental-loader|env-file|from|with|with-editable|package|python|project|directory|cwd|prefix))$/;
/** Options whose value is code that runs before the script, or in place of a package. */
const LOADS =
  /^(?:-[rp]|--(?:require|import|loader|experimental-loader|preload|from|with-editable|package))(?:=(.*))?$/s;

/** The file or recipe as the line names it; `undefined` where the line names none of the working directory. */
export function workspaceFileIn(words: readonly string[], platform: NodeJS.Platform): string | undefined {
  for (const line of commandsIn(words)) {
    const found = programHere(line, platform) ?? recipeHere(line, platform) ?? loadedHere(line, platform);
    if (found !== undefined) return found;
  }
  return undefined;
}

function programHere([program = '']: readonly string[], platform: NodeJS.Platform): string | undefined {
  const isPath = (platform === 'win32' ? /[\\/]/ : /\//).test(program);
  return isPath && !isAbsolutePath(program, platform) ? program : undefined;
}

function recipeHere([program = '', ...args]: readonly string[], platform: NodeJS.Platform): string | undefined {
  const name = programName(program);
  const verbs = Object.hasOwn(recipes, name) ? recipes[name] : undefined;
  const verb = args[verbIn(args)];
  if (verbs === undefined || namesFolder(args, platform)) return undefined;
  const isRecipe = verbs.length === 0 ? runnerOf([name, ...args], platform) === undefined : verbs.includes(verb ?? '');
  return isRecipe ? [name, ...(verb === undefined ? [] : [verb])].join(' ') : undefined;
}

function loadedHere(line: readonly string[], platform: NodeJS.Platform): string | undefined {
  const [program = '', ...args] = line;
  const name = programName(program);
  const runner = runnerOf([name, ...args], platform);
  const verb = Object.hasOwn(interpreters, name) ? interpreters[name] : undefined;
  const isForPackages = runner?.name.includes(' ') && runner.name !== `${name} ${verb}`;
  if (verb === undefined || isForPackages) return runner && packageHere(runner.rest);
  if (runner?.movesAway) return undefined;
  const { options, first } = splitWords(verb !== '' && args[verbIn(args)] === verb ? withoutFirst(args, verb) : args);
  const isHere = (path: string) => !isAbsolutePath(path, platform) && !/^(?!file:)[a-z][a-z0-9+.-]+:/i.test(path);
  const script = options.some((option) => givesCode(name, option)) || isCommand(name, first) ? undefined : first;
  return [...loadedBy(options), script].find((path) => path !== undefined && isHere(path));
}

/** A package that is a folder: `npx ./server`, `uvx --from . server`. */
function packageHere(rest: readonly string[]): string | undefined {
  const { options, first } = splitWords(rest[0] === 'run' ? rest.slice(1) : rest);
  return [...loadedBy(options), first].find((path) => path !== undefined && /^(?:file:)?\.{1,2}(?:[\\/]|$)/.test(path));
}

/** The options, and the first word that is neither an option nor the value of one. */
function splitWords(args: readonly string[]): { options: readonly string[]; first: string | undefined } {
  const at = args.findIndex((arg, index) => !arg.startsWith('-') && !TAKES_VALUE.test(args[index - 1] ?? ''));
  return at < 0 ? { options: args, first: undefined } : { options: args.slice(0, at), first: args[at] };
}

const withoutFirst = (args: readonly string[], word: string) => args.toSpliced(args.indexOf(word), 1);

const loadedBy = (options: readonly string[]) =>
  options.flatMap((option, at) => {
    const match = LOADS.exec(option);
    return match === null ? [] : [match[1] ?? options[at + 1] ?? ''];
  });

/** The option gives code, or the name of a module, in place of a script. */
function givesCode(name: string, option: string): boolean {
  const isShell = /^(?:ba|da|z)?sh$/.test(name);
  if (/^py/.test(name)) return /^-(?![WXV])[A-Za-z]*[mc]/.test(option);
  return (isShell ? /^-[a-z]*c$/i : /^(?:-[A-Za-z]*[mcep]|--(?:module|eval|print))$/).test(option);
}

/** `uv run x` runs a script only where its name says so, and else a program of its environment. */
const isCommand = (name: string, word = '') => name === 'uv' && !/[\\/]|\.pyw?$/.test(word);
