// Owns which keys of an entry go together: a command for a local server, a url for a remote one, and never both.

import type { Launch, RemoteLaunch } from '../model/server.ts';
import { inline, variablesOf } from './expand.ts';
import type { Problem } from './problem.ts';
import type { CompleteEntry } from './schema.ts';
import type { InProcessEntry } from './server-entry.ts';

export function launchOf(entry: CompleteEntry, serve?: InProcessEntry['serve']): Launch | Problem {
  const { command, url, transport, args, env, cwd, inheritEnv } = entry;
  if ([command, url, serve].filter((way) => way !== undefined).length > 1) return conflict;
  if (serve) return { kind: 'in-process', serve };
  if (transport !== undefined && (transport === 'stdio' ? command : url) === undefined) return lacking(transport);
  if (url !== undefined) return remoteLaunch(entry, url);
  if (command !== undefined)
    return { kind: 'stdio', command, args, env, inheritEnv, ...(cwd === undefined ? {} : { cwd }) };
  return incomplete;
}

/** A remote server has no environment: its `env` only gives names to parts of its own url and headers, so it ends here. */
function remoteLaunch(entry: CompleteEntry, written: string): RemoteLaunch | Problem {
  const { env, transport, bearerTokenEnvVar } = entry;
  const url = inline(written, env);
  const kind = transport === undefined || transport === 'stdio' ? 'auto' : transport;
  const scheme = variablesOf(url).length > 0 ? undefined : schemeOf(url);
  if (scheme !== undefined && !schemes[kind].includes(scheme)) return badAddress(kind);
  const headers = Object.fromEntries(Object.entries(entry.headers).map(([name, value]) => [name, inline(value, env)]));
  const token = bearerTokenEnvVar === undefined ? undefined : env[bearerTokenEnvVar];
  return {
    kind: kind === 'auto' && scheme?.startsWith('ws') ? 'ws' : kind,
    url,
    headers: token === undefined ? headers : { ...headers, Authorization: `Bearer ${token}` },
    ...(bearerTokenEnvVar === undefined || token !== undefined ? {} : { bearerTokenEnvVar }),
  };
}

const schemes: Readonly<Record<RemoteLaunch['kind'], readonly string[]>> = {
  http: ['http', 'https'],
  sse: ['http', 'https'],
  ws: ['ws', 'wss'],
  auto: ['http', 'https', 'ws', 'wss'],
};

const schemeOf = (url: string) => (URL.canParse(url) ? new URL(url).protocol.slice(0, -1) : '');

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
function badAddress(kind: RemoteLaunch['kind']): Problem {
  const expected = schemes[kind].map((scheme) => `${scheme}://`).join(' or ');
  return bad('url', `"url" must be an address that begins with ${expected}`, 'Write the full address.');
}
