// Owns how the parts of a launch identity are stored and compared: as a text without secrets, and as a sealed digest that tells
// any two values apart. `fingerprint.ts` says which parts there are.

import { hash } from 'node:crypto';
import { hideSecrets } from '../config/literal-secrets.ts';
import { HIDDEN } from '../config/mask-secret.ts';
import { canonicalJson } from '../kernel/json.ts';
import { mentionsSecret } from '../model/secret-shapes.ts';
import type { Seal } from './account.ts';

export type LaunchValues = Readonly<Record<string, string>>;

export interface StoredPart {
  /** Without secrets, to be shown once the part has changed. */
  readonly text: string;
  /** The digest, sealed: an unsealed one would let a short secret be guessed. */
  readonly seal: string;
}

export type StoredParts = Readonly<Record<string, StoredPart>>;

export async function storedPartsOf(values: LaunchValues, seal: Seal): Promise<StoredParts> {
  return sealEach(shownTexts(values), (part) => digestOf(values[part]), seal);
}

/** Version 1 kept plain texts and digests: the digest of a plain text is known, and so is the seal of a digest. */
export async function partsOfVersion1(essence: LaunchValues, seal: Seal): Promise<StoredParts> {
  const shown = Object.entries(essence).map(([part, value]) => [part, value.replace(DIGEST_MARK, HIDDEN)]);
  const digest = (part: string) => {
    const value = essence[part] ?? '';
    if (isValueHidden(part)) return value;
    return DIGEST_MARK.exec(value)?.[1] ?? digestOf(value);
  };
  return sealEach(shownTexts(Object.fromEntries(shown)), digest, seal);
}

async function sealEach(texts: LaunchValues, digest: (part: string) => string, seal: Seal): Promise<StoredParts> {
  const parts = Object.entries(texts).map(async ([part, text]) => [part, { text, seal: await seal(digest(part)) }]);
  return Object.fromEntries(await Promise.all(parts));
}

/** The parts that differ, as the user reads them when a server has changed. */
export function differences(before: StoredParts, now: StoredParts): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((part) => {
    const [old, present] = [before[part], now[part]];
    if (old?.seal === present?.seal) return [];
    const isHidden = isValueHidden(part);
    if (old === undefined) return [isHidden ? `${part} was added` : `${part} was added: ${present?.text}`];
    if (present === undefined) return [isHidden ? `${part} was removed` : `${part} was removed: ${old.text}`];
    if (isHidden || old.text === present.text) return [`${part} has another value`];
    return [`${part} was ${old.text} and is ${present.text}`];
  });
}

/** Variables, headers and contents of files: whatever their names are, their values are never shown. */
const isValueHidden = (part: string) => /^(variable|header|file) /.test(part);

function shownTexts(values: LaunchValues): LaunchValues {
  const args = Object.keys(values).filter((part) => part.startsWith('argument '));
  const { args: hidden = [] } = hideSecrets({ args: args.map((part) => values[part] ?? '') });
  const textOf = (part: string, value: string): string => {
    if (isValueHidden(part) || part === 'headersHelper') return HIDDEN;
    if (part === 'url') return shownAddress(value);
    const at = args.indexOf(part);
    const shown = (at < 0 ? hideSecrets({ args: [value] }).args?.[0] : hidden[at]) ?? HIDDEN;
    return shown === value && mayQuoteSecret(part, value) ? HIDDEN : shown;
  };
  return Object.fromEntries(Object.entries(values).map(([part, value]) => [part, textOf(part, value)]));
}

/** Code and JSON hold secrets in more ways than can be told; the name of an option holds none. */
const mayQuoteSecret = (part: string, value: string) =>
  /^(argument|default of|options of) /.test(part) && mentionsSecret(value) && !/^--?[\w.-]+$/.test(value);

/** Logins, parameters and fragments of an address often hold a token, whatever they are called. */
function shownAddress(url: string): string {
  const end = url.search(/[?#]/);
  const address = (end < 0 ? url : url.slice(0, end)).replace(/\/\/[^/]*@/, `//${HIDDEN}@`);
  return `${hideSecrets({ url: address }).url}${end < 0 ? '' : `?${HIDDEN}`}`;
}

const DIGEST_MARK = /\(hidden ([0-9a-f]{64})\)/;

/** SHA-256 in full: for a shortened one an attacker could find two commands that share it, one to approve and one to run. */
export const digestOf = (value: unknown): string => hash('sha256', canonicalJson(value));
