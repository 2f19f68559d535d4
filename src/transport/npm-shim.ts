// Owns reading the small batch files (shims) that npm and other package managers create for every program: which program
// they run. Only files of a known shape are read: any additional line could change what runs.

/** The program that a shim runs. Paths are relative to the folder of the shim. */
export interface Shim {
  /** A JavaScript file for `node`, or an executable. */
  readonly kind: 'node' | 'program';
  readonly flags: readonly string[];
  readonly target: string;
  /** The shim prefers the same file of a newer npm, if one was installed. */
  readonly maybeUpdated: boolean;
}

const NO_JS = String.raw`set pathext=%pathext:;\.js;=;%`;
const FLAGS = String.raw`((?: -[\w.:=/-]+)*)`;
const TARGET = String.raw`([^"%\n]+)`;

/** The shim of today's npm; the line that hides .js moved between versions. */
const PRESENT_HEAD = String.raw`echo off\ngoto start\n:find_dp0\nset dp0=%~dp0\nexit /b\n:start\nsetlocal\ncall :find_dp0`;
const PRESENT = [
  PRESENT_HEAD,
  String.raw`if exist "%dp0%\\node\.exe" \(\nset "_prog=%dp0%\\node\.exe"\n\) else \(\nset "_prog=node"(?:\n${NO_JS})?\n\)`,
  String.raw`endlocal & goto #_undefined_# 2>nul \|\| title %comspec% & (?:${NO_JS} & )?"%_prog%"${FLAGS} "%dp0%\\${TARGET}" %\*`,
].join(String.raw`\n`);

/** The shim of an executable, which needs no interpreter. */
const PROGRAM = String.raw`${PRESENT_HEAD}\n"%dp0%\\${TARGET}" %\*`;

/** The shim of older npm versions; other package managers still write it. */
const FORMER = String.raw`(?:setlocal\n)?if exist "%~dp0\\node\.exe" \(\n"%~dp0\\node\.exe"${FLAGS} "%~dp0\\${TARGET}" %\*\n\) else \(\n(?:setlocal\n)?${NO_JS}\nnode\1 "%~dp0\\\2" %\*\n\)`;

/** The shims of npm and npx themselves, which look for a newer npm first. */
const OF_NPM = [
  String.raw`echo off\nsetlocal\nset "node_exe=%~dp0\\node\.exe"\nif not exist "%node_exe%" \(\nset "node_exe=node"\n\)`,
  String.raw`(?:\nset "npm_\w+_js=%~dp0\\[^"%\n]+")*?\nset "(np[mx]_cli_js)=%~dp0\\${TARGET}"`,
  String.raw`\nfor /f "delims=" %%f in \('call "%node_exe%" "%npm_\w+_js%"(?: prefix -g)?'\) do \(`,
  String.raw`\nset "npm_prefix_\1=%%f\\\2"\n\)\nif exist "%npm_prefix_\1%" \(\nset "\1=%npm_prefix_\1%"\n\)`,
  String.raw`\n"%node_exe%" "%\1%" %\*`,
].join('');

const wholeText = (shape: string) => new RegExp(`^${shape}$`, 'i');
const [present, program, former, ofNpm] = [PRESENT, PROGRAM, FORMER, OF_NPM].map(wholeText) as [
  RegExp,
  RegExp,
  RegExp,
  RegExp,
];

/** `undefined` for a batch file of any other shape. */
export function readShim(text: string): Shim | undefined {
  const lines = plainLines(text);
  const [, flags = '', target] = present.exec(lines) ?? former.exec(lines) ?? [];
  if (target !== undefined)
    return { kind: 'node', flags: flags.split(' ').filter(Boolean), target, maybeUpdated: false };
  const [, itself] = program.exec(lines) ?? [];
  if (itself !== undefined) return { kind: 'program', flags: [], target: itself, maybeUpdated: false };
  const [, , cli] = ofNpm.exec(lines) ?? [];
  return cli === undefined ? undefined : { kind: 'node', flags: [], target: cli, maybeUpdated: true };
}

/** Removes what has no effect: indentation, blank lines, comments, and the `@` that keeps a line from being shown. */
function plainLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim().replace(/^@/, '').replace(/ +/g, ' '))
    .filter((line) => line !== '' && !line.startsWith('::'))
    .join('\n');
}
