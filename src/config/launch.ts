// Owns which keys of an entry go together: a command for a local server, a url for a remote one, and never both.

import type { Launch, RemoteLaunch, StdioLaunch } from '../model/server.ts';
import { inputsOf, variablesOf } from './expand.ts';
import type { ConfigProblem } from './problem.ts';
import type { CompleteEntry } from './schema.ts';
import type { InProcessEntry } from './server-entry.ts';

type Entry = Partial<CompleteEntry>;

/** `blank` says what counts where the entry is silent. */
export function launchOf(entry: Entry, blank: CompleteEntry, serve?: InProcessEntry['serve']): Launch | ConfigProblem {
  const { command, url, transport } = entry;
  const ways = Number(command !== undefined) + Number(url !== undefined) + Number(serve !== undefined);
  if (ways > 1) return conflict;
  if (serve) return { kind: 'in-process', serve };
  if (transport !== undefined && (transport === 'stdio' ? command : url) === undefined) return lacking(transport);
  if (url !== undefined) return remoteLaunch(entry, blank, url);
  return command === undefined ? incomplete : stdioLaunch(entry, blank, command);
}

/** While it is being made. */
export type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

function stdioLaunch(entry: Entry, blank: CompleteEntry, command: string): StdioLaunch {
  const { args = blank.args, env = blank.env, inheritEnv = blank.inheritEnv, cwd, envFile, envAllow } = entry;
  const launch: Mutable<StdioLaunch> = { kind: 'stdio', command, args, env, inheritEnv };
  if (cwd !== undefined) launch.cwd = cwd;
  if (envFile !== undefined) launch.envFile = envFile;
  if (envAllow !== undefined) launch.envAllow = envAllow;
  return launch;
}

function remoteLaunch(entry: Entry, blank: CompleteEntry, url: string): RemoteLaunch | ConfigProblem {
  const { env = blank.env, headers = blank.headers, transport, proxy, certFile, keyFile } = entry;
  const { bearerTokenEnvVar, headersHelper, caFile, envAllow } = entry;
  const kind = transport === undefined || transport === 'stdio' ? 'auto' : transport;
  const fault =
    (isUndecided(url) ? undefined : faultOfAddress(kind, url)) ??
    (proxy === undefined || isUndecided(proxy) ? undefined : faultOfProxy(proxy)) ??
    faultOfPair(certFile, keyFile);
  if (fault) return fault;
  const launch: Mutable<RemoteLaunch> = { kind: kindFor(kind, url), url, headers };
  if (Object.keys(env).length > 0) launch.env = env;
  if (bearerTokenEnvVar !== undefined) launch.bearerTokenEnvVar = bearerTokenEnvVar;
  if (headersHelper !== undefined) launch.headersHelper = headersHelper;
  if (proxy !== undefined) launch.proxy = proxy;
  if (caFile !== undefined) launch.caFile = caFile;
  if (certFile !== undefined) launch.certFile = certFile;
  if (keyFile !== undefined) launch.keyFile = keyFile;
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

/** Where it is open what is spoken, the address may say it. */
export const kindFor = (kind: RemoteLaunch['kind'], url: string) =>
  kind === 'auto' && /^\s*wss?:/i.test(url) ? 'ws' : kind;

/** Asked for what has no placeholders, or none any more. */
export const faultOfAddress = (kind: RemoteLaunch['kind'], url: string): ConfigProblem | undefined =>
  schemes[kind].includes(schemeOf(url)) ? undefined : badAddress(kind, url);

export function faultOfProxy(proxy: string): ConfigProblem | undefined {
  if (proxy === 'off' || schemes.http.includes(schemeOf(proxy))) return undefined;
  return bad(
    'proxy',
    '"proxy" must be "off" or an address that begins with http:// or https://',
    'Write the full address of the proxy.',
  );
}

function faultOfPair(certFile: string | undefined, keyFile: string | undefined): ConfigProblem | undefined {
  if ((certFile === undefined) === (keyFile === undefined)) return undefined;
  const [set, missing] = certFile === undefined ? ['keyFile', 'certFile'] : ['certFile', 'keyFile'];
  return bad(set, `"${set}" needs "${missing}", which is not set`, `Set "${missing}" too: a certificate and its key.`);
}

/** Empty for what is no address. Where no host stands, the parser would take the path for one. */
const schemeOf = (url: string) => (URL.canParse(url) ? (BEGINNING.exec(url)?.[1]?.toLowerCase() ?? '') : '');
const BEGINNING = /^\s*([a-z][a-z+.-]*):\/\/[^/\\?#]/i;

const bad = (key: string, message: string, remedy: string): ConfigProblem => ({
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

function lacking(transport: string): ConfigProblem {
  const needed = transport === 'stdio' ? 'command' : 'url';
  return bad(
    'transport',
    `transport "${transport}" needs "${needed}", which is not set`,
    `Set "${needed}", or change the transport.`,
  );
}

/** Says nothing of the address itself: tokens are often part of it. */
function badAddress(kind: RemoteLaunch['kind'], url: string): ConfigProblem {
  if (/<[^<>]*>/.test(url))
    return bad('url', '"url" holds a part in < and > that is still to be filled in', 'Put the real value there.');
  const expected = schemes[kind].map((scheme) => `${scheme}://`);
  const isBegun = expected.some((beginning) => url.toLowerCase().startsWith(beginning));
  const problem = isBegun
    ? '"url" is not a complete address'
    : `"url" must be an address that begins with ${expected.join(' or ')}`;
  return bad('url', problem, 'Write the full address.');
}
