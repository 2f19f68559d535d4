// Owns a server that stands in no configuration: the person gives its address or command for one command line. Nothing of it is kept:
// no approval, no cache, no log, no file. Rules and the enterprise's policy count for it as for any other server.

import type { RuntimeOptions } from '../api.ts';
import type { ConfigMap } from '../config/config-map.ts';
import { withoutSecrets } from '../config/literal-secrets.ts';
import { createMemoryStore } from '../kernel/store.ts';
import type { ServerName } from '../model/names.ts';
import { commandLine, type Launch } from '../model/server.ts';
import { type Command, type Context, UsageError } from './command.ts';
import { shellWord } from './render/text.ts';
import { splitCommand } from './split-command.ts';
import { pairsIn } from './written-entry.ts';

export const unconfiguredOptions = {
  url: { type: 'string' },
  stdio: { type: 'string' },
  transport: { type: 'string', short: 't' },
  header: { type: 'string', short: 'H', multiple: true },
  env: { type: 'string', short: 'e', multiple: true },
} as const satisfies Command['options'];

export const unconfiguredHelp = {
  'url ADDRESS': 'use the server at this address, which need not be configured; nothing is remembered',
  'stdio COMMAND': 'the same for a server that this command starts, such as "npx -y x"; no shell is run',
  'transport WORD': 'with --url: http, sse, ws or auto (the default: HTTP first, then SSE)',
  'header NAME=VALUE': 'with --url: an HTTP header; may be repeated',
  'env NAME=VALUE': 'with --stdio: an environment variable for the server; may be repeated',
} as const;

export interface UnconfiguredServer {
  readonly name: ServerName;
  /** Its origin in words, for the question whether a tool may be called. */
  readonly origin: string;
  readonly options: Pick<RuntimeOptions, 'servers' | 'only' | 'store' | 'logs' | 'resultFiles'>;
  /** The options as the person typed them, for a line to copy. */
  readonly words: readonly string[];
}

/** `undefined` if the command line gives neither `--url` nor `--stdio`. */
export async function unconfiguredServer(context: Context): Promise<UnconfiguredServer | undefined> {
  const entry = entryIn(context);
  if (entry === undefined) return undefined;
  const launch = await launchOf(entry);
  const what = shownLaunch(withoutSecrets(launch));
  const name = nameOf(what);
  return {
    name,
    origin: `your command line, ${launch.kind === 'stdio' ? 'which runs' : 'which is at'}: ${what}`,
    options: {
      servers: { [name]: entry },
      only: [name],
      store: createMemoryStore(),
      logs: false,
      resultFiles: false,
    },
    words: typedWords(context, shownLaunch(launch) === what ? undefined : what),
  };
}

function shownLaunch(launch: Launch): string {
  if (launch.kind !== 'stdio') return commandLine(launch);
  const { cwd: _, ...elsewhere } = launch;
  return commandLine({ ...elsewhere, env: {} });
}

/** In messages the server is called by its address or command, which no configured server is. */
const nameOf = (what: string) => what.replace(/[?#].*$/s, '').slice(0, LONGEST_NAME);
const LONGEST_NAME = 100;

function entryIn({ values, cwd, home }: Context): ConfigMap | undefined {
  const { url, stdio, transport } = values;
  const env = pairsIn('env', values['env'], /^([^=]+)=([\s\S]*)$/);
  const headers = pairsIn('header', values['header'], /^([^=:\s]+)\s*[=:]\s*([\s\S]*)$/);
  if (url !== undefined && stdio !== undefined) throw new UsageError('give --url or --stdio, not both');
  if ((headers || transport !== undefined) && url === undefined)
    throw new UsageError(`--${headers ? 'header' : 'transport'} is for a server that you give with --url`);
  if (env && stdio === undefined) throw new UsageError('--env is for a server that you give with --stdio');
  if (typeof url === 'string')
    return { url, ...(transport !== undefined && { transport }), ...(headers && { headers }) };
  if (typeof stdio !== 'string') return undefined;
  const split = splitCommand(stdio, { platform: process.platform, home });
  if (!split.ok) throw new UsageError(`--stdio ${shellWord(stdio)}: ${split.problem}`);
  const [command, ...args] = split.words;
  // In the person's own folder, as in their shell; the workspace may lie above it.
  return { command, args, cwd, ...(env && { env }) };
}

/** By the same rules as an entry of a file. */
async function launchOf(entry: ConfigMap): Promise<Launch> {
  const { defineServer } = await import('../config/define.ts');
  const provenance = { scope: 'host', key: [] } as const;
  const { definition, problems } = defineServer(
    { name: 'it', value: entry, provenance },
    { defaults: {}, mayLoosen: true },
  );
  if (definition) return definition.launch;
  const option = entry['url'] === undefined ? '--stdio' : '--url';
  throw new UsageError(`${option}: ${problems.map(({ message, remedy }) => `${message}. ${remedy}`).join(' ')}`);
}

/** Headers and variables may be secret: they are named, and the person puts the values in. `masked` stands for a launch with secrets. */
function typedWords({ values }: Context, masked: string | undefined): readonly string[] {
  const { url, stdio, transport } = values;
  const option = url === undefined ? 'stdio' : 'url';
  const hidden = (['header', 'env'] as const).flatMap((name) => {
    const each = values[name];
    return Array.isArray(each) ? each.flatMap((word: string) => [`--${name}`, word.replace(/[=:][\s\S]*$/, '=…')]) : [];
  });
  return [
    ...[`--${option}`, masked ?? String(url ?? stdio)],
    ...(transport === undefined ? [] : ['--transport', String(transport)]),
    ...hidden,
  ];
}
