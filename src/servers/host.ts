// Owns what a host hands in, made complete: its options, its environment, clock, stores, redactor and events. Everything else of
// the runtime is given a `Host` and reads nothing from the process itself.

import { setMaxListeners } from 'node:events';
import type { TokenStore } from '../auth/token-store.ts';
import type { ConfigSource } from '../config/discover.ts';
import type { AskInput } from '../config/inputs.ts';
import type { NativeTool } from '../config/native.ts';
import { cacheFolder, type HostEnvironment, resultsFolder, stateFolder } from '../config/scopes.ts';
import type { HostServer } from '../config/server-entry.ts';
import type { ClientHandlers, ViewHandlers } from '../connection/client-handlers.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { createEvents, type Emit, type Events } from '../kernel/emitter.ts';
import type { Store } from '../kernel/store.ts';
import { type TrackedStore, trackWrites } from '../kernel/track-writes.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ClientInfo } from '../model/identity.ts';
import type { ServerName } from '../model/names.ts';
import type { Launcher } from '../model/server.ts';
import type { Tool } from '../model/tool.ts';
import type { PermissionGate } from '../policy/gate.ts';
import type { HostRule } from '../policy/host-rules.ts';
import { createRedactor, KnownSecrets, type Redactor } from '../shaping/redact.ts';
import { type Artifacts, createArtifacts } from '../store/artifacts.ts';
import { createFileStore } from '../store/file.ts';
import { createServerLogs, type ServerLogs } from '../store/server-log.ts';
import { type Approve, approveNothing } from '../trust/approval.ts';
import type { ServerEvent } from './events.ts';
import { unknownOptions } from './known-options.ts';
import { createNotices, errorNotice, type Logger, tellHost } from './notices.ts';
import type { Elsewhere } from './resolve-server.ts';

