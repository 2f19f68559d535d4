// Owns which keys of an entry go together: a command for a local server, a url for a remote one, and never both.

import type { Launch, RemoteLaunch, StdioLaunch } from '../model/server.ts';
import { inputsOf, variablesOf } from './expand.ts';
import type { Problem } from './problem.ts';
import type { CompleteEntry } from './schema.ts';
import type { InProcessEntry } from './server-entry.ts';

export function launchOf(entry: CompleteEntry, serve?: InProcessEntry['serve']): Launch | Problem {
  const { command, url, transport } = entry;
  const ways = Number(command !== undefined) + Number(url !== undefined) + Number(serve !== undefined);
  if (ways > 1) return conflict;
  if (serve) return { kind: 'in-process', serve };
  if (transport !== undefined && (transport === 'stdio' ? command : url) === undefined) return lacking(transport);
  if (url !== undefined) return remoteLaunch(entry, url);
  return command === undefined ? incomplete : stdioLaunch(entry, command);
}

/** While it is being made. */
export type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

function stdioLaunch({ args, env, cwd, inheritEnv, envFile, envAllow }: CompleteEntry, command: string): StdioLaunch {
  const launch: Mutable<StdioLaunch> = { kind: 'stdio', command, args, env, inheritEnv };
  if (cwd !== undefined) launch.cwd = cwd;
  if (envFile !== undefined) launch.envFile = envFile;
  if (envAllow !== undefined) launch.envAllow = envAllow;
  return launch;
}

function remoteLaunch(entry: CompleteEntry, url: string): RemoteLaunch | Problem {
  const { env, headers, transport, bearerTokenEnvVar, headersHelper, envAllow } = entry;
  const kind = transport === undefined || transport === 'stdio' ? 'auto' : transport;
  const scheme = isUndecided(url) ? undefined : schemeOf(url);
  if (scheme !== undefined && !schemes[kind].includes(scheme)) return badAddress(kind, url);
  const decided = kind === 'auto' && scheme?.startsWith('ws') ? 'ws' : kind;
  const launch: Mutable<RemoteLaunch> = { kind: decided, url, headers };
  if (Object.keys(env).length > 0) launch.env = env;
  if (bearerTokenEnvVar !== undefined) launch.bearerTokenEnvVar = bearerTokenEnvVar;
  if (headersHelper !== undefined) launch.headersHelper = headersHelper;
  if (envAllow !== undefined) launch.envAllow = envAllow;
  return launch;
}

/** It has placeholders, so what it says is known only when its server is opened. */
export const isUndecided = (text: string) => variablesOf(text).length > 0 || inputsOf(text).length > 0;

const schemes: Readonly<Record<RemoteLaunch['kind'], readonly string[]>> = {
  http: ['http', 'https'],
  sse: ['http', 'https'],
  ws: ['ws', 'wss'],
  auto: ['http', 'https', 'ws', 'wss'],
};

const schemeOf = (url: string) => (URL.canParse(url) ? url.slice(0, url.indexOf(':')).trim().toLowerCase() : '');

const bad = (key: string, message: string, remedy: string): Problem => ({
  severity: 'error',
  path: [key],
  message,
  remedy,
});

const conflict = bad(
  'url',
  'more than one of "command", "url" and "serve" is set, so it is unclear whether to start the server or to reach it',
  'Keep "command" for a local server or "url" for a remote one.',
);

const incomplete = bad(
  'command',
  'neither "command" nor "url" is set',
  'Set "command" for a local server or "url" for a remote one.',
);

function lacking(transport: string): Problem {
  const needed = transport === 'stdio' ? 'command' : 'url';
  return bad(
    'transport',
    `transport "${transport}" needs "${needed}", which is not set`,
    `Set "${needed}", or change the transport.`,
  );
}

/** Says nothing of the address itself: tokens are often part of it. */
function badAddress(kind: RemoteLaunch['kind'], url: string): Problem {
  if (/<[^<>]*>/.test(url))
    return bad('url', '"url" holds a part in < and > that is still to be filled in', 'Put the real value there.');
  const expected = schemes[kind].map((scheme) => `${scheme}://`);
  const isBegun = expected.some((beginning) => url.toLowerCase().startsWith(beginning));
  const problem = isBegun
    ? '"url" is not a complete address'
    : `"url" must be an address that begins with ${expected.join(' or ')}`;
  return bad('url', problem, 'Write the full address.');
}
