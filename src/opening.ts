// Owns how one server is opened: permitted and trusted first, then its placeholders filled in, then its channel, then a session.
// The stations it joins do not know each other; this is where they meet.

import { type Approve, askFor } from './call/approval.ts';
import { type AskInput, createInputs, declaredBy } from './config/inputs.ts';
import { refusalOf } from './config/lists.ts';
import { withoutSecrets } from './config/literal-secrets.ts';
import type { LoadedConfig } from './config/load.ts';
import { variablesRead } from './config/referenced-variables.ts';
import { type Resolving, resolveLaunch } from './config/resolve.ts';
import { type CommandOutput, runCommand } from './config/run-command.ts';
import { type HostEnvironment, isOwnScope } from './config/scopes.ts';
import { type ClientHandlers, permittedHandlers } from './connection/client-handlers.ts';
import { connectionKey } from './connection/connection-key.ts';
import type { ConnectionEvent } from './connection/events.ts';
import { openLogged } from './connection/logged-session.ts';
import type { ProtocolCache } from './connection/protocol-cache.ts';
import type { SandboxNews } from './connection/sandbox-state.ts';
import { openSession, type Session, type SessionOptions } from './connection/session.ts';
import { sharedSessions } from './connection/sharing.ts';
import { secretsFilledIn } from './filled-secrets.ts';
import { Cancellation } from './kernel/cancellation.ts';
import type { Clock } from './kernel/clock.ts';
import type { Emit } from './kernel/emitter.ts';
import { Slots } from './kernel/slots.ts';
import { RuntimeError } from './model/errors.ts';
import { type ClientInfo, identity } from './model/identity.ts';
import { limits } from './model/limits.ts';
import type { ServerName } from './model/names.ts';
import {
  commandLine,
  type Launch,
  type Launcher,
  type RemoteLaunch,
  type ServerDefinition,
  type StdioLaunch,
} from './model/server.ts';
import type { KnownSecrets, Redactor } from './shaping/redact.ts';
import type { Prepared } from './standing.ts';
import type { Secrets } from './store/secrets.ts';
import type { ServerLog, ServerLogs } from './store/server-log.ts';
import { openChannel } from './transport/open.ts';
import { printable } from './transport/printable.ts';
import { definitionHash, type LaunchIdentity, trustFingerprint } from './trust/fingerprint.ts';
import type { Gate } from './trust/gate.ts';

/** What the configuration says that matters when a server is opened; asked each time, since it may be read anew. */
export type Circumstances = Pick<LoadedConfig, 'lists' | 'promptInputs' | 'settings' | 'shadowed'>;

export interface OpeningDeps {
  readonly environment: HostEnvironment;
  readonly gate: Gate;
  readonly approve: Approve;
  readonly askInput: AskInput | undefined;
  readonly launcher: Launcher | undefined;
  /** How the host wants us to introduce ourselves. */
  readonly clientInfo?: ClientInfo | undefined;
  readonly secrets: Secrets;
  /** Learns every secret that is filled in, so that the redactor knows it. */
  readonly known: KnownSecrets;
  readonly redactor: Pick<Redactor, 'text' | 'value' | 'error'>;
  readonly handlers: ClientHandlers;
  readonly protocolCache: ProtocolCache;
  readonly sandbox: Pick<SandboxNews, 'state'>;
  /** Where it is written down what servers say beside their messages, and why they end; nowhere by default. */
  readonly logs?: ServerLogs | undefined;
  /** Tells this runtime from others, for servers that are not shared. */
  readonly id: string;
  readonly config: () => Circumstances;
  readonly clock: Clock;
  readonly emit: Emit<ConnectionEvent>;
  /** Told what was found out about a server, each time it is opened. */
  readonly onPrepared: (server: ServerName, prepared: Prepared) => void;
  readonly onError: (error: unknown) => void;
}

