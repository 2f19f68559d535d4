// Owns reading which package a runner such as npx or uvx is told to start, and whether the line says which version. Pure: reads words.

import { runnerOf } from './runner.ts';

export interface NamedPackage {
  /** The tool that keeps it: its cache says which version would run. */
  readonly keeper: 'npm' | 'pnpm' | 'bun' | 'uv';
  /** As the registry knows it. */
  readonly name: string;
  /** As the line writes it. */
  readonly written: string;
  /** How a line writes one version of it. */
  readonly at: (version: string) => string;
}

interface PackageRow {
  readonly runners: readonly string[];
  readonly keeper: NamedPackage['keeper'];
  /** Options that name the package in place of the first word. */
  readonly packageOptions: readonly string[];
  /** Options whose value is a word of its own. */
  readonly valueOptions: readonly string[];
  /** A verb between the runner's name and its options. */
  readonly verb?: string;
}

const NPM_VALUES = ['-c', '--call', '-w', '--workspace', '--registry', '--cache', '--prefix', '--userconfig'];
const UV_VALUES = [
  ...[
    '-p',
    '--python',
    '--with',
    '--with-editable',
    '--with-requirements',
    '--index',
    '--default-index',
    '-i',
    '--index-url',
  ],
  ...[
    '--extra-index-url',
    '-f',
    '--find-links',
    '--directory',
    '--project',
    '--cache-dir',
    '--config-file',
    '-P',
    '--env-file',
  ],
  ...[
    '--upgrade-package',
    '--reinstall-package',
    '--refresh-package',
    '-c',
    '--constraints',
    '--overrides',
    '--exclude-newer',
  ],
];

const rows: readonly PackageRow[] = [
  {
    runners: ['npx', 'npm exec', 'npm x'],
    keeper: 'npm',
    packageOptions: ['-p', '--package'],
    valueOptions: NPM_VALUES,
  },
  {
    runners: ['pnpm dlx', 'pnpx', 'pnx'],
    keeper: 'pnpm',
    packageOptions: ['--package'],
    valueOptions: ['-C', '--dir'],
  },
  { runners: ['bunx', 'bun x'], keeper: 'bun', packageOptions: ['-p', '--package'], valueOptions: ['--cwd'] },
  { runners: ['uvx'], keeper: 'uv', packageOptions: ['--from'], valueOptions: UV_VALUES },
  { runners: ['uv tool'], verb: 'run', keeper: 'uv', packageOptions: ['--from'], valueOptions: UV_VALUES },
];

/** The package that the line starts without saying which version. */
export function packageWithoutVersion(words: readonly string[], platform: NodeJS.Platform): NamedPackage | undefined {
  const runner = runnerOf(words, platform);
  const row = rows.find(({ runners }) => runners.includes(runner?.name ?? ''));
  if (runner === undefined || row === undefined) return undefined;
  const isVerbMissing = row.verb !== undefined && runner.rest[0] !== row.verb;
  const args = row.verb === undefined ? runner.rest : runner.rest.slice(1);
  const found = isVerbMissing ? undefined : wordIn(args, row);
  return found && (row.keeper === 'uv' ? pythonPackage(found) : nodePackage(found.word, row.keeper));
}

interface PackageWord {
  readonly word: string;
  readonly isOption: boolean;
}

/** `undefined` also where several packages are named: one version says little about them. */
function wordIn(args: readonly string[], { packageOptions, valueOptions }: PackageRow): PackageWord | undefined {
  const named: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const [option = '', value] = splitOption(args[at] ?? '');
    const isPackage = packageOptions.includes(option);
    if (isPackage) named.push(value ?? args[at + 1] ?? '');
    else if (!option.startsWith('-')) return endOf(named, args[at]);
    else if (option === '--') return endOf(named, args[at + 1]);
    if (value === undefined && (isPackage || valueOptions.includes(option))) at++;
  }
  return endOf(named, undefined);
}

const splitOption = (arg: string): readonly string[] => /^(--?[^=]+)=(.*)$/s.exec(arg)?.slice(1) ?? [arg];

function endOf(named: readonly string[], first: string | undefined): PackageWord | undefined {
  const [only, another] = named;
  if (only !== undefined) return another === undefined ? { word: only, isOption: true } : undefined;
  return first === undefined ? undefined : { word: first, isOption: false };
}

function nodePackage(word: string, keeper: NamedPackage['keeper']): NamedPackage | undefined {
  const [, name] = /^((?:@[a-z\d~-][\w.~-]*\/)?[a-z\d~-][\w.~-]*)(?:@latest)?$/i.exec(word) ?? [];
  return name === undefined ? undefined : { keeper, name, written: word, at: (version) => `${name}@${version}` };
}

/** `x@1.0` is understood as a command only, `x==1.0` behind `--from`. */
function pythonPackage({ word, isOption }: PackageWord): NamedPackage | undefined {
  const [, name, extras = ''] = /^([a-z\d](?:[\w.-]*[a-z\d])?)(\[[\w,.-]+\])?(?:@latest)?$/i.exec(word) ?? [];
  if (name === undefined) return undefined;
  const sign = isOption ? '==' : '@';
  return { keeper: 'uv', name, written: word, at: (version) => `${name}${extras}${sign}${version}` };
}
