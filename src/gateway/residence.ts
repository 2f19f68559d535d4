// Owns the gateway as the one of its state folder: it claims the folder, knows all tokens, takes links, answers beside MCP, and ends
// when it is told to or has been idle. `plexus serve` opens it around what `serve.ts` serves.

import { type Clock, systemClock } from '../kernel/clock.ts';
import type { Store } from '../kernel/store.ts';
import type { EnvironmentVariables } from '../model/environment-variables.ts';
import { limits } from '../model/limits.ts';
import {
  type Authenticate,
  byToken,
  inHostHeader,
  isLoopback,
  loopbackHosts,
  readOrCreateToken,
  withoutToken,
} from '../serving/access.ts';
import type { HttpHandler, RequestHead } from '../serving/http-exchange.ts';
import type { Principal } from '../serving/service.ts';
import { unwritable } from '../store/disk.ts';
import { type Access, accessOf } from './access.ts';
import { claimGateway, type GatewayClaim } from './claim.ts';
import { fleetRoute } from './commands/fleet-route.ts';
import type { Refusal } from './gateway.ts';
import { endWhenIdle } from './idle-end.ts';
import { gatewayFiles } from './instance.ts';
import { keepLedger, sweepLedger } from './ledger.ts';
import { FLEET_PATH, GATEWAY_HEADER, GATEWAY_VARIABLE, isBehind, LINK, marksBehind } from './link-words.ts';
import { Links } from './links.ts';
import type { GatewayCounts } from './metrics-text.ts';
import type { ServedGateway } from './serve.ts';
import { statusRoutes } from './status-routes.ts';
import { type KnownTokens, openTokens } from './tokens.ts';

export interface ResidenceOptions {
  readonly stateFolder: string;
  /** Holds the tokens of clients. */
  readonly store: Store;
  readonly env: EnvironmentVariables;
  readonly host: string;
  /** The configuration that it serves, as `configurationOf` names it. */
  readonly configuration: string;
  /** Every program of this machine may use the gateway. */
  readonly isOpen: boolean;
  /** It was started for its clients, and ends some time after the last one. */
  readonly endsWhenIdle: boolean;
  readonly onError: (error: unknown) => void;
  readonly clock?: Clock;
}

export interface Residence {
  readonly authenticate: Authenticate;
  readonly refuses: (request: RequestHead) => Refusal | undefined;
  /** The environment for the servers: it marks them as this gateway's. */
  readonly env: EnvironmentVariables;
  /** The token for clients, and its file; absent without one. */
  readonly token: string | undefined;
  readonly tokenFile: string;
  /** Aborts when the gateway is to end. */
  readonly ended: AbortSignal;
  /** Listens, and tells `plexus connect` where. */
  open(served: ServedGateway, port: number): Promise<{ readonly url: string; readonly port: number }>;
  /** Ends the links and the served gateway within its drain, and frees the folder. */
  close(served?: ServedGateway): Promise<void>;
}

export async function openResidence(options: ResidenceOptions): Promise<Residence> {
  const { stateFolder, clock = systemClock } = options;
  const claim = await claimGateway({ stateFolder, clock });
  try {
    return await openIn(claim, options);
  } catch (error) {
    await claim.release();
    throw unwritable(error, stateFolder);
  }
}