/** Somebody who shares with nobody: what tells it from others, and who answers its servers. */
export interface Client {
  readonly id: string;
  readonly handlers: ClientHandlers;
}

export interface Opening {
  /** Opens one session, or shares one that is open. When the signal aborts, nothing of it stays. */
  open(definition: ServerDefinition, signal: AbortSignal, client?: Client): Promise<Session>;
  /** Whether what is open would still be opened: approved, by whoever was asked, and not taken back since. */
  mayStay(definition: ServerDefinition): Promise<boolean>;
  /** The next opening of the server, or of all, shares nothing that is open now. */
  renew(server?: ServerName): void;
}

export function createOpening(given: OpeningDeps): Opening {
  const { environment, clock, secrets, askInput, onError } = given;
  const printed = new Map<string, Promise<CommandOutput>>();
  const slots = new Map<'stdio' | 'remote', Slots>();
  // Not in the workspace: some systems look there first for the programs a command names.
  const runAnew = (command: string) => runCommand(command, { ...environment, cwd: environment.home, clock });
  const deps: Deps = {
    ...given,
    granted: new Map(),
    answered: new Set(),
    slotsFor: (kind) => {
      // Made when the configuration is known.
      const made = slots.get(kind) ?? new Slots(given.config().settings.connectConcurrency[kind]);
      slots.set(kind, made);
      return made;
    },
    answer: createInputs({ answers: secrets, ask: askInput, onError }),
    runAnew,
    // A secret is asked of its keeper once: it may want a touch or a password each time.
    run: (command) => {
      const running = printed.get(command) ?? runAnew(command);
      printed.set(command, running);
      void running.then((output) => output.ok || printed.delete(command));
      return running;
    },
  };
  const keys = new Map<ServerName, string>();
  return {
    async open(definition, signal, client) {
      const grants = await requireTrust(deps, definition, signal);
      const launch = await untilAborted(prepare(deps, definition, grants), signal);
      const { handlers } = client ?? deps;
      const own = { ...deps, handlers: permittedHandlers(handlers, definition.settings.elicitation) };
      const key = keyOf(own, definition, launch, client?.id ?? (definition.settings.perClient ? deps.id : undefined));
      if (client === undefined) keys.set(definition.name, key);
      const open = (until: AbortSignal) => openInTurn(own, definition, launch, until);
      return sharedSessions.lease({ key, open, handlers: own.handlers, signal });
    },
    async mayStay(definition) {
      const judgement = await deps.gate.judge(definition);
      return judgement.kind !== 'asks' || deps.answered.has(trustFingerprint(judgement.essence));
    },
    renew(server) {
      for (const [name, key] of keys) if (server === undefined || name === server) sharedSessions.forget(key);
    },
  };
}

interface Deps extends OpeningDeps {
  /** What was approved for longer than once, with the variables it was given, for as long as the runtime lives. */
  readonly granted: Map<string, readonly string[]>;
  /** What was approved by an answer that is written down nowhere. */
  readonly answered: Set<string>;
  readonly answer: ReturnType<typeof createInputs>;
  /** Who may be on the way at once. */
  readonly slotsFor: (kind: 'stdio' | 'remote') => Slots;
  readonly run: Resolving['run'];
  readonly runAnew: Resolving['runAnew'];
}

/** What nobody waits for any more ends by itself: commands and questions are bounded. */
async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const cancellation = new Cancellation();
  const unsubscribe = cancellation.follow(signal);
  return cancellation.race(work).finally(unsubscribe);
}

