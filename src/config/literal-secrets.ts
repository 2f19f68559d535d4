// Owns finding secrets that stand literally in an entry, and replacing them: by a placeholder where the entry is imported, by a
// word where it is shown. Rather one too many: a placeholder is filled in again, while a secret in a file is copied, committed
// and backed up.

import {
  isHarmlessLiteral,
  isHarmlessValue,
  isLoginFlag,
  isOrdinaryName,
  isPasswordFlag,
  isSecretName,
  isSecretShape,
} from '../model/secret-shapes.ts';
import { looksRandom } from '../model/secret-values.ts';
import type { Launch, StdioLaunch } from '../model/server.ts';
import { foreignPlaceholdersIn, inputsOf, isCommand, variablesOf } from './expand.ts';
import { HIDDEN, maskNamed, maskSecret } from './mask-secret.ts';

export interface LiteralSecret {
  /** The id of the input that replaces it. */
  readonly id: string;
  /** `env.API_KEY`, `headers.Authorization`, `url`, `args[2]`. */
  readonly at: string;
  readonly value: string;
}

/** The keys of an entry that may hold a secret. */
export interface SecretPlaces extends Partial<Pick<StdioLaunch, 'args' | 'env'>> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly proxy?: string;
}

export interface Replaced {
  readonly entry: SecretPlaces;
  readonly secrets: readonly LiteralSecret[];
}

/** `isTaken`: two secrets never share an id, since the second would overwrite the first. */
export function replaceSecrets(
  server: string,
  entry: SecretPlaces,
  isTaken: (id: string) => boolean = () => false,
): Replaced {
  const secrets: LiteralSecret[] = [];
  const isUsed = (id: string) => isTaken(id) || secrets.some((each) => each.id === id);
  const replaced = inEntry(entry, (at, { name, value, isCertain, doubt }) => {
    if (doubt !== undefined) return value;
    if (!isCertain && (value.length < SHORTEST || isForReaders(value))) return value;
    const id = freeId(`${server}-${name}`, isUsed);
    secrets.push({ id, at, value });
    return `\${input:${id}}`;
  });
  return { entry: replaced, secrets };
}

/** The wanted id in characters that a placeholder allows, with a number behind it when it is taken. */
export function freeId(wanted: string, isTaken: (id: string) => boolean): string {
  const base = wanted.replace(/[^\w.-]+/g, '-').replace(/^-+/, '') || 'input';
  let id = base;
  for (let number = 2; isTaken(id); number++) id = `${base}-${number}`;
  return id;
}

/** The entry with its secrets hidden, to be stored. Placeholders stay, since they reveal nothing. */
export const hideSecrets = (entry: SecretPlaces): SecretPlaces => inEntry(entry, () => HIDDEN);

/** The same for a person who decides whether it may run: hides the characters of the secret alone, never what a shell could run. */
export function maskSecrets(entry: SecretPlaces): SecretPlaces {
  const masked = inEntry(entry, (_at, { value }) => maskSecret(value));
  const isLine = (arg: string, at: number) => arg === entry.args?.[at] && /\s/.test(arg);
  return {
    ...masked,
    ...(masked.args && { args: masked.args.map((arg, at) => (isLine(arg, at) ? maskNamed(arg) : arg)) }),
  };
}

export const withoutSecrets = (launch: Launch): Launch =>
  launch.kind === 'in-process' ? launch : { ...launch, ...maskSecrets(launch) };

/** The secrets of a filled-in entry, each under a name. */
export function secretsIn(entry: SecretPlaces): Readonly<Record<string, string>> {
  const secrets = new Map<string, string>();
  inEntry(entry, (at, { name, value, doubt }) => {
    if (doubt !== 'flag') secrets.set(secrets.has(name) ? at : name, value);
    return value;
  });
  return Object.fromEntries(secrets);
}

