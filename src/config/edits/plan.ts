// Owns the plan of a change: where the server stands in the content of a file, which operations change it, and the content that
// must result. Edits no text; `json.ts` and `toml.ts` write the operations.

import { unreachable } from '../../kernel/unreachable.ts';
import { type ConfigMap, isMap, type KeyPath } from '../config-map.ts';
import { entriesOf, findGroups, findInputs, type GroupEntry } from '../groups.ts';
import { camelCase } from '../key-case.ts';
import { labelOf } from '../problem.ts';
import { vocabularies } from '../vocabulary.ts';

export type Change =
  | {
      readonly kind: 'put';
      readonly name: string;
      readonly entry: ConfigMap;
      readonly whenPresent: 'replace' | 'refuse';
      /** Inputs that the entry reads, declared in the file unless it declares that id already. */
      readonly inputs?: readonly ConfigMap[];
    }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'enable'; readonly name: string; readonly enabled: boolean };

export type Operation =
  /** A new entry at the end of a map, with its name as the key, or of a list, with its name among its own keys. */
  | { readonly kind: 'insert'; readonly group: KeyPath; readonly key: string | number; readonly value: ConfigMap }
  | { readonly kind: 'replace'; readonly path: KeyPath; readonly value: ConfigMap }
  | { readonly kind: 'remove'; readonly path: KeyPath }
  /** One key of an entry. */
  | { readonly kind: 'set'; readonly path: KeyPath; readonly key: string; readonly value: boolean };

export type Plan =
  | { readonly kind: 'edit'; readonly operations: readonly Operation[]; readonly before: unknown }
  /** The content says so already. */
  | { readonly kind: 'unchanged'; readonly before: unknown }
  /** A server of that name exists and should not be replaced. */
  | { readonly kind: 'present'; readonly before: unknown }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unfit'; readonly problem: string };

/** `newGroup`: the key that servers are put under in a file that has none yet. */
export function planChange(content: ConfigMap, change: Change, newGroup: string): Plan {
  const entries = findEntries(content, change.name);
  const [first] = entries;
  if (change.kind === 'put') {
    if (first === undefined) return planInsertion(content, change, newGroup);
    if (change.whenPresent === 'refuse') return { kind: 'present', before: first.value };
    const value = named(first, content, change.entry);
    return { kind: 'edit', operations: [{ kind: 'replace', path: first.path, value }], before: first.value };
  }
  if (first === undefined) return { kind: 'absent' };
  if (change.kind === 'enable') return planSwitch(first, change.enabled);
  // Removes every entry of that name, or a second one would take effect; from the last to the first, so that list indices stay valid.
  const operations = entries.toReversed().map(({ path }): Operation => ({ kind: 'remove', path }));
  return { kind: 'edit', operations, before: first.value };
}

/** All entries of that name; the first one counts. */
export function findEntries(content: ConfigMap, name: string): readonly GroupEntry[] {
  return findGroups(content).groups.flatMap((group) => (entriesOf(group) ?? []).filter((each) => each.name === name));
}

function planInsertion(content: ConfigMap, change: Extract<Change, { kind: 'put' }>, newGroup: string): Plan {
  const { name, entry, inputs = [] } = change;
  const { groups } = findGroups(content);
  const fit = groups.find((each) => entriesOf(each) !== undefined);
  const [unfit] = groups;
  if (!fit && unfit) return { kind: 'unfit', problem: `${labelOf(unfit.path)} is neither a map nor a list of servers` };
  const group = fit ?? { path: [newGroup], entries: {} };
  const list = Array.isArray(group.entries) ? group.entries : undefined;
  const value = list ? { name, ...entry } : entry;
  const operation: Operation = { kind: 'insert', group: group.path, key: list ? list.length : name, value };
  return { kind: 'edit', operations: [operation, ...inputOperations(content, inputs)], before: undefined };
}

function inputOperations(content: ConfigMap, inputs: readonly ConfigMap[]): readonly Operation[] {
  const { path, entries } = findInputs(content);
  if (entries !== undefined && !Array.isArray(entries)) return [];
  const declared: readonly unknown[] = entries ?? [];
  const isDeclared = (id: unknown) => declared.some((each) => isMap(each) && each['id'] === id);
  return inputs
    .filter(({ id }) => !isDeclared(id))
    .map((value, at): Operation => ({ kind: 'insert', group: path, key: declared.length + at, value }));
}