async function openIn(claim: GatewayClaim, options: ResidenceOptions): Promise<Residence> {
  const { stateFolder, store, env, host, isOpen, clock = systemClock } = options;
  const { ledger, token: tokenFile } = gatewayFiles(stateFolder);
  const token = isOpen ? undefined : await readOrCreateToken(tokenFile);
  // The folder is this gateway's now: what is left in the ledger has no host any more.
  await sweepLedger(ledger, clock);
  const endLedger = keepLedger(ledger);
  const ending = new AbortController();
  const hosts = isLoopback(host) ? loopbackHosts : [...loopbackHosts, inHostHeader(host)];
  let [lastRequest, isClosing] = [clock.now(), false];
  /** How many commands wait for an answer. */
  let commands = 0;
  let served: ServedGateway | undefined;
  let stopLooking: () => void = () => undefined;

  const tokens = await openTokens(store, ({ name }) =>
    served?.gateway.endSessions((principal) => accessOf(principal).client === name),
  );
  const ofOwner = token === undefined ? withoutToken : byToken(token, { id: 'own' });
  const ofToken = anyOf(ofOwner, ofClients(tokens.find));
  const ofConnect = byToken(claim.connectToken, {
    id: 'connect',
    details: { mayNameWorkspace: true } satisfies Access,
  });
  const ofAdmin = byToken(claim.adminToken, { id: 'admin' });
  const used = () => {
    lastRequest = clock.now();
  };
  const authenticate: Authenticate = (request) => {
    const principal = ofConnect(request) ?? ofToken(request);
    // A program that is refused again and again keeps no gateway.
    if (principal !== undefined) used();
    return principal;
  };
  const refuses = ({ headers }: RequestHead): Refusal | undefined => {
    // Without tokens none is compared: every program is a client.
    if (isOpen) used();
    return isBehind(claim.mark, headers[GATEWAY_HEADER]?.toString())
      ? { status: 508, sentence: 'The gateway would be behind itself: it sent this request.' }
      : undefined;
  };

  const links = new Links({
    ...{ authenticate: ofConnect, mark: claim.mark, hosts, onError: options.onError },
    serve(request, principal, pipes) {
      const serving = served?.gateway.link(request, principal, pipes);
      // The gateway is idle from the end of the link on.
      return serving instanceof Promise ? serving.finally(used) : (serving ?? BEGINNING);
    },
  });
  let legacySessions = 0;
  const measured = async (gateway: ServedGateway['gateway']): Promise<GatewayCounts> => {
    const { servers, sessions, pipes } = gateway.measures();
    const modern = pipes - (legacySessions - sessions);
    return {
      servers,
      fleets: await gateway.status(),
      sessions: { legacy: legacySessions, modern: Math.max(0, modern) },
    };
  };
  const idleSince = (gateway: ServedGateway['gateway']) => {
    const { sessions, pipes, unanswered, suspended } = gateway.measures();
    if (sessions + pipes + unanswered + suspended + commands === 0) return lastRequest;
    lastRequest = clock.now();
    return undefined;
  };

  return {
    ...{ refuses, token, tokenFile, ended: ending.signal },
    // A check elsewhere compares it: without tokens the gateway must not leave this machine.
    authenticate: token === undefined ? withoutToken : authenticate,
    env: { ...env, [GATEWAY_VARIABLE]: marksBehind(claim.mark, env[GATEWAY_VARIABLE]) },
    async open(now, port) {
      served = now;
      const { gateway } = now;
      gateway.on(({ type, era }) => {
        if (era === 'legacy') legacySessions += type === 'session.opened' ? 1 : -1;
      });
      const routes = statusRoutes({
        ...{ hosts, isAdmin: ofAdmin, mayRead: anyOf(ofAdmin, ofOwner) },
        ...{ isReady: () => !isClosing, measured: () => measured(gateway), stop: () => ending.abort() },
      });
      const route = fleetRoute({ authenticate: ofConnect, refuses, hosts, withRuntime: gateway.withRuntime });
      const fleet: HttpHandler = async (...exchange) => {
        commands++;
        try {
          await route(...exchange);
        } finally {
          commands--;
          used();
        }
      };
      const address = await now.listen({
        ...{ host, port, upgrade: { protocol: LINK, accept: links.accept } },
        routes: new Map([...routes, [FLEET_PATH, fleet]]),
      });
      const { configuration } = options;
      await claim.announce({ host: reachable(host), port: address.port, configuration });
      if (options.endsWhenIdle)
        stopLooking = endWhenIdle({
          ...{ clock, idleMs: limits.gatewayIdleMs, lookMs: limits.gatewayLookMs },
          ...{ idleSince: () => idleSince(gateway), end: () => ending.abort() },
        });
      return address;
    },
    async close(now) {
      isClosing = true;
      stopLooking();
      tokens.close();
      await Promise.all([links.close(), now?.close()]);
      endLedger();
      await claim.release();
    },
  };
}

const BEGINNING: Refusal = { status: 503, sentence: 'The gateway begins.' };

const anyOf =
  (...ways: readonly Authenticate[]): Authenticate =>
  (request) => {
    for (const way of ways) {
      const principal = way(request);
      if (principal !== undefined) return principal;
    }
    return undefined;
  };

/** One principal for each token, however many requests it sends. */
function ofClients(find: KnownTokens['find']): Authenticate {
  const principals = new Map<string, Principal>();
  return (request) => {
    const token = find(request);
    if (token === undefined) return undefined;
    const { name, profile, hash } = token;
    const known = principals.get(hash);
    if (known !== undefined) return known;
    const made: Principal = { id: `client ${name}`, details: { profile, client: name } satisfies Access };
    principals.set(hash, made);
    return made;
  };
}

/** An address for clients of this machine: a gateway that listens everywhere is reached on loopback too. */
const reachable = (host: string) =>
  host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host.replace(/^\[|\]$/g, '');
