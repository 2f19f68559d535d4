// Owns what a host hands in, made complete: its options, its environment, clock, stores, redactor and events. Everything else of
// the runtime is given a `Host` and reads nothing from the process itself.

import type { CatalogEvent } from '../catalog/events.ts';
import type { ConfigSource } from '../config/discover.ts';
import type { ConfigEvent } from '../config/events.ts';
import type { AskInput } from '../config/inputs.ts';
import type { NativeTool } from '../config/native.ts';
import { cacheFolder, type HostEnvironment, resultsFolder, stateFolder } from '../config/scopes.ts';
import type { HostServer } from '../config/server-entry.ts';
import type { ClientHandlers, ViewHandlers } from '../connection/client-handlers.ts';
import type { ConnectionEvent } from '../connection/events.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { createEvents, type Emit, type Events } from '../kernel/emitter.ts';
import type { Store } from '../kernel/store.ts';
import { type TrackedStore, trackWrites } from '../kernel/track-writes.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ClientInfo } from '../model/identity.ts';
import type { ServerName } from '../model/names.ts';
import type { Launcher } from '../model/server.ts';
import type { PermissionGate } from '../policy/gate.ts';
import type { HostRule } from '../policy/host-rules.ts';
import { createRedactor, KnownSecrets, type Redactor } from '../shaping/redact.ts';
import { type Artifacts, createArtifacts } from '../store/artifacts.ts';
import { createFileStore } from '../store/file.ts';
import { createServerLogs, type ServerLogs } from '../store/server-log.ts';
import { type Approve, approveNothing } from '../trust/approval.ts';
import type { TrustEvent } from '../trust/events.ts';

/** Everything is optional: the defaults are the process's own. */
export interface HostOptions extends ClientHandlers {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
  /** False: read no file at all. */
  readonly discover?: boolean;
  /** Read this file only; its servers count as the user's own. */
  readonly config?: string;
  /** Servers defined in code, by name: they are trusted. */
  readonly servers?: Readonly<Record<ServerName, HostServer>>;
  /** Connect only these of the configured servers. */
  readonly only?: readonly ServerName[];
  readonly permissions?: readonly HostRule[];
  /** The host's own permission system: asked about every call that no rule denies, before a person is asked. */
  readonly gate?: PermissionGate;
  /** Only tools exactly as `plexus.lock` holds them may be called. */
  readonly frozen?: boolean;
  /** Asked where no rule allows or denies a call; the default says no. */
  readonly approve?: Approve;
  readonly startup?: {
    /** How long an interactive start waits for servers whose tools are not cached. */
    readonly gateMs?: number;
    readonly whenUncached?: 'background' | 'wait';
    /** How long a headless start waits for them. */
    readonly waitMs?: number;
    /** How long it waits for servers with `required` at most. */
    readonly requiredWaitMs?: number;
    /** Whether servers whose tools are cached are connected at once (the default), or left until they are called. */
    readonly whenCached?: 'connect' | 'leave';
    /** When a lazy server whose tools are not cached is started; overrides the setting `lazyList`. */
    readonly lazyList?: 'on-request' | 'at-start';
  };
  /** Further settings in the shape of a file, such as an editor's own: a layer of scope local. */
  readonly extraSources?: readonly ConfigSource[];
  /** What the host does itself: servers that only do the same are not used. A function is called at each reload. */
  readonly nativeTools?: readonly NativeTool[] | (() => readonly NativeTool[]);
  /** Answers `${input:id}`; the answer is remembered. Without it, only remembered answers and the defaults of the user's own files count. */
  readonly askInput?: AskInput;
  /** How the runtime introduces itself to servers; the default is Plexus. */
  readonly clientInfo?: ClientInfo;
  /** May put a sandbox around every local server before it is started. */
  readonly launcher?: Launcher;
  /** Whether changes of configuration files are noticed and applied. Default: yes, unless no file is read. */
  readonly watch?: boolean;
  /** Whether a start fails when a `required` server is not ready. Default: `enforce`, and `report` in a terminal. */
  readonly required?: 'enforce' | 'report';
  /** Aborting it ends a start that still waits for its servers; what was opened is closed. */
  readonly signal?: AbortSignal;
  /** Default: stdin and stdout are terminals. */
  readonly interactive?: boolean;
  /** Where approvals are remembered; the default is a folder of the user's. */
  readonly store?: Store;
  /** Whether each server has a log in a folder of the user's: its stderr and why it ended. Default: yes, unless there is a `store`. */
  readonly logs?: boolean;
  readonly clock?: Clock;
  /** Receives what a listener threw and what went wrong while closing. The default warns on stderr. */
  readonly onError?: (error: unknown) => void;
}

