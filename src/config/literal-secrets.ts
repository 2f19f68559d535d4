// Owns finding secrets that stand literally in an entry, and putting a placeholder in their place. Rather one too many: a
// placeholder is filled in again, while a secret in a file is copied, committed and backed up.

import type { StdioLaunch } from '../model/server.ts';
import { variablesOf } from './expand.ts';

export interface FoundSecret {
  /** The id of the input that stands for it now. */
  readonly id: string;
  /** `env.API_KEY`, `headers.Authorization`, `url`, `args[2]`. */
  readonly at: string;
  readonly value: string;
}

/** The keys of an entry that may hold one. */
export interface SecretPlaces extends Partial<Pick<StdioLaunch, 'args' | 'env'>> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly url?: string;
}

export interface Replaced {
  readonly entry: SecretPlaces;
  readonly secrets: readonly FoundSecret[];
}

export function replaceSecrets(server: string, { args, env, headers, url }: SecretPlaces): Replaced {
  const secrets: FoundSecret[] = [];
  const placeholder = (at: string, name: string, value: string) => {
    const base = `${server}-${name}`.replace(/[^\w.-]+/g, '-');
    const taken = secrets.filter(({ id }) => id === base || id.startsWith(`${base}-`)).length;
    const id = taken === 0 ? base : `${base}-${taken + 1}`;
    secrets.push({ id, at, value });
    return `\${input:${id}}`;
  };
  const entry: SecretPlaces = {
    ...(args && {
      args: args.map((arg, at) =>
        inArgument(arg, args[at - 1] ?? '', (name, value) => placeholder(`args[${at}]`, name, value)),
      ),
    }),
    ...(env && { env: inMap(env, (name, value) => placeholder(`env.${name}`, name, value)) }),
    ...(headers && { headers: inMap(headers, (name, value) => placeholder(`headers.${name}`, name, value)) }),
    ...(url !== undefined && { url: inUrl(url, (name, value) => placeholder('url', name, value)) }),
  };
  return { entry, secrets };
}

type Place = (name: string, value: string) => string;

const inMap = (map: Readonly<Record<string, string>>, place: Place) =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, inValue(name, value, place)]));

/** `Bearer x`: the word in front stays. */
function inValue(name: string, value: string, place: Place): string {
  const [, scheme = '', rest = ''] = /^((?:Bearer|Basic|Token)\s+)?([\s\S]*)$/i.exec(value) ?? [];
  return isSecret(name, rest) || (scheme !== '' && isSecret('token', rest)) ? scheme + place(name, rest) : value;
}

function inArgument(arg: string, before: string, place: Place): string {
  const [, option, name = '', value = ''] = /^(-{0,2}([\w.-]+)[=:]\s*)([\s\S]+)$/.exec(arg) ?? [];
  if (option !== undefined && !/^https?$/i.test(name)) return option + inValue(name, value, place);
  const [, asked = ''] = /^--?([\w-]+)$/.exec(before) ?? [];
  if (asked !== '' && !arg.startsWith('-') && isSecret(asked, arg)) return place(asked, arg);
  if (/^\w+:\/\//.test(arg)) return inUrl(arg, place);
  return hasKnownShape(arg) ? place('key', arg) : arg;
}

/** A password before the host, and parameters whose names tell. */
function inUrl(url: string, place: Place): string {
  return url
    .replace(/(?<=^\w+:\/\/[^/@:]*:)([^/@]+)(?=@)/, (value) => (isWritten(value) ? place('password', value) : value))
    .replace(/([?&]([^=&#]+)=)([^&#]+)/g, (whole, start: string, name: string, value: string) =>
      isSecret(name, value) ? start + place(name, value) : whole,
    );
}

export const isTelling = (name: string) =>
  /token|secret|passw|credential|api_?-?key|access_?-?key|private_?-?key|(^|[_-])key$|(^|[_-])pat$|auth|cookie|session/i.test(
    name,
  );

const isSecret = (name: string, value: string) =>
  isWritten(value) && (hasKnownShape(value) || (isTelling(name) && !isHarmless(value)));

/** Long enough, not a placeholder of ours, nor one of those that documentation is full of. */
const isWritten = (value: string) =>
  value.length >= 6 &&
  variablesOf(value).length === 0 &&
  !/\$\{|^<.*>$|^(your|my|insert|replace|enter|change)[-_ ]|^[x*.•-]+$|^\$\w+$|placeholder|example/i.test(value);

const isHarmless = (value: string) =>
  /^(true|false|none|null|\d+)$/i.test(value) || /^(https?:\/\/|\.{0,2}\/|~\/|[A-Za-z]:\\)/.test(value);

/** Prefixes that providers gave their keys so that they can be recognized, and signed tokens. */
const hasKnownShape = (value: string) =>
  /^(sk-|sk_live_|sk_test_|pk_live_|rk_live_|gh[opsur]_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|ya29\.|hf_|npm_|pypi-|dop_v1_|shpat_|lin_api_|ntn_|secret_|figd_|tvly-|r8_|pat[A-Za-z0-9]{10,}\.)[\w.-]{10,}$/.test(
    value,
  ) || /^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$/.test(value);