/** Everything is optional: the defaults are the process's own. */
export interface HostOptions extends ClientHandlers {
  /** The folder whose workspace files are read and in which servers run. Default: the folder of the process. */
  readonly cwd?: string;
  /** The environment variables that Plexus and its servers may read. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The home folder. Default: that of the user. */
  readonly home?: string;
  /** False: read no file at all. */
  readonly discover?: boolean;
  /** Read this file only; its servers count as the user's own. */
  readonly config?: string;
  /** Servers defined in code, by name: they are trusted. */
  readonly servers?: Readonly<Record<ServerName, HostServer>>;
  /** Connect only these of the configured servers. */
  readonly only?: readonly ServerName[];
  /** Rules that allow, deny or ask, in the scope of the host. */
  readonly permissions?: readonly HostRule[];
  /**
   * Turns also hold the tools of remote servers of the workspace that nobody approved. Only for a host whose calls are each a
   * person's own order, as those of `plexus call` are; such servers are offered nothing all the same.
   */
  readonly showUnapproved?: boolean;
  /** The host's own permission system: asked about every call that no rule denies, before a person is asked. */
  readonly gate?: PermissionGate;
  /** Only tools exactly as `plexus.lock` holds them may be called. */
  readonly frozen?: boolean;
  /** Asked where no rule allows or denies a call; the default says no. */
  readonly approve?: Approve;
  readonly startup?: {
    /** How long an interactive start waits for servers whose tools are not cached. */
    readonly gateMs?: number;
    /** `wait`: wait as a script does (`waitMs`); `background`: as in a terminal (`gateMs`); `leave`: start none until it is called. Default: by `interactive`. */
    readonly whenUncached?: 'background' | 'wait' | 'leave';
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
  /** The names of the host's own tools beside those of servers: no server's tool gets one, and none is called by one. */
  readonly reservedNames?: readonly string[];
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
  /** Keeps approvals and tool lists; the default is a folder of the user's. */
  readonly store?: Store;
  /** Keeps the logins to remote servers; the default is an encrypted file in a folder of the user's. */
  readonly tokens?: TokenStore;
  /** Whether each server has a log in a folder of the user's: its stderr and why it ended. Default: yes. */
  readonly logs?: boolean;
  /** Whether long results and blobs are kept as files in a folder of the user's, for a while. Default: yes. */
  readonly resultFiles?: boolean;
  /**
   * Gets what goes wrong, and at lower levels what happens. Without it, and without a listener, a server that cannot be used is
   * told by `process.emitWarning`; `false` silences that too.
   */
  readonly logger?: Logger | false;
  /** Called with the whole catalog after each change of it, for a host that keeps its own list of tools. A turn's tools never change. */
  readonly onToolsChanged?: (catalog: { readonly tools: readonly Tool[]; readonly revision: string }) => void;
  /** The source of time; a test passes one that it moves by hand. */
  readonly clock?: Clock;
  /** Receives what a listener threw and what went wrong while closing. Default: the `logger`, or a warning on stderr. */
  readonly onError?: (error: unknown) => void;
}

/** Set by programs of ours alone: no option, since a host has no use for it. */
export interface Standing {
  /** Servers that run elsewhere, and are reached there. */
  readonly elsewhere?: Elsewhere | undefined;
  /** It is a gateway's: local servers stop when they are idle. */
  readonly stopsIdle?: true;
  /** It is a gateway's: the runtimes of all folders share sessions with remote servers. */
  readonly sharesRemote?: true;
}

/** `Further` are events that layers above `servers/` emit through the same emitter. */
export interface Host<Further = never> {
  readonly standing: Standing;
  readonly options: HostOptions;
  readonly environment: HostEnvironment;
  readonly clock: Clock;
  /** When the host called `createRuntime`: start-up limits count from here. */
  readonly startedAt: number;
  readonly emit: Emit<ServerEvent | Further>;
  /** Whether the host listens to events. */
  readonly isHeard: (type: string) => boolean;
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
  /** Keeps long results and blobs as files; `undefined` if the host wants none. */
  readonly artifacts: Artifacts | undefined;
  readonly logs: ServerLogs | undefined;
  /** Aborted when the runtime closes, or could not start. */
  readonly closing: AbortController;
}

export type ListeningHost<Further extends AnyEvent> = Host<Further> & Pick<Events<ServerEvent | Further>, 'on'>;

type AnyEvent = { readonly type: string };

interface Listening<Further extends AnyEvent> extends HostOptions {
  readonly onEvent?: (event: ServerEvent | Further) => void;
  readonly eventTypes?: readonly (ServerEvent | Further)['type'][];
}

export function createHost<Further extends AnyEvent>(
  options: Listening<Further>,
  environment: HostEnvironment,
  standing: Standing = {},
): ListeningHost<Further> {
  const { clock = systemClock, approve = approveNothing, elicit, sample, roots } = options;
  const startedAt = clock.now();
  const knownSecrets = new KnownSecrets();
  const redactor = createRedactor(knownSecrets);
  const { logger, logs = true, resultFiles = true } = options;
  const onError = createOnError(options.onError ?? errorNotice(logger), redactor);
  const { on, isHeard, ...events } = createEvents<ServerEvent | Further>(onError, redactor.value);
  const notice = createNotices({ logger, redactor, isHeard });
  const emit = (event: ServerEvent | Further) => {
    events.emit(event);
    notice(event as ServerEvent);
  };
  if (options.onEvent) on(options.onEvent, options.eventTypes);
  for (const problem of unknownOptions('createRuntime()', options, runtimeOptionNames)) onError(new TypeError(problem));
  const onUnreadable = (file: string) => onError(new RuntimeError('STORE_UNREADABLE', { what: file }));
  return {
    standing,
    options,
    environment,
    clock,
    startedAt,
    emit,
    isHeard,
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
    artifacts: resultFiles
      ? createArtifacts({ folder: resultsFolder(environment), clock, redact: redactor.textInSlices })
      : undefined,
    logs: logs ? createServerLogs(stateFolder(environment), clock, onError) : undefined,
    closing: createClosing(),
  };
}

function createOnError(onError: (error: unknown) => void, redactor: Redactor): (error: unknown) => void {
  return (error) => tellHost(() => onError(redactor.error(error)));
}

/** All options of `createRuntime`: the compiler refuses one too few or too many. */
const runtimeOptionNames: Readonly<Record<keyof Required<HostOptions> | 'onEvent' | 'eventTypes', true>> = {
  cwd: true,
  env: true,
  home: true,
  discover: true,
  config: true,
  servers: true,
  only: true,
  showUnapproved: true,
  permissions: true,
  gate: true,
  frozen: true,
  approve: true,
  startup: true,
  extraSources: true,
  nativeTools: true,
  reservedNames: true,
  askInput: true,
  clientInfo: true,
  launcher: true,
  watch: true,
  required: true,
  signal: true,
  interactive: true,
  store: true,
  tokens: true,
  logs: true,
  resultFiles: true,
  logger: true,
  clock: true,
  onError: true,
  elicit: true,
  sample: true,
  roots: true,
  onToolsChanged: true,
  onEvent: true,
  eventTypes: true,
};

/** Every open question to a person and every host's permission check listens to it: more than ten at once are no leak. */
function createClosing(): AbortController {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  return closing;
}
