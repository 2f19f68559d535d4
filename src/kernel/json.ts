// Owns JSON helpers: parsing that never throws, writing within a limit, comparing, and one canonical spelling.

export type JsonObject = { readonly [key: string]: unknown };

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

export function parseJson(text: string): ParsedJson {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Keys sorted at every depth: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    isObject(each)
      ? Object.fromEntries(
          Object.keys(each)
            .sort()
            .map((name) => [name, each[name]]),
        )
      : each,
  );
}

/**
 * Whether both are the same JSON, in any order of keys; a key whose value is `undefined` counts as absent. `onParts` is called
 * with the amount of work before it is done.
 */
export function sameJson(one: unknown, other: unknown, onParts: (count: number) => void = ignoreParts): boolean {
  if (typeof one === 'string' && typeof other === 'string' && one.length === other.length) onParts(one.length / 1_000);
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    onParts(one.length);
    return one.every((item, at) => sameJson(item, other[at], onParts));
  }
  const keys = keysWithValue(one, onParts);
  // The other value may be huge: most differences show before its keys are counted.
  const isIn = (key: string) =>
    Object.hasOwn(other, key) && sameJson((one as JsonObject)[key], (other as JsonObject)[key], onParts);
  return keys.every(isIn) && keysWithValue(other, onParts).length === keys.length;
}

const ignoreParts = (): void => undefined;

function keysWithValue(object: object, onParts: (count: number) => void): readonly string[] {
  const keys = Object.keys(object);
  onParts(keys.length);
  return keys.filter((key) => (object as JsonObject)[key] !== undefined);
}

/** For logs and events: never throws (cycles, bigints) and never exceeds `limit` characters by more than a mark. */
export function stringifyBounded(value: unknown, limit: number): string {
  try {
    return bounded(JSON.stringify(value) ?? String(value), limit);
  } catch (error) {
    return `[not JSON: ${bounded(error instanceof Error ? error.message : typeof error, limit)}]`;
  }
}

function bounded(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length} characters)`;
}

/** Whether a value is no deeper and has no more parts than allowed; a cyclic value never is. Never recurses. */
export function isWithin(
  value: unknown,
  { depth, parts }: { readonly depth: number; readonly parts: number },
): boolean {
  const open: { readonly part: unknown; readonly level: number }[] = [{ part: value, level: 1 }];
  let seen = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (++seen > parts || next.level > depth) return false;
    if (typeof next.part !== 'object' || next.part === null) continue;
    for (const part of Object.values(next.part)) open.push({ part, level: next.level + 1 });
  }
  return true;
}

/** For values known to be shallow. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