/** The person's variables the server may read; `undefined` where it gets nothing of the person's at all. */
async function requireTrust(
  deps: Deps,
  definition: ServerDefinition,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const judgement = await deps.gate.judge(definition);
  if (judgement.kind === 'own') return [];
  if (judgement.kind === 'approved') return judgement.grants;
  if (judgement.kind === 'restricted') return undefined;
  signal.throwIfAborted();
  const fingerprint = trustFingerprint(judgement.essence);
  const session = deps.granted.get(fingerprint);
  if (session) return session;
  const { name: server, provenance } = definition;
  const { all: variables } = variablesRead(definition);
  const request = {
    server,
    command: commandLine(withoutSecrets(definition.launch)),
    variables,
    ...(provenance.file && { file: provenance.file }),
    ...(judgement.changes.length > 0 && { changes: judgement.changes }),
    ...displacedBy(deps, server),
  };
  const cancellation = new Cancellation();
  const unsubscribe = cancellation.follow(signal);
  const asked = askFor(
    { kind: 'server', ...request },
    { approve: deps.approve, clock: deps.clock, cancellation, onError: deps.onError },
  );
  const answer = await asked.finally(unsubscribe);
  if (answer === 'no') throw new RuntimeError('SERVER_UNTRUSTED', request);
  const isWritten = answer === 'always' && (await writeDown(deps, definition, variables, judgement.essence));
  // What is written down may be taken back, also by somebody else, and is asked for there.
  if (!isWritten) deps.answered.add(fingerprint);
  if (!isWritten && answer !== 'once') deps.granted.set(fingerprint, variables);
  return variables;
}

/** The person said yes: a disk that is full costs the memory of it, not the server. */
async function writeDown(
  { gate, onError }: Deps,
  definition: ServerDefinition,
  variables: readonly string[],
  essence: LaunchIdentity,
): Promise<boolean> {
  try {
    await gate.approve(definition, variables, essence);
    return true;
  } catch (error) {
    onError(error);
    return false;
  }
}

/** A repository that names one of the person's own servers takes its place; whoever approves it should know. */
function displacedBy({ config }: Deps, server: ServerName): { displaces?: string } {
  const own = config().shadowed.find(({ name, provenance }) => name === server && isOwnScope(provenance.scope));
  return own?.provenance.file === undefined ? {} : { displaces: own.provenance.file };
}

/** Fills in everything, and asks the lists again: an address made of variables is known only now. */
async function prepare(
  deps: Deps,
  definition: ServerDefinition,
  grants: readonly string[] | undefined,
): Promise<Launch> {
  const { name: server, provenance } = definition;
  const { promptInputs, settings, lists } = deps.config();
  const declared = promptInputs.get(declaredBy(provenance)) ?? [];
  const { launch, warnings } = await resolveLaunch(definition, {
    environment: deps.environment,
    grants,
    unresolvedEnv: settings.unresolvedEnv,
    run: deps.run,
    runAnew: deps.runAnew,
    input: async (id) => {
      // Whoever is not trusted gets no answer of the person's, not even an old one.
      if (grants === undefined) return undefined;
      const request = declared.find((each) => each.id === id) ?? { id, password: true };
      const answer = await deps.answer({ server, file: provenance.file, provider: provenance.provider, request });
      if (answer !== undefined && request.password) deps.known.add(id, answer);
      return answer;
    },
  });
  // Before anything is said of the server.
  deps.known.set(server, secretsFilledIn(definition, launch, deps.environment.env));
  const refusal: Prepared['refusal'] = (asked) => refusalOf(asked, { name: server, launch, isFilled: true });
  const isUnapprovedWorkspaceServer = grants === undefined && provenance.inWorkspace === true;
  deps.onPrepared(server, { launch: definition.launch, warnings, isUnapprovedWorkspaceServer, refusal });
  const because = refusal(lists);
  if (because !== undefined) throw new RuntimeError('SERVER_DENIED', { server, because });
  return deps.launcher && launch.kind === 'stdio' ? { ...launch, ...deps.launcher({ ...launch, server }) } : launch;
}

function keyOf(deps: Deps, definition: ServerDefinition, launch: Launch, client: string | undefined) {
  const { cwd, env } = deps.environment;
  const { name: server, settings } = definition;
  const { maxMessageBytes, logLevel, elicitation } = settings;
  const { handlers, sandbox, clientInfo } = deps;
  const shown = { handlers, clientInfo, sandbox: sandbox.state };
  return connectionKey({ server, launch, cwd, env, maxMessageBytes, logLevel, elicitation, ...shown, client });
}

