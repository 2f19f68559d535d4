// Owns which values of a resolved entry are secrets: what a command or a helper printed, what is sent with each request, and every
// other value that looks like a secret.

import { isCommand } from '../config/expand.ts';
import { secretsIn } from '../config/literal-secrets.ts';
import { loginSecrets } from '../config/login-settings.ts';
import { variablesRead } from '../config/referenced-variables.ts';
import { filledValues } from '../config/sent-values.ts';
import type { EnvironmentVariables } from '../model/environment-variables.ts';
import type { Launch, RemoteLaunch, ServerDefinition, StdioLaunch } from '../model/server.ts';
import { secretsAmong, secretsSent } from '../shaping/secrets/given.ts';

type Values = Readonly<Record<string, string>>;

/** Secrets by name. `launch` is the definition's launch with its placeholders filled in. */
export function resolvedSecrets(
  { launch: written }: ServerDefinition,
  launch: Launch,
  env: EnvironmentVariables,
): Values {
  if (launch.kind === 'in-process' || written.kind === 'in-process') return {};
  const read = variablesRead({ launch: written }).all.map((key) => [key, env[key] ?? '']);
  const isSent = launch.kind !== 'stdio' && written.kind !== 'stdio';
  const secrets = {
    ...secretsAmong(Object.fromEntries(read)),
    ...(isSent && sentSecrets(written, launch, env)),
    ...secretsAmong(valuesOf(launch)),
    ...secretsIn(launch),
    ...printedValues(written, launch),
    ...(isSent && secretsOfLogin(launch)),
  };
  return isSent ? { ...secrets, ...asHost(secrets, launch) } : secrets;
}

const secretsOfLogin = ({ oauth }: RemoteLaunch): Values =>
  oauth ? Object.fromEntries(loginSecrets.map((name) => [`oauth.${name}`, oauth[name] ?? ''])) : {};

const valuesOf = (launch: StdioLaunch | RemoteLaunch) => (launch.kind === 'stdio' ? launch.env : launch.headers);

/** Values that a command printed. A header that the entry does not write comes from its header helper. */
function printedValues(written: StdioLaunch | RemoteLaunch, launch: StdioLaunch | RemoteLaunch): Values {
  const texts = new Map(Object.entries(valuesOf(written)));
  const isPrinted = (key: string) => isCommand(texts.get(key) ?? '') || (launch.kind !== 'stdio' && !texts.has(key));
  return Object.fromEntries(Object.entries(valuesOf(launch)).filter(([key]) => isPrinted(key)));
}

/** Each variable counts by itself too: a server may take apart what it was sent and return a part of it. */
function sentSecrets(written: RemoteLaunch, launch: RemoteLaunch, env: EnvironmentVariables): Values {
  const sent = filledValues(written, launch);
  const parts = sent.flatMap(({ name, variables }) =>
    variables.map((variable) => ({ names: [variable, name], value: env[variable] ?? '' })),
  );
  const whole = sent.map(({ name, value, variables }) => ({ names: [name, ...variables], value }));
  return secretsSent([...parts, ...whole]);
}

/** Host names are reported in lower case, so a secret that became part of one is added in lower case. */
function asHost(secrets: Values, { url }: RemoteLaunch): Values {
  const { hostname } = new URL(url);
  const lower = Object.entries(secrets).map(([name, value]) => [`${name}.host`, value.toLowerCase()] as const);
  return Object.fromEntries(lower.filter(([, value]) => value !== '' && hostname.includes(value)));
}
