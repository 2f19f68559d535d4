// Owns what is kept of the person's own files, so that a broken one forbids what it forbade: its lists, and its rules that deny or
// ask, as they were when it was last readable. No entries, and nothing that allows.

import { isObject, parseJson } from '../kernel/json.ts';
import type { Store } from '../kernel/store.ts';
import type { RuleText } from '../model/rule.ts';
import { emptyLayer, type Layer } from './layer.ts';
import type { ListedServer } from './schema.ts';
import type { FilePlace } from './scopes.ts';
import { parse } from './sections.ts';
import { provenanceOf } from './servers.ts';

export interface KeptPolicy {
  readonly allowlist: readonly ListedServer[];
  readonly denylist: readonly ListedServer[];
  readonly disabledServers: readonly string[];
  readonly rules: readonly Pick<RuleText, 'tool' | 'action' | 'args'>[];
}

export interface KeptPolicies {
  /** `undefined`: the file was never readable here. */
  read(file: string): Promise<KeptPolicy | undefined>;
  /** Returns whether it is kept. Where nothing can be stored, a broken file counts as one that was never readable. */
  keep(file: string, policy: KeptPolicy): Promise<boolean>;
}

export function createKeptPolicies(store: Store): KeptPolicies {
  const read = async (file: string) => {
    try {
      return await store.get(keyOf(file));
    } catch {
      return undefined;
    }
  };
  return {
    read: async (file) => parseKept(await read(file)),
    async keep(file, policy) {
      const text = JSON.stringify(policy);
      if ((await read(file)) === text) return true;
      return store.set(keyOf(file), text).then(
        () => true,
        () => false,
      );
    },
  };
}

const keyOf = (file: string) => `own-files/${file}`;

export function keptOf({ allowlist, denylist, rules, settings }: Layer): KeptPolicy {
  return {
    allowlist,
    denylist,
    disabledServers: settings.flatMap(({ key, value }) => (key === DISABLED ? [value].flat().map(String) : [])),
    rules: rules
      .filter(({ action }) => action !== 'allow')
      .map(({ tool, action, args }) => ({ tool, action, ...(args && { args }) })),
  };
}

export function layerOfKept({ allowlist, denylist, disabledServers, rules }: KeptPolicy, place: FilePlace): Layer {
  const provenance = provenanceOf(place, []);
  return {
    ...emptyLayer,
    allowlist,
    denylist,
    settings: disabledServers.length === 0 ? [] : [{ key: DISABLED, value: disabledServers, provenance }],
    rules: rules.map((rule) => ({ ...rule, provenance })),
  };
}

const DISABLED = 'disabledServers';

/** A record that cannot be read was not kept. */
function parseKept(text: string | undefined): KeptPolicy | undefined {
  const parsed = parseJson(text ?? '');
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { allowlist, denylist, disabledServers, rules } = parsed.value;
  const isKept =
    [allowlist, denylist].every((list) => isList(list, (each) => parse('listedServer', each).issues === undefined)) &&
    isList(disabledServers, (each) => typeof each === 'string') &&
    isList(rules, isKeptRule);
  return isKept ? (parsed.value as unknown as KeptPolicy) : undefined;
}

const isList = (value: unknown, isFit: (each: unknown) => boolean) => Array.isArray(value) && value.every(isFit);

const isKeptRule = (rule: unknown) =>
  isObject(rule) && typeof rule['tool'] === 'string' && (rule['action'] === 'deny' || rule['action'] === 'ask');
