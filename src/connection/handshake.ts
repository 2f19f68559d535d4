// Owns the handshake on an open channel: the era probe with `server/discover`, and `initialize` with the versions of the
// older era. `handshake-answers.ts` reads what the server answers; opening and closing the channel are left to `session.ts`.

import type { InitializeRequestParams } from '@modelcontextprotocol/client';
import type { Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { ClientInfo } from '../model/identity.ts';
import { limits } from '../model/limits.ts';
import type { MessageId } from '../model/server.ts';
import {
  type Agreement,
  type InitializeVerdict,
  legacyVersions,
  readInitialize,
  readProbe,
} from './handshake-answers.ts';
import type { RequestOutcome, Wire } from './wire.ts';

export interface HandshakeDeps {
  readonly wire: Wire;
  readonly clock: Clock;
  readonly identity: ClientInfo;
  readonly capabilities: JsonObject;
  /** The `_meta` fields of a modern request: with them the probe is what a modern server expects. */
  readonly envelope: JsonObject;
}

type LostOutcome = Extract<RequestOutcome, { readonly kind: 'lost' }>;

/** A request of the handshake got no response, so the handshake is over. */
export class HandshakeLost extends Error {
  override readonly name = 'HandshakeLost';
  readonly outcome: LostOutcome;
  /** The era probe was sent and never answered: it may be what ended the server. */
  readonly hasOpenProbe: boolean;

  constructor(outcome: LostOutcome, hasOpenProbe: boolean) {
    super('the connection ended during the handshake', { cause: outcome.cause });
    this.outcome = outcome;
    this.hasOpenProbe = hasOpenProbe;
  }
}

/** For a server that is known to be of the older era. Rejects with `HandshakeLost`, or with an error that gives the reason. */
export async function initializeLegacy(deps: HandshakeDeps): Promise<Agreement> {
  return requireAgreement(await initialize(deps, false));
}

/** Asks for the era first. A server that is silent is taken to be of the older one, until a late answer tells otherwise. */
export async function negotiate(deps: HandshakeDeps): Promise<Agreement> {
  const probe = new EraProbe(deps);
  const answer = await probe.answerWithin(limits.probeMs);
  if (answer === undefined) return initializeAfterSilence(deps, probe);
  if (answer.kind === 'lost') throw new HandshakeLost(answer, answer.sent);
  const verdict = readProbe(answer);
  switch (verdict.kind) {
    case 'modern':
      return verdict.agreement;
    case 'legacy':
      return initializeLegacy(deps);
    case 'contradictory':
      return negotiateAgain(deps, verdict.reason);
    case 'unsupported':
      throw new Error(verdict.reason);
  }
}

/** The protocol asks for one more attempt with a version that the server named, be it the same one. */
async function negotiateAgain(deps: HandshakeDeps, reason: string): Promise<Agreement> {
  const probe = new EraProbe(deps);
  const agreement = await probe.agreementWithin(limits.probeMs);
  probe.abandon();
  if (agreement === undefined) throw new Error(reason);
  return agreement;
}

/**
 * A server that was slow to start reads the probe and `initialize` at once, and may answer them in any order. If it refuses
 * `initialize`, its answer to the probe decides.
 */
async function initializeAfterSilence(deps: HandshakeDeps, probe: EraProbe): Promise<Agreement> {
  try {
    const initialized = await initialize(deps, true);
    if (initialized.kind === 'agreed') return initialized.agreement;
    return (await probe.agreementWithin(limits.lateProbeMs)) ?? requireAgreement(initialized);
  } finally {
    probe.abandon();
  }
}

/** A server that refuses the version and names others is asked once more; most servers answer with their own version instead. */
async function initialize(deps: HandshakeDeps, hasOpenProbe: boolean): Promise<InitializeVerdict> {
  const first = await askInitialize(deps, legacyVersions[0], hasOpenProbe);
  if (first.kind === 'agreed' || first.retryWith === undefined) return first;
  return askInitialize(deps, first.retryWith, hasOpenProbe);
}

async function askInitialize(
  { wire, capabilities, identity }: HandshakeDeps,
  protocolVersion: string,
  hasOpenProbe: boolean,
): Promise<InitializeVerdict> {
  const params = { protocolVersion, capabilities, clientInfo: identity } satisfies InitializeRequestParams;
  const outcome = await wire.request('initialize', params, { isHandshake: true });
  if (outcome.kind === 'lost') throw new HandshakeLost(outcome, hasOpenProbe);
  const verdict = readInitialize(outcome, protocolVersion);
  if (verdict.kind === 'agreed') await wire.announce('notifications/initialized');
  return verdict;
}

function requireAgreement(verdict: InitializeVerdict): Agreement {
  if (verdict.kind === 'refused') throw new Error(verdict.reason);
  return verdict.agreement;
}

/** One `server/discover`, whose answer can be waited for more than once. */
class EraProbe {
  readonly #deps: HandshakeDeps;
  readonly #outcome: Promise<RequestOutcome>;
  #id: MessageId | undefined;

  constructor(deps: HandshakeDeps) {
    this.#deps = deps;
    const onId = (id: MessageId) => {
      this.#id = id;
    };
    this.#outcome = deps.wire.request('server/discover', { _meta: deps.envelope }, { isHandshake: true, onId });
  }

  /** Resolves with `undefined` if no answer comes in time; it may still come later. */
  answerWithin(limitMs: number): Promise<RequestOutcome | undefined> {
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.after(limitMs, () => resolve(undefined), 'background');
      void this.#outcome.then((outcome) => {
        cancel();
        resolve(outcome);
      });
    });
  }

  /** Resolves with `undefined` unless the answer comes in time and is that of a modern server. */
  async agreementWithin(limitMs: number): Promise<Agreement | undefined> {
    const answer = await this.answerWithin(limitMs);
    const verdict = answer === undefined || answer.kind === 'lost' ? undefined : readProbe(answer);
    return verdict?.kind === 'modern' ? verdict.agreement : undefined;
  }

  /** Stops waiting: a later answer, or none, changes nothing for the session. */
  abandon(): void {
    if (this.#id !== undefined) this.#deps.wire.abandon(this.#id);
  }
}