interface SecretText {
  readonly name: string;
  readonly value: string;
  /** It stands where only a secret can stand, however short it is. */
  readonly isCertain?: true;
  /** Only hidden where it is shown (`flag`), or also known to the redactor (`looks`); the entry keeps it. */
  readonly doubt?: 'flag' | 'looks';
}

type ReplaceSecret = (found: SecretText) => string;

function inEntry(
  { args, env, headers, url, proxy }: SecretPlaces,
  replaceAt: (at: string, found: SecretText) => string,
) {
  const at =
    (where: string): ReplaceSecret =>
    (found) =>
      replaceAt(where, found);
  const inMap = (key: string, map: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(map).map(([name, value]) => [name, inValue(name, value, at(`${key}.${name}`))]));
  return {
    ...(args && { args: args.map((arg, index) => inArgument(arg, args[index - 1] ?? '', at(`args[${index}]`))) }),
    ...(env && { env: inMap('env', env) }),
    ...(headers && { headers: inMap('headers', headers) }),
    ...(url !== undefined && { url: inUrl(url, at('url')) }),
    ...(proxy !== undefined && { proxy: inUrl(proxy, at('proxy')) }),
  };
}

/** Of `Bearer x`, only `x` is replaced. */
function inValue(name: string, value: string, replace: ReplaceSecret): string {
  if (ADDRESS.test(value)) return inUrl(value, replace);
  const [, scheme = '', rest = ''] = /^((?:Bearer|Basic|Token)\s+)?([\s\S]*)$/i.exec(value) ?? [];
  const isFound = isSecret(name, rest) || (scheme !== '' && isSecret('token', rest));
  if (isFound) return scheme + replace({ name, value: rest });
  return looksLikeToken(name, rest) ? scheme + replace({ name, value: rest, doubt: 'looks' }) : value;
}

/** Addresses are tested first: a scheme looks like the name of an option. Then the option before: `--token 12:ab` has no name of its own. */
function inArgument(arg: string, before: string, replace: ReplaceSecret): string {
  if (ADDRESS.test(arg)) return inUrl(arg, replace);
  const isValue = !arg.startsWith('-');
  const [, optionName = ''] = /^(?:--?|\/)([\w.-]+)$/.exec(before) ?? [];
  if (optionName !== '' && isValue && isSecret(optionName, arg)) return replace({ name: optionName, value: arg });
  if (isValue && isLoginFlag(before)) return inLogin(arg, replace);
  if (isValue && isPasswordFlag(before) && !PORTS.test(arg)) return inPassword(arg, replace);
  return inNamed(arg, replace) ?? inUnnamed(arg, optionName, replace);
}

/** `--name=value`, `NAME=value`, `Name: value`, `/name:value`, and several of them: `Server=h;Password=p`. */
function inNamed(arg: string, replace: ReplaceSecret): string | undefined {
  const [, option, name = '', value = ''] =
    /^((?:-{0,2}|\/)(?:(?:env|header)=)?([\w.-]+)[=:]\s*)([\s\S]+)$/.exec(arg) ?? [];
  if (option === undefined) return undefined;
  if (isPasswordFlag(option.slice(0, -1))) return option + inPassword(value, replace);
  if (isLoginFlag(option.slice(0, -1))) return option + inLogin(value, replace);
  if (!/;\s*[\w .-]+=/.test(value) || isSecretName(name)) return option + inValue(name, value, replace);
  return arg.replace(
    /(^|;)(\s*([\w .-]+)=)([^;]+)/g,
    (_, sign: string, start: string, each: string, part: string) => sign + start + inValue(each, part, replace),
  );
}

