// Owns how one server is opened: trusted first, then its placeholders filled in, then its channel, then a session.
// The stations it joins do not know each other; this is where they meet.

import { type Approve, askFor } from './call/approval.ts';
import { resolveLaunch } from './config/expand.ts';
import { isWorkspaceScope, type Surroundings } from './config/scopes.ts';
import type { ConnectionEvent } from './connection/events.ts';
import type { InputHandlers } from './connection/requests.ts';
import { openSession, type Session } from './connection/session.ts';
import { Cancellation } from './kernel/cancellation.ts';
import type { Clock } from './kernel/clock.ts';
import type { Emit } from './kernel/emitter.ts';
import type { Store } from './kernel/store.ts';
import { RuntimeError } from './model/errors.ts';
import { identity } from './model/identity.ts';
import { commandLine, type ServerDefinition } from './model/server.ts';
import { openChannel } from './transport/open.ts';
import { definitionHash, trustFingerprint } from './trust/fingerprint.ts';
import { createGate, type Gate } from './trust/gate.ts';

export interface OpeningParts {
  readonly around: Surroundings;
  readonly gate: Gate;
  readonly approve: Approve;
  readonly inputs: InputHandlers;
  readonly clock: Clock;
  readonly emit: Emit<ConnectionEvent>;
  readonly onError: (error: unknown) => void;
}

/** Who may start: the gate, told where programs are found and which scopes lie in the workspace. */
export function createTrust(around: Surroundings, store: Store, clock: Clock): Gate {
  const { cwd, platform, env } = around;
  const fingerprint = (definition: ServerDefinition) =>
    trustFingerprint(definition, { cwd, platform, pathEnv: env['PATH'] });
  return createGate({ store, clock, isWorkspaceScope, fingerprint });
}

/** Opens one session. When the signal aborts, nothing stays open. */
export function createOpening(
  given: OpeningParts,
): (definition: ServerDefinition, signal: AbortSignal) => Promise<Session> {
  // What was approved for longer than once, for as long as the runtime lives.
  const parts = { ...given, granted: new Set<string>() };
  return async (definition, signal) => {
    await requireTrust(parts, definition, signal);
    return openSession({
      server: definition.name,
      channel: () => channelOf(parts, definition),
      identity,
      inputs: parts.inputs,
      startupTimeoutMs: definition.settings.startupTimeoutMs,
      clock: parts.clock,
      signal,
    });
  };
}

type Parts = OpeningParts & { readonly granted: Set<string> };

async function requireTrust(parts: Parts, definition: ServerDefinition, signal: AbortSignal): Promise<void> {
  if (parts.granted.has(definitionHash(definition))) return;
  if ((await parts.gate.judge(definition)) === 'trusted') return;
  signal.throwIfAborted();
  const { name: server, provenance } = definition;
  const changed = (await parts.gate.approvals(server)).length > 0;
  const request = {
    server,
    command: commandLine(definition.launch),
    ...(provenance.file && { file: provenance.file }),
    ...(changed && { changed }),
  };
  const cancellation = new Cancellation();
  const letGo = cancellation.follow(signal);
  const asked = askFor(
    { kind: 'server', ...request },
    { approve: parts.approve, clock: parts.clock, cancellation, onError: parts.onError },
  );
  const answer = await asked.finally(letGo);
  if (answer === 'no') throw new RuntimeError('SERVER_UNTRUSTED', request);
  if (answer !== 'once') parts.granted.add(definitionHash(definition));
  // The person said yes: a disk that is full costs the memory of it, not the server.
  if (answer === 'always') await parts.gate.approve(definition).catch(parts.onError);
}

function channelOf({ around, clock, emit }: OpeningParts, definition: ServerDefinition) {
  const { name: server, settings } = definition;
  const { launch, missing } = resolveLaunch(definition, around.env);
  const [variable] = missing;
  // In a workspace scope an unresolved placeholder is empty: the repository has no claim on the variable.
  if (variable !== undefined && !isWorkspaceScope(definition.provenance.scope)) {
    throw new RuntimeError('ENV_MISSING', { server, variable });
  }
  return openChannel(launch, {
    server,
    env: launch.kind === 'stdio' ? launch.env : {},
    hostEnv: around.env,
    cwd: around.cwd,
    platform: around.platform,
    maxMessageBytes: settings.maxMessageBytes,
    clock,
    onNoise: (line) => emit({ type: 'connection.noise-received', server, line }),
  });
}
