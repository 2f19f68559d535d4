// Owns the status of the configured servers while none of them runs: what files, approvals and stored tool lists say of them. A
// command that only shows servers needs no more, so this loads nothing that opens a server or handles a call.

import { createCachedLists } from '../catalog/cached-lists.ts';
import { isExposed } from '../catalog/filter.ts';
import { createListSummaries, type ListSummary } from '../catalog/list-summary.ts';
import { accountOf } from '../config/login-account.ts';
import { cacheFolder, type HostEnvironment, stateFolder } from '../config/scopes.ts';
import { type ClientHandlers, offerOf, offers, permittedHandlers } from '../connection/client-handlers.ts';
import { type ServerStatus, statusOf } from '../connection/status.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { ServerDefinition } from '../model/server.ts';
import { createFileStore } from '../store/file.ts';
import { createTrust } from '../trust/trust.ts';
import { allStatuses } from './all-statuses.ts';
import type { HostOptions } from './host.ts';
import { createLoader } from './load-config.ts';
import { ServerRegistry } from './registry.ts';

export interface KnownServers {
  /** As `runtime.status()` tells them. */
  readonly servers: readonly ServerStatus[];
  /** By server: how many of its tools a model sees in a reduced form. */
  readonly reduced: ReadonlyMap<ServerName, number>;
  readonly diagnostics: readonly Diagnostic[];
}

export interface ReadServers {
  /** Absent if a server has to be asked: its tools are not known yet, and a start would wait for them. */
  readonly known?: KnownServers;
  /** Reading failures beside the configuration, such as of a stored list or `plexus.lock`. */
  readonly errors: readonly unknown[];
}

export interface KnownServersOptions {
  readonly environment: HostEnvironment;
  readonly options: Pick<HostOptions, 'config' | 'only' | 'startup' | 'interactive'>;
  /** The capabilities that servers would be told of: their tools may depend on them. */
  readonly handlers: ClientHandlers;
  readonly signal: AbortSignal;
}

export async function readKnownServers(deps: KnownServersOptions): Promise<ReadServers> {
  const { environment, options, handlers, signal } = deps;
  const clock = systemClock;
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const onUnreadable = (file: string) => onError(new RuntimeError('STORE_UNREADABLE', { what: file }));
  const lock = { folder: environment.cwd, onError };
  const store = createFileStore(stateFolder(environment), clock);
  const trust = createTrust({ environment, store, clock, lock, onError });
  const gatewayWait = { clock, startedAt: clock.now(), onLateGateway: () => undefined, signal };
  const load = createLoader({ ...trust, options, environment, emit: () => undefined, gatewayWait });
  const [config] = await Promise.all([load(), trust.lock.read()]);
  const registry = new ServerRegistry(environment);
  registry.apply(config);
  const used = registry.used();
  const lists = createCachedLists<ListSummary>({
    ...trust,
    lists: createListSummaries(createFileStore(cacheFolder(environment), clock, onUnreadable)),
    offerTo: ({ name, settings }) =>
      offerOf(config.unapproved.has(name) ? {} : permittedHandlers(handlers, settings.elicitation)),
    offers,
    clock,
    onError,
  });
  const cached = await lists.read(used, () => undefined);
  const isStarted = { eager: true, lazy: config.settings.lazyList === 'at-start', manual: false };
  const told = await withoutSecrets({ diagnostics: config.diagnostics, errors });
  if (used.some((each) => !cached.has(each) && isStarted[each.settings.lifecycle])) return { errors: told.errors };
  const approved = [...cached].filter(([, { isUnapprovedWorkspaceServer }]) => !isUnapprovedWorkspaceServer);
  registry.markApproved(approved.map(([{ name }]) => name));
  const statusIn = (definition: ServerDefinition) =>
    idleStatus(definition, { registry, environment, summary: cached.get(definition)?.listing, now: clock.now() });
  const reduced = [...cached].map(([{ name, settings }, { listing }]): [ServerName, number] => [
    name,
    listing.reduced.filter((tool) => isExposed(tool, settings)).length,
  ]);
  return {
    known: {
      servers: allStatuses(registry, statusIn),
      reduced: new Map(reduced.filter(([, count]) => count > 0)),
      diagnostics: told.diagnostics,
    },
    errors: told.errors,
  };
}

interface StatusFacts {
  readonly registry: ServerRegistry;
  readonly environment: HostEnvironment;
  readonly summary: ListSummary | undefined;
  readonly now: number;
}

/** A server that is enabled and not denied is idle; any other one has no connection at all. */
function idleStatus(definition: ServerDefinition, { registry, environment, summary, now }: StatusFacts): ServerStatus {
  const { name, settings, launch } = definition;
  const account = accountOf(launch, environment);
  const standing = registry.standing(name);
  const shown = summary?.names.filter((tool) => isExposed(tool, settings)) ?? [];
  const idle = {
    state: { kind: 'idle' },
    since: now,
    session: undefined,
    lastFailure: undefined,
    draining: 0,
    restarts: 0,
  } as const;
  return statusOf({
    definition,
    connection: registry.used().includes(definition) ? idle : undefined,
    refusal: registry.refusal(name),
    ...(account !== '' && { login: { account } }),
    ...(standing && { unapproved: standing }),
    listing: {
      isListed: false,
      toolCount: shown.length,
      hiddenCount: (summary?.names.length ?? 0) - shown.length,
      freshness: summary && 'cached',
      listedAt: summary?.listedAt,
      problems: summary?.problems ?? [],
    },
    redact: (text) => text,
    extent: 'whole',
    now,
  });
}

type Told = Pick<KnownServers, 'diagnostics'> & Pick<ReadServers, 'errors'>;

/** As a host is told of them. Most configurations have nothing to tell, and then what knows secrets is not loaded. */
async function withoutSecrets({ diagnostics, errors }: Told): Promise<Told> {
  if (diagnostics.length === 0 && errors.length === 0) return { diagnostics, errors };
  const { createRedactor, KnownSecrets } = await import('../shaping/redact.ts');
  const redactor = createRedactor(new KnownSecrets());
  return { diagnostics: redactor.value(diagnostics), errors: errors.map(redactor.error) };
}