function inUnnamed(arg: string, optionName: string, replace: ReplaceSecret): string {
  if (/^\s*[{[]/.test(arg)) return inJson(arg, replace);
  if (isSecretShape(arg)) return replace({ name: 'key', value: arg });
  return looksLikeToken(optionName, arg) ? replace({ name: 'key', value: arg, doubt: 'looks' }) : arg;
}

/** `8080:80`, `127.0.0.1:8080:80/tcp`: what `-p` means for containers. */
const PORTS = /^[\d.:-]+(?:\/\w+)?$/;

/** Texts under telling keys. A text with an escape in it stays: replacing a part of one could break the JSON. */
const inJson = (arg: string, replace: ReplaceSecret) =>
  arg.replace(
    /("([\w.-]+)"\s*:\s*")([^"\\]+)(?=")/g,
    (_, start: string, name: string, value: string) => start + inValue(name, value, replace),
  );

const inPassword = (value: string, replace: ReplaceSecret) =>
  isLiteral(value) && !isHarmlessLiteral('', value) ? replace({ name: 'password', value, doubt: 'flag' }) : value;

/** Of `name:password`, the password. Numbers are those of a user and a group. */
function inLogin(value: string, replace: ReplaceSecret): string {
  const [, user = '', password = ''] = /^([^:]*:)([\s\S]+)$/.exec(value) ?? [];
  return user === '' ? value : user + inPassword(password, replace);
}

const ADDRESS = /^\w[\w+.:-]*:\/\//;

/** A password before the host, keys in the path, and parameters whose names suggest a secret. */
function inUrl(url: string, replace: ReplaceSecret): string {
  const [, scheme = '', host = '', path = '', rest = ''] =
    /^(\w[\w+.:-]*:\/\/)?([^/?#]*)([^?#]*)([\s\S]*)$/.exec(url) ?? [];
  const key = (value: string) => {
    if (isSecretShape(value)) return replace({ name: 'key', value });
    return looksLikeToken('', value) ? replace({ name: 'key', value, doubt: 'looks' }) : value;
  };
  const parameter = (whole: string, start: string, name: string, value: string) => {
    if (isSecret(name, value)) return start + replace({ name, value });
    return looksLikeToken(name, value) ? start + replace({ name, value, doubt: 'looks' }) : whole;
  };
  return [
    scheme,
    inHost(host, key, replace),
    path.replace(/[^/]+/g, key),
    rest.replace(/([?&#]([^=&#]+)=)([^&#]+)/g, parameter),
  ].join('');
}

/** `user:password@host`; the last `@` counts, since people do not escape those in a password. */
function inHost(host: string, key: (value: string) => string, replace: ReplaceSecret): string {
  const [, user = '', colon = '', password = '', rest = ''] = /^([^:@]*)(:?)(.*)(@[^@]*)$/s.exec(host) ?? [];
  if (rest === '') return host;
  return (
    key(user) +
    colon +
    (isLiteral(password) ? replace({ name: 'password', value: password, isCertain: true }) : password) +
    rest
  );
}

const isSecret = (name: string, value: string) =>
  isLiteral(value) && (isSecretShape(value) || (isSecretName(name) && !isHarmlessLiteral(name, value)));

/** A value that nobody thought up, under a name that does not say what it is. Names of files may hold a hash. */
const looksLikeToken = (name: string, value: string) =>
  value.length >= SHORTEST_TOKEN &&
  /^[\w.~+=-]+$/.test(value) &&
  !/\.[A-Za-z]{1,5}$/.test(value) &&
  !isOrdinaryName(name) &&
  !isHarmlessValue(value) &&
  looksRandom(value, SHORTEST_TOKEN);

const SHORTEST_TOKEN = 16;

/** The value holds no placeholder and no command, neither ours nor one of the program that it was written for. */
const isLiteral = (value: string) =>
  value !== '' &&
  !isCommand(value) &&
  [variablesOf, inputsOf, foreignPlaceholdersIn].every((placeholdersOf) => placeholdersOf(value).length === 0) &&
  !/\$\{|^\$\w+$/.test(value);

const SHORTEST = 6;

/** Sample texts that documentation puts where a secret belongs. */
const isForReaders = (value: string) =>
  /^<.*>$|^(your|insert|replace|enter|change)[-_ ]|^my[-_ ][a-z_ -]*(key|token|secret|password)$|^[x*.•-]+$|placeholder|example/i.test(
    value,
  );