/** A server that is slow to answer gives up its place, so that the next ones need not wait for it. */
async function openInTurn(
  deps: Deps,
  definition: ServerDefinition,
  launch: Launch,
  signal: AbortSignal,
): Promise<Session> {
  const { clock } = deps;
  if (launch.kind === 'in-process') return openNow(deps, definition, launch, { signal });
  const leave = await deps.slotsFor(launch.kind === 'stdio' ? 'stdio' : 'remote').take(signal);
  const cancel = clock.after(limits.slotMs, leave, 'background');
  try {
    return await openRecorded(deps, definition, launch, { signal, onAnswer: leave });
  } finally {
    cancel();
    leave();
  }
}

interface Attempt extends Pick<SessionOptions, 'signal' | 'onAnswer'> {
  readonly log?: ServerLog | undefined;
}

function openRecorded(
  deps: Deps,
  definition: ServerDefinition,
  launch: StdioLaunch | RemoteLaunch,
  attempt: Attempt,
): Promise<Session> {
  const log = deps.logs?.open(definition.name, { redact: deps.redactor.text, clean: printable });
  const open = () => openNow(deps, definition, launch, { ...attempt, log });
  return log ? openLogged({ log, clock: deps.clock, signal: attempt.signal }, open) : open();
}

async function openNow(
  deps: Deps,
  definition: ServerDefinition,
  launch: Launch,
  { log, ...attempt }: Attempt,
): Promise<Session> {
  const { clock, protocolCache, handlers, clientInfo = identity } = deps;
  const key = definitionHash(definition);
  const known = launch.kind === 'in-process' ? {} : await protocolCache.recall(key);
  let { negotiatedTransport } = known;
  try {
    const session = await openSession({
      server: definition.name,
      transport: launch.kind,
      channel: () =>
        channelOf(deps, definition, launch, {
          ...(negotiatedTransport && { negotiatedTransport }),
          onNegotiated: (is) => (negotiatedTransport = is),
          log,
        }),
      knownEra: known.era,
      identity: clientInfo,
      handlers,
      elicitation: definition.settings.elicitation,
      startupTimeoutMs: definition.settings.startupTimeoutMs,
      logLevel: definition.settings.logLevel,
      clock,
      ...attempt,
    });
    const { era } = session;
    if (launch.kind !== 'in-process' && (known.era !== era || known.negotiatedTransport !== negotiatedTransport))
      protocolCache.remember(key, { era, ...(negotiatedTransport && { negotiatedTransport }) });
    return session;
  } catch (error) {
    if (known.era !== undefined) protocolCache.forget(key);
    throw deps.redactor.error(error);
  }
}

interface Told {
  readonly negotiatedTransport?: 'http' | 'sse';
  readonly onNegotiated: (is: 'http' | 'sse') => void;
  readonly log: ServerLog | undefined;
}

async function channelOf(
  { environment, clock, emit, redactor }: OpeningDeps,
  { name: server, settings }: ServerDefinition,
  launch: Launch,
  { negotiatedTransport, onNegotiated, log }: Told,
) {
  const channel = await openChannel(launch, {
    server,
    env: launch.kind === 'stdio' ? launch.env : {},
    hostEnv: environment.env,
    cwd: environment.cwd,
    platform: environment.platform,
    maxMessageBytes: settings.maxMessageBytes,
    clock,
    negotiatedTransport,
    onNegotiated,
    onNoise: (line) => emit({ type: 'connection.noise-received', server, line }),
    onStart: (pid) => log?.note(`started, pid ${pid}`),
    onStderr: (chunk) => log?.take(chunk),
    redact: redactor.text,
  });
  const report = channel.report?.bind(channel);
  if (report) channel.report = () => redactor.value(report());
  return channel;
}
