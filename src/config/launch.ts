// Owns which keys of an entry go together: a command for a local server, a url for a remote one, and never both.

import type { Launch, OAuthSettings, RemoteLaunch, StdioLaunch } from '../model/server.ts';
import { inputsOf, variablesOf } from './expand.ts';
import type { ConfigProblem } from './problem.ts';
import type { CompleteEntry } from './schema.ts';
import type { InProcessEntry } from './server-entry.ts';

type PartialEntry = Partial<CompleteEntry>;

/** `defaults` fills in the keys that the entry does not set. */
export function launchOf(
  entry: PartialEntry,
  defaults: CompleteEntry,
  serve?: InProcessEntry['serve'],
): Launch | ConfigProblem {
  const { command, url, transport } = entry;
  const launchKeys = Number(command !== undefined) + Number(url !== undefined) + Number(serve !== undefined);
  if (launchKeys > 1) return conflict;
  if (serve) return { kind: 'in-process', serve };
  if (transport !== undefined && (transport === 'stdio' ? command : url) === undefined) return lacking(transport);
  if (url !== undefined) return remoteLaunch(entry, defaults, url);
  return command === undefined ? incomplete : stdioLaunch(entry, defaults, command);
}

/** For objects that are filled in key by key before they are handed out. */
export type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

function stdioLaunch(entry: PartialEntry, defaults: CompleteEntry, command: string): StdioLaunch {
  const { args = defaults.args, env = defaults.env, inheritEnv = defaults.inheritEnv, cwd, envFile, envAllow } = entry;
  const launch: Mutable<StdioLaunch> = { kind: 'stdio', command, args, env, inheritEnv };
  if (cwd !== undefined) launch.cwd = cwd;
  if (envFile !== undefined) launch.envFile = envFile;
  if (envAllow !== undefined) launch.envAllow = envAllow;
  return launch;
}

function remoteLaunch(entry: PartialEntry, defaults: CompleteEntry, url: string): RemoteLaunch | ConfigProblem {
  const { env = defaults.env, headers = defaults.headers, transport, proxy, certFile, keyFile } = entry;
  const { bearerTokenEnvVar, headersHelper, caFile, envAllow, oauth } = entry;
  const kind = transport === undefined || transport === 'stdio' ? 'auto' : transport;
  const problem =
    (isUndecided(url) ? undefined : addressProblem(kind, url)) ??
    (proxy === undefined || isUndecided(proxy) ? undefined : proxyProblem(proxy)) ??
    certificateProblem(certFile, keyFile);
  if (problem) return problem;
  const launch: Mutable<RemoteLaunch> = { kind: kindFor(kind, url), url, headers };
  if (Object.keys(env).length > 0) launch.env = env;
  if (bearerTokenEnvVar !== undefined) launch.bearerTokenEnvVar = bearerTokenEnvVar;
  if (headersHelper !== undefined) launch.headersHelper = headersHelper;
  if (proxy !== undefined) launch.proxy = proxy;
  if (caFile !== undefined) launch.caFile = caFile;
  if (certFile !== undefined) launch.certFile = certFile;
  if (keyFile !== undefined) launch.keyFile = keyFile;
  if (envAllow !== undefined) launch.envAllow = envAllow;
  if (oauth !== undefined) launch.oauth = oauth === false ? false : (withoutUndefined(oauth) as OAuthSettings);
  return launch;
}

const withoutUndefined = (map: object) =>
  Object.fromEntries(Object.entries(map).filter(([, value]) => value !== undefined));

/** Whether a text has placeholders, so that its value is known only when its server is opened. */
export const isUndecided = (text: string) => variablesOf(text).length > 0 || inputsOf(text).length > 0;

const schemes: Readonly<Record<RemoteLaunch['kind'], readonly string[]>> = {
  http: ['http', 'https'],
  sse: ['http', 'https'],
  ws: ['ws', 'wss'],
  auto: ['http', 'https', 'ws', 'wss'],
};

/** With transport `auto`, the scheme of the address may decide. */
export const kindFor = (kind: RemoteLaunch['kind'], url: string) =>
  kind === 'auto' && /^\s*wss?:/i.test(url) ? 'ws' : kind;

/** For an address without placeholders, or whose placeholders are filled in. */
export const addressProblem = (kind: RemoteLaunch['kind'], url: string): ConfigProblem | undefined =>
  schemes[kind].includes(schemeOf(url)) ? undefined : badAddress(kind, url);

export function proxyProblem(proxy: string): ConfigProblem | undefined {
  if (proxy === 'off' || schemes.http.includes(schemeOf(proxy))) return undefined;
  return bad(
    'proxy',
    '"proxy" must be "off" or an address that begins with http:// or https://',
    'Write the full address of the proxy.',
  );
}

function certificateProblem(certFile: string | undefined, keyFile: string | undefined): ConfigProblem | undefined {
  if ((certFile === undefined) === (keyFile === undefined)) return undefined;
  const [set, missing] = certFile === undefined ? ['keyFile', 'certFile'] : ['certFile', 'keyFile'];
  return bad(set, `"${set}" needs "${missing}", which is not set`, `Set "${missing}" too: a certificate and its key.`);
}

/** Empty for a text that is no address. The pattern demands a host: without one, the URL parser would take the path for a host. */
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

/** The message does not quote the address: tokens are often part of it. */
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