export type ServerEvent = ConfigEvent | TrustEvent | ConnectionEvent | CatalogEvent;

/** `Further` are events that layers above `servers/` emit through the same emitter. */
export interface Host<Further = never> {
  readonly options: HostOptions;
  readonly environment: HostEnvironment;
  readonly clock: Clock;
  /** When the host called `createRuntime`: start-up limits count from here. */
  readonly startedAt: number;
  readonly emit: Emit<ServerEvent | Further>;
  /** Never throws, and the error it passes on holds no secrets. */
  readonly onError: (error: unknown) => void;
  /** Approvals, grants and answers. */
  readonly store: Store;
  /** What can be fetched again: tool lists, negotiated protocols. */
  readonly cache: TrackedStore;
  readonly knownSecrets: KnownSecrets;
  readonly redactor: Redactor;
  readonly approve: Approve;
  readonly handlers: ViewHandlers;
  /** Where long results and blobs are kept as files; `undefined` where the host brought its own store. */
  readonly artifacts: Artifacts | undefined;
  readonly logs: ServerLogs | undefined;
  /** Aborted when the runtime closes, or could not start. */
  readonly closing: AbortController;
}

export type ListeningHost<Further> = Host<Further> & Pick<Events<ServerEvent | Further>, 'on'>;

type Listening<Further> = HostOptions & { readonly onEvent?: (event: ServerEvent | Further) => void };

export function createHost<Further>(options: Listening<Further>, environment: HostEnvironment): ListeningHost<Further> {
  const { clock = systemClock, approve = approveNothing, elicit, sample, roots } = options;
  const startedAt = clock.now();
  const knownSecrets = new KnownSecrets();
  const redactor = createRedactor(knownSecrets);
  const onError = createOnError(options.onError ?? warn, redactor);
  const { emit, on } = createEvents<ServerEvent | Further>(onError, redactor.value);
  if (options.onEvent) on(options.onEvent);
  const onUnreadable = (file: string) => onError(new RuntimeError('STORE_UNREADABLE', { what: file }));
  const hasLogs = options.logs ?? options.store === undefined;
  return {
    options,
    environment,
    clock,
    startedAt,
    emit,
    on,
    onError,
    store: options.store ?? createFileStore(stateFolder(environment), clock),
    cache: trackWrites(options.store ?? createFileStore(cacheFolder(environment), clock, onUnreadable)),
    knownSecrets,
    redactor,
    approve,
    handlers: {
      ...(elicit && { elicit }),
      ...(sample && { sample }),
      ...(roots && { roots }),
      emit,
      onError,
    },
    artifacts: options.store
      ? undefined
      : createArtifacts({ folder: resultsFolder(environment), clock, redact: redactor.text }),
    logs: hasLogs ? createServerLogs(stateFolder(environment), clock, onError) : undefined,
    closing: new AbortController(),
  };
}

/** A host function that throws while it is told of an error must not break the part that reports. */
function createOnError(onError: (error: unknown) => void, redactor: Redactor): (error: unknown) => void {
  return (error) => {
    try {
      onError(redactor.error(error));
    } catch (thrown) {
      warn(thrown);
    }
  };
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
