// Owns one agent, sub-agent or gateway client: which tools it sees, its session grants, what it found by searching, its
// handlers and, where it wants them, connections of its own. The runtime itself is the root view; a child only ever narrows.

import type { Approve } from './call/approval.ts';
import type { Lines } from './call/lines.ts';
import type { Caller, Perform } from './call/pipeline.ts';
import { Taint } from './call/taint.ts';
import type { Provider } from './catalog/definition/providers.ts';
import { type CatalogSnapshot, narrowSnapshot } from './catalog/snapshot.ts';
import type { ClientHandlers } from './connection/requests.ts';
import { matchesWildcard } from './kernel/wildcard.ts';
import type { Model } from './model/model.ts';
import { hashOfKey, type ServerName, type ToolId, toolKey } from './model/names.ts';
import type { Tool } from './model/tool.ts';
import { createOffers, type OfferDeps } from './offering.ts';
import { type HostRule, hostRules } from './policy/host-rules.ts';
import { createTurn, type Turn } from './turn.ts';

export interface ViewOptions extends ClientHandlers {
  /** Of the tools, only these: qualified names, where `*` stands for anything. */
  readonly tools?: readonly string[];
  /** What it may do: a deny or an ask counts beside the runtime's own rules; an allow only where nobody has ruled. */
  readonly permissions?: readonly HostRule[];
  /** Asked for its calls instead of whoever the runtime asks. */
  readonly approve?: Approve;
  /** The model that reads: how much fits into it, what it can do, and whose rules for schemas count. */
  readonly model?: Model;
  /** Connections of its own, shared with nobody; its handlers decide what their servers may ask for. */
  readonly perClient?: boolean;
}

export interface TurnOptions {
  /** What the turn is about: a model that cannot search is shown the tools that fit it best. */
  readonly query?: string;
}

export interface View {
  turn(options?: TurnOptions): Turn;
  /** A narrower view of the same servers: it starts none, and sees no more than this one. */
  child(options?: Omit<ViewOptions, 'perClient'>): View;
  /** Ends what the view has for itself. */
  close(): Promise<void>;
}

/** Who uses the runtime's own tools: over which lines, with whose answers, and whose servers. */
export interface Asker {
  readonly lines: Lines | undefined;
  readonly handlers: ClientHandlers;
  readonly isSeen: (server: ServerName) => boolean;
  readonly permissions: Caller['permissions'];
}

export type Rights = Pick<Caller, 'permissions' | 'approve' | 'taint'>;

export interface ViewDeps {
  readonly offering: Pick<OfferDeps, 'snapshot' | 'common' | 'search' | 'nearestWords' | 'remarks'> & {
    readonly builtinsFor: (asker: Asker) => OfferDeps['builtins'];
  };
  /** The same tools, as the provider's models are best shown them. */
  readonly presentFor: (snapshot: CatalogSnapshot, provider: Provider) => CatalogSnapshot;
  readonly perform: Perform;
  readonly handlers: ClientHandlers;
  /** What the view hands on to its children: its rules, who is asked, what was read. */
  readonly rights?: Rights;
  readonly model?: Model | undefined;
  /** One list for each view between the runtime and this one: what all of them let through is seen. */
  readonly narrowing?: readonly (readonly string[])[];
  readonly lines?: (Lines & { close(): Promise<void> }) | undefined;
}

export function createView(deps: ViewDeps): View {
  const { offering, perform, handlers, lines, model = {}, narrowing = [], rights = { taint: new Taint() } } = deps;
  const hasVision = model.vision === true;
  const caller: Caller = { grants: new Set(), handlers, hasVision, ...rights, ...(lines && { lines }) };
  const isNarrowed = narrowing.length > 0;
  const snapshot = remembering(offering.snapshot, (whole) => seenBy(deps, whole));
  const servers = remembering(snapshot, ({ tools }) => new Set(tools.map(({ id }) => id.server)));
  const isSeen = (server: ServerName) => !isNarrowed || servers().has(server);
  const offerFor = createOffers({
    ...offering,
    builtins: offering.builtinsFor({ lines, handlers, isSeen, permissions: rights.permissions }),
    snapshot,
    model,
    isOffered: (builtin) => narrowing.every((patterns) => patterns.some((each) => matchesWildcard(each, builtin))),
    isNarrowed,
  });
  return {
    turn: ({ query } = {}) => createTurn(offerFor(query), perform, caller),
    child: ({ tools, model: other, permissions, approve, ...handlers } = {}) =>
      createView({
        ...deps,
        rights: narrower(rights, { permissions, approve }),
        narrowing: tools === undefined ? narrowing : [...narrowing, tools],
        model: other ?? model,
        handlers: { ...handlers, ...handlers },
        // The child uses what its parent holds, and leaves the ending of it to the parent.
        lines: lines && { ...lines, close: async () => undefined },
      }),
    close: async () => lines?.close(),
  };
}

/** Rules are added to the rules that hold already. What was read is remembered together: each tells the other of it. */
export function narrower(
  { permissions: before = [], approve: asked, taint }: Rights,
  { permissions, approve = asked }: { permissions: readonly HostRule[] | undefined; approve: Approve | undefined },
): Rights {
  return {
    permissions: permissions === undefined ? before : [...before, hostRules(permissions)],
    ...(approve && { approve }),
    taint,
  };
}

function seenBy(
  { model: { provider = 'any' } = {}, narrowing = [], presentFor }: ViewDeps,
  whole: CatalogSnapshot,
): CatalogSnapshot {
  const isSeen = (tool: Tool) => narrowing.every((patterns) => patterns.some((each) => isMeant(each, tool)));
  const seen = narrowing.length === 0 ? whole : narrowSnapshot(whole, isSeen);
  return provider === 'any' ? seen : presentFor(seen, provider);
}

/** A name that had to be made up may look like another server's: there the pattern must hold what tells them apart. */
function isMeant(pattern: string, { id, name }: Tool): boolean {
  const written = `mcp__${id.server}__${id.tool}`;
  if (pattern === written || isReadAs(pattern, id)) return true;
  const hash = hashOfKey(toolKey(id));
  return name !== written && matchesWildcard(pattern, name) && (!name.endsWith(hash) || pattern.endsWith(hash));
}

/** As a rule is read: what stands before the first separator is the server, and no server's name reaches beyond it. */
function isReadAs(pattern: string, { server, tool }: ToolId): boolean {
  if (!pattern.startsWith('mcp__')) return matchesWildcard(pattern, `mcp__${server}__${tool}`);
  const whole = `mcp__${server}__`;
  if (pattern.startsWith(whole) && matchesWildcard(pattern.slice(whole.length), tool)) return true;
  const body = pattern.slice('mcp__'.length);
  const at = body.indexOf('__');
  if (at < 0) return matchesWildcard(body, server);
  return matchesWildcard(body.slice(0, at), server) && matchesWildcard(body.slice(at + 2), tool);
}

/** As long as nothing changes, the same answer: what a model reads stays the same object too. */
function remembering<Value, Answer>(read: () => Value, answer: (value: Value) => Answer): () => Answer {
  let latest: { readonly of: Value; readonly answer: Answer } | undefined;
  return () => {
    const value = read();
    if (latest?.of !== value) latest = { of: value, answer: answer(value) };
    return latest.answer;
  };
}
