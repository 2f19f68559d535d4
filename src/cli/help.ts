// Owns the text of `--help`, for all of Plexus and for one command.

import { type Command, type CommandEntry, groups, type Paint } from './command.ts';
import { prose } from './render/text.ts';

const globals: readonly (readonly [string, string])[] = [
  ['--json', 'print one JSON document and nothing else'],
  ['--cwd DIR', 'run in this folder'],
  ['--config FILE', 'use this configuration file only'],
  ['--quiet', 'print the answer only'],
  ['--verbose', 'print the stack trace of an error'],
  ['-h, --help', 'show this help'],
  ['-v, --version', 'print the version of Plexus'],
];

const firstSteps: readonly (readonly [string, string])[] = [
  ['plexus import', 'take over the servers that other agents have configured'],
  ['plexus add notes -- npx -y notes-server', 'or add one by its command; --url ADDRESS for a remote one'],
  ['plexus tools notes', 'see what it offers'],
  ['plexus call notes search --help', 'see the parameters of a tool'],
  ['plexus call notes search text=milk', 'call it'],
  ['plexus chat', 'let a model use all of them; plexus chat --list-models shows which models there are'],
  ['plexus tools --url https://example.com/mcp', 'look at a server without configuring it'],
];

const exitCodes =
  '0 ok · 1 usage or configuration · 2 not found · 3 needs login or approval, or denied\n' +
  '  4 unreachable, timeout, or outcome unknown · 5 the tool answered with an error · 70 internal · 130 interrupted';

const globalsOf = ({ takesNoConfig }: Command) =>
  takesNoConfig ? globals.filter(([option]) => !option.startsWith('--config')) : globals;

/** The right column is wrapped to the terminal. */
function columns(rows: readonly (readonly [string, string])[], { width: screen }: Paint): string {
  const width = Math.max(18, ...rows.map(([left]) => left.length));
  const margin = ' '.repeat(width + 4);
  return rows
    .map(([left, right]) => {
      const text = screen === undefined ? right : prose(right, { width: screen - margin.length });
      return `  ${left.padEnd(width)}  ${text.replaceAll('\n', `\n${margin}`)}`.trimEnd();
    })
    .join('\n');
}

export function generalHelp(commands: Readonly<Record<string, CommandEntry>>, paint: Paint): string {
  return [
    'Plexus runs the MCP servers of an AI agent: finds, trusts, connects, guards and calls them.',
    `${paint.bold('Usage')}\n  plexus <command> [options]`,
    ...groups.map((group) => {
      const own = Object.entries(commands).filter(([, entry]) => entry.group === group);
      return `${paint.bold(group)}\n${columns(
        own.map(([name, { summary }]) => [name, summary]),
        paint,
      )}`;
    }),
    `${paint.bold('Options')}\n${columns(globals, paint)}`,
    `${paint.bold('First steps')}\n${columns(firstSteps, paint)}`,
    `${paint.bold('Exit codes')}\n  ${exitCodes}`,
    'Help for one command: plexus <command> --help',
  ].join('\n\n');
}

export function commandHelp(summary: string, command: Command, paint: Paint): string {
  const { usage, words = {}, help = {}, examples = [] } = command;
  const options = Object.entries(help).map(([optionText, text]) => {
    const [name = ''] = optionText.split(' ', 1);
    const { short } = command.options[name] ?? {};
    return [`${short === undefined ? '' : `-${short}, `}--${optionText}`, text] as const;
  });
  return [
    summary,
    `${paint.bold('Usage')}\n  plexus ${usage}`,
    ...(Object.keys(words).length > 0 ? [`${paint.bold('Arguments')}\n${columns(Object.entries(words), paint)}`] : []),
    `${paint.bold('Options')}\n${columns([...options, ...globalsOf(command)], paint)}`,
    ...(examples.length > 0
      ? [`${paint.bold('Examples')}\n${examples.map((each) => `  plexus ${each}`).join('\n')}`]
      : []),
  ].join('\n\n');
}
