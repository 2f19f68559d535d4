// Owns which of the host's environment variables a child process gets: those on an allow-list and those its entry names.

import type { EnvironmentVariables } from '../model/environment-variables.ts';
import type { InheritEnv } from '../model/server.ts';

interface ChildEnvironmentOptions {
  readonly host: EnvironmentVariables;
  readonly inherit: InheritEnv;
  /** The entry's own variables, already resolved. */
  readonly entry: Readonly<Record<string, string>>;
  readonly platform: NodeJS.Platform;
}

const PERSON = ['HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'LANG', 'LC_ALL', 'TZ'];
const PLACES = ['PATH', 'TMPDIR', 'TEMP', 'TMP'];
/** The gateways that a process is behind: passed on, so that none of them is put behind itself. */
const GATEWAYS = ['PLEXUS_GATEWAY'];
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY'];
const CERTIFICATES = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'];
const SAFE = [
  ...PERSON,
  ...PLACES,
  ...GATEWAYS,
  ...PROXIES,
  ...PROXIES.map((name) => name.toLowerCase()),
  ...CERTIFICATES,
];

/** Without these, programs on Windows do not find the system, themselves or their user. */
const WINDOWS = [
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT'],
  ...['APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA', 'PROGRAMFILES', 'PROGRAMFILES(X86)'],
  ...['USERPROFILE', 'USERNAME', 'HOMEDRIVE', 'HOMEPATH'],
];

/** The entry's variables win over the host's. Any variable off the list, such as an API key, must be named to be inherited. */
export function childEnvironment(options: ChildEnvironmentOptions): Record<string, string> {
  const { host, inherit, entry, platform } = options;
  const variables = new Map<string, readonly [name: string, value: string]>();
  for (const [name, value] of [...inherited(host, inherit, platform), ...Object.entries(entry)]) {
    if (typeof value === 'string') variables.set(identityOf(name, platform), [name, value]);
  }
  return Object.fromEntries(variables.values());
}

type Variables = readonly (readonly [name: string, value: string | undefined])[];

function inherited(host: EnvironmentVariables, inherit: InheritEnv, platform: NodeJS.Platform): Variables {
  if (inherit === 'all') return Object.entries(host);
  const names = inherit === 'safe' ? SAFE : [...SAFE, ...inherit];
  // Every variable of `process.env` that is read is asked of the system: only those on the list are.
  if (platform !== 'win32') return names.map((name) => [name, host[name]]);
  const allowed = new Set([...names, ...WINDOWS].map((name) => identityOf(name, platform)));
  return Object.entries(host).filter(([name]) => allowed.has(identityOf(name, platform)));
}

/** On Windows `Path` and `PATH` are the same variable. */
const identityOf = (name: string, platform: NodeJS.Platform) => (platform === 'win32' ? name.toUpperCase() : name);
