// Owns placeholders: `${VAR}`, `${VAR:-default}` and `${env:VAR}`, filled in from an explicit environment when a server is
// opened and never stored. What a missing variable means for the server is the caller's decision.

import type { Launch, RemoteLaunch, Scope, ServerDefinition, StdioLaunch } from '../model/server.ts';
import { isWorkspaceScope } from './scopes.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Lookup = (name: string) => string | undefined;

export interface Expanded {
  readonly value: string;
  /** Variables that are neither set nor have a default; each stands in `value` as nothing. */
  readonly missing: readonly string[];
}

interface Placeholder {
  readonly name: string;
  readonly fallback: string | undefined;
  readonly text: string;
}

export function expand(text: string, lookup: Lookup): Expanded {
  const missing = new Set<string>();
  const value = replaceEach(text, ({ name, fallback }) => {
    const found = lookup(name);
    // As in a shell, `:-` also stands in for a variable that is set to nothing.
    if (found || (found === '' && fallback === undefined)) return found;
    if (fallback === undefined) missing.add(name);
    return fallback ?? '';
  });
  return { value, missing: [...missing] };
}

export function variablesOf(text: string): readonly string[] {
  const names = new Set<string>();
  replaceEach(text, ({ name, text: written }) => {
    names.add(name);
    return written;
  });
  return [...names];
}

/** Puts in what `values` holds and leaves every other placeholder as it is written. */
export function inline(text: string, values: Environment): string {
  return replaceEach(text, ({ name, fallback, text: written }) => {
    const found = own(values, name);
    return found === undefined ? written : found || fallback || '';
  });
}

/** Workspace scopes see only what their own entry says: a repository cannot name one of your secrets and have it sent. */
export function lookupFor(scope: Scope, entryEnv: Environment, hostEnv: Environment): Lookup {
  if (isWorkspaceScope(scope)) return (name) => own(entryEnv, name);
  return (name) => own(entryEnv, name) ?? own(hostEnv, name);
}

export interface Resolved {
  readonly launch: Launch;
  /** Not empty in a scope of the person's own: the server must not start. In a workspace scope: a warning. */
  readonly missing: readonly string[];
}

/** The result holds secrets: it belongs inside an open transport and nowhere else. */
export function resolveLaunch({ launch, provenance }: ServerDefinition, hostEnv: Environment): Resolved {
  if (launch.kind === 'in-process') return { launch, missing: [] };
  const missing = new Set<string>();
  const expander = (entryEnv: Environment) => {
    const lookup = lookupFor(provenance.scope, entryEnv, hostEnv);
    return (text: string) => {
      const expanded = expand(text, lookup);
      for (const name of expanded.missing) missing.add(name);
      return expanded.value;
    };
  };
  const resolved = launch.kind === 'stdio' ? resolveStdio(launch, expander) : resolveRemote(launch, expander({}));
  return { launch: resolved, missing: [...missing] };
}

type Expand = (text: string) => string;

/** The entry's own variables first: `PATH = "${PATH}:/opt/bin"` means the host's, `args = ["${PORT}"]` the entry's. */
function resolveStdio(launch: StdioLaunch, expander: (entryEnv: Environment) => Expand): StdioLaunch {
  const literals = Object.fromEntries(
    Object.entries(launch.env).filter(([, value]) => variablesOf(value).length === 0),
  );
  const env = mapValues(launch.env, expander(literals));
  const fill = expander(env);
  return {
    ...launch,
    command: fill(launch.command),
    args: launch.args.map(fill),
    env,
    ...(launch.cwd === undefined ? {} : { cwd: fill(launch.cwd) }),
  };
}

function resolveRemote({ bearerTokenEnvVar, ...launch }: RemoteLaunch, fill: Expand): RemoteLaunch {
  const bearer = bearerTokenEnvVar === undefined ? {} : { Authorization: `Bearer \${${bearerTokenEnvVar}}` };
  const others = Object.entries(launch.headers).filter(
    ([name]) => !('Authorization' in bearer && /^authorization$/i.test(name)),
  );
  const headers = Object.entries(mapValues({ ...Object.fromEntries(others), ...bearer }, fill));
  return {
    ...launch,
    url: fill(launch.url),
    headers: Object.fromEntries(headers.filter(([, value]) => !isHollow(value))),
  };
}

/** A header whose secret is missing is left out: an empty one only invites a misleading answer. */
const isHollow = (header: string) => /^\s*(bearer|basic|token)?\s*$/i.test(header);

const mapValues = (record: Readonly<Record<string, string>>, change: Expand) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

/** Names come from files: `${constructor}` must not find what every object inherits. */
const own = (record: Environment, name: string) => (Object.hasOwn(record, name) ? record[name] : undefined);

const INSIDE = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/s;

/** Linear: each closing brace is looked for once, and a text that only opens them ends at the first that is never closed. */
function replaceEach(text: string, replace: (placeholder: Placeholder) => string): string {
  let out = '';
  let done = 0;
  let close = -1;
  for (let open = text.indexOf('${'); open >= 0; open = text.indexOf('${', open)) {
    if (close < open) close = text.indexOf('}', open);
    if (close < 0) break;
    const inside = INSIDE.exec(text.slice(open + 2, close));
    if (inside?.[1] === undefined) {
      open += 2;
      continue;
    }
    out +=
      text.slice(done, open) + replace({ name: inside[1], fallback: inside[2], text: text.slice(open, close + 1) });
    done = close + 1;
    open = done;
  }
  return out + text.slice(done);
}
