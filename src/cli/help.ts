// Owns the text of `--help`, for all of Plexus and for one command.

import type { Command, Paint } from './command.ts';
import type { CommandEntry } from './commands.ts';

const globals: readonly (readonly [string, string])[] = [
  ['--json', 'print one JSON document and nothing else'],
  ['--cwd DIR', 'run in this folder'],
  ['--config FILE', 'use this configuration file only'],
  ['--quiet', 'print the answer only'],
  ['--verbose', 'print the stack trace of an error'],
  ['--help, --version', ''],
];

const exitCodes =
  '0 ok · 1 usage or configuration · 2 not found · 3 needs login or approval, or denied\n' +
  '  4 unreachable, timeout, or outcome unknown · 5 the tool answered with an error · 70 internal · 130 interrupted';

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(18, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join('\n');
}

export function generalHelp(commands: Readonly<Record<string, CommandEntry>>, paint: Paint): string {
  return [
    'Plexus runs the MCP servers of an AI agent: finds, trusts, connects, guards and calls them.',
    `${paint.bold('Usage')}\n  plexus <command> [options]`,
    `${paint.bold('Commands')}\n${columns(Object.entries(commands).map(([name, { summary }]) => [name, summary]))}`,
    `${paint.bold('Options')}\n${columns(globals)}`,
    `${paint.bold('Exit codes')}\n  ${exitCodes}`,
    'Help for one command: plexus <command> --help',
  ].join('\n\n');
}

export function commandHelp(summary: string, command: Command, paint: Paint): string {
  const { usage, help = {}, examples = [] } = command;
  const options = Object.entries(help).map(([optionText, text]) => {
    const [name = ''] = optionText.split(' ', 1);
    const { short } = command.options[name] ?? {};
    return [`${short === undefined ? '' : `-${short}, `}--${optionText}`, text] as const;
  });
  return [
    summary,
    `${paint.bold('Usage')}\n  plexus ${usage}`,
    `${paint.bold('Options')}\n${columns([...options, ...globals])}`,
    ...(examples.length > 0
      ? [`${paint.bold('Examples')}\n${examples.map((each) => `  plexus ${each}`).join('\n')}`]
      : []),
  ].join('\n\n');
}