/** An entry of a list keeps its name, under the key that held it. */
function named({ path }: GroupEntry, content: ConfigMap, entry: ConfigMap): ConfigMap {
  if (typeof path.at(-1) !== 'number') return entry;
  const present = path.reduce<unknown>((value, part) => Object(value)[part], content);
  const keys = isMap(present) ? Object.entries(present).filter(([key]) => key === 'name' || key === 'id') : [];
  return { ...Object.fromEntries(keys), ...entry };
}

/** Sets the key that the file uses, be it `enabled` or `disabled`; a file that uses both keeps both, and they agree. */
function planSwitch({ path, value }: GroupEntry, enabled: boolean): Plan {
  if (!isMap(value)) return { kind: 'unfit', problem: `${labelOf(path)} is no map of settings` };
  const words = Object.keys(value).flatMap((key) => {
    const whenTrue = vocabularies.server.meanings.get(camelCase(key))?.(true)['enabled'];
    return typeof whenTrue === 'boolean' ? [{ key, wanted: whenTrue === enabled }] : [];
  });
  const present = words.filter(({ key }) => value[key] !== null);
  if (present.length === 0 && enabled) return { kind: 'unchanged', before: value };
  const [spare = { key: 'enabled', wanted: enabled }] = words;
  const operations = (present.length === 0 ? [spare] : present)
    .filter(({ key, wanted }) => value[key] !== wanted)
    .map(({ key, wanted }): Operation => ({ kind: 'set', path, key, value: wanted }));
  return operations.length === 0 ? { kind: 'unchanged', before: value } : { kind: 'edit', operations, before: value };
}

/** The content that must result from the operations. */
export function contentAfter(content: ConfigMap, operations: readonly Operation[]): ConfigMap {
  return operations.reduce<unknown>((before, operation) => {
    switch (operation.kind) {
      case 'insert':
        return updated(before, [...operation.group, operation.key], () => operation.value);
      case 'replace':
        return updated(before, operation.path, () => operation.value);
      case 'set':
        return updated(before, [...operation.path, operation.key], () => operation.value);
      case 'remove':
        return updated(before, operation.path.slice(0, -1), (group) => without(group, operation.path.at(-1) ?? ''));
      default:
        return unreachable(operation);
    }
  }, content) as ConfigMap;
}

function updated(value: unknown, [key, ...rest]: KeyPath, change: (value: unknown) => unknown): unknown {
  if (key === undefined) return change(value);
  const list = typeof key === 'number' && value === undefined ? [] : value;
  if (Array.isArray(list)) return Object.assign([...list], { [key]: updated(list[Number(key)], rest, change) });
  const map = isMap(value) ? value : {};
  return { ...map, [key]: updated(map[key], rest, change) };
}

function without(group: unknown, key: string | number): unknown {
  if (Array.isArray(group)) return group.toSpliced(Number(key), 1);
  return Object.fromEntries(Object.entries(Object(group)).filter(([each]) => each !== key));
}

/** An empty map of servers equals none: when its last entry is removed, TOML often leaves no trace of the map. */
export function saysTheSame(one: ConfigMap, other: ConfigMap, operations: readonly Operation[]): boolean {
  const groups = operations.map((each) => (each.kind === 'insert' ? each.group : each.path.slice(0, -1)));
  const pruned = (content: ConfigMap) => groups.reduce<unknown>(withoutEmpty, content);
  return isEqual(pruned(one), pruned(other));
}

function withoutEmpty(value: unknown, [key, ...rest]: KeyPath): unknown {
  if (key === undefined || !isMap(value) || !Object.hasOwn(value, key)) return value;
  const inner = withoutEmpty(value[key], rest);
  return isEmpty(inner) ? without(value, key) : { ...value, [key]: inner };
}

const isEmpty = (value: unknown) => value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** Compares content alone: the parsers return maps with and without a prototype. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return Object.is(one, other);
  if (one instanceof Date || other instanceof Date) return String(one) === String(other);
  const keys = Object.keys(one);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isEqual(Reflect.get(one, key), Reflect.get(other, key)))
  );
}
