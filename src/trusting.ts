// Owns a person's word as the rest sees it: who may start, and where secrets are kept. Joins what trust, store and config know;
// opens nothing, so that whoever only asks or edits does not load what opens servers.

import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readText } from './config/read-text.ts';
import { variablesRead } from './config/referenced-variables.ts';
import { programOf } from './config/resolve.ts';
import { type HostEnvironment, isOwnScope, keyFile } from './config/scopes.ts';
import { parseJson } from './config/sources/json.ts';
import type { Clock } from './kernel/clock.ts';
import { canonicalJson } from './kernel/json.ts';
import type { Store } from './kernel/store.ts';
import { RuntimeError } from './model/errors.ts';
import type { ServerDefinition } from './model/server.ts';
import { createSecrets, type Secrets } from './store/secrets.ts';
import { launchIdentityOf } from './trust/fingerprint.ts';
import { createGate, type Gate } from './trust/gate.ts';
import { LOCK_FILE, readLock } from './trust/lock.ts';
import { createToolGrants } from './trust/tool-grants.ts';
import type { LoadedLock } from './trust/tool-pins.ts';

/** The gate, told where programs are found and which scopes are the person's own. */
export function createTrust(environment: HostEnvironment, store: Store, clock: Clock): Gate {
  const { cwd, platform, env } = environment;
  const fill = (definition: ServerDefinition) => programOf(definition, environment);
  return createGate({
    ...{ store, clock, isOwnScope },
    essenceOf: (definition) => launchIdentityOf(definition, { cwd, platform, pathEnv: pathIn(env, platform), fill }),
  });
}

/** On Windows it is called `Path`, or anything of that sound. */
function pathIn(env: HostEnvironment['env'], platform: NodeJS.Platform): string | undefined {
  if (platform !== 'win32') return env['PATH'];
  return Object.entries(env).find(([name]) => name.toUpperCase() === 'PATH')?.[1];
}

/**
 * Tells accounts apart that one entry may stand for: by the values of the variables it reads. Only a hash leaves the memory,
 * made with a key of this machine, so that nobody can guess a token by it.
 */
export function createAccounts(
  { env }: HostEnvironment,
  store: Store,
): (definition: ServerDefinition) => Promise<string> {
  let key: Promise<string> | undefined;
  return async (definition) => {
    const { all } = variablesRead(definition);
    if (all.length === 0) return '';
    key ??= keyIn(store);
    return createHmac('sha256', await key)
      .update(canonicalJson(all.map((name) => [name, env[name] ?? null])))
      .digest('hex');
  };
}

async function keyIn(store: Store): Promise<string> {
  const fresh = randomBytes(32).toString('base64');
  await store.compareAndSet(ACCOUNT_KEY, undefined, fresh);
  return (await store.get(ACCOUNT_KEY)) ?? fresh;
}

const ACCOUNT_KEY = 'account-key';

/** What a person allowed for good: to what would run, with what fills its placeholders now. */
export function createGrants(
  environment: HostEnvironment,
  { store, clock, gate }: { store: Store; clock: Clock; gate: Gate },
) {
  const accountOf = createAccounts(environment, store);
  const fingerprint = async (definition: ServerDefinition) =>
    `${await gate.fingerprint(definition)}${await accountOf(definition)}`;
  return createToolGrants({ store, clock, fingerprint });
}

/** Where answers and tokens are kept, encrypted. */
export function createSecretsFor(environment: HostEnvironment, store: Store): Secrets {
  return createSecrets(store, keyFile(environment));
}

/** The lock of a workspace lies in the folder that Plexus is started in, beside the files that define its servers. */
export async function loadLock(folder: string): Promise<LoadedLock> {
  const file = join(folder, LOCK_FILE);
  const read = await readText(file);
  if (read.kind === 'absent') return { kind: 'absent', file };
  if (read.kind === 'text') return parseLock(file, read.text);
  const { problem } = read;
  const line = read.kind === 'not-text' ? read.position?.line : undefined;
  return brokenLock(file, problem, line, read.kind === 'unreadable' ? read.cause : undefined);
}

export async function parseLock(file: string, text: string): Promise<LoadedLock> {
  const parsed = await parseJson(text);
  if (!parsed.ok) return brokenLock(file, parsed.problem.message, parsed.problem.line);
  const { document } = parsed;
  // Two branches that were merged may both have brought a tool: which of them counts is for a person to say.
  const [twice] = await document.repeated();
  if (twice) return brokenLock(file, `it holds ${twice.join(' → ')} twice`, (await document.locate(twice))?.line);
  const found = readLock(document.value);
  if (found.kind === 'lock') return { ...found, file };
  const { path, problem } = found.fault;
  const place = path.length > 0 ? `${problem} (${path.join(' → ')})` : problem;
  return brokenLock(file, place, (await document.locate(path))?.line);
}

function brokenLock(file: string, problem: string, line: number | undefined, cause?: unknown): LoadedLock {
  const data = { file, problem, ...(line !== undefined && { line }) };
  return { kind: 'broken', file, error: new RuntimeError('LOCK_INVALID', data, { cause }) };
}
