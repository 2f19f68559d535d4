// Owns one agent, sub-agent or gateway client: which tools it sees, its session grants, what it found by searching, its handlers
// and, where it wants them, private connections. The runtime itself is the root view; a child only ever narrows.

import { createWindowSource, type WindowSource } from './builtins/builtin-tools.ts';
import { createToolWindow } from './builtins/tool-window.ts';
import type { CallEvent } from './call/events.ts';
import type { Caller, CallPath } from './call/pipeline.ts';
import { Taint } from './call/taint.ts';
import type { Provider } from './catalog/definition/providers.ts';
import { type CatalogSnapshot, narrowSnapshot, presentFor } from './catalog/snapshot.ts';
import { findByToolName } from './catalog/tool-meta.ts';
import type { ClientHandlers } from './connection/client-handlers.ts';
import type { Session } from './connection/session.ts';
import { matchesWildcard } from './kernel/wildcard.ts';
import { builtinNames } from './model/builtin.ts';
import type { Model } from './model/model.ts';
import { hashOfKey, type ServerName, type ToolId, toolKey } from './model/names.ts';
import type { Tool, ToolRef } from './model/tool.ts';
import { type HostRule, hostRules } from './policy/host-rules.ts';
import type { Host } from './servers/host.ts';
import { unknownOptions } from './servers/known-options.ts';
import type { PrivateSessions } from './servers/private-sessions.ts';
import type { Servers } from './servers/servers.ts';
import type { SessionProvider } from './servers/sessions.ts';
import { type Approve, approveBoth } from './trust/approval.ts';
import { createTurn, type Turn } from './turn.ts';

export interface ViewOptions extends ClientHandlers {
  /** Only these tools: qualified names, where `*` stands for anything. */
  readonly tools?: readonly string[];
  /**
   * Rules of the view: a deny or an ask counts beside the runtime's rules, an allow only where no rule of the runtime matches.
   * In a child an allow answers nothing: it only makes an exception from the child's own rules.
   */
  readonly permissions?: readonly HostRule[];
  /**
   * Asked for the view's calls instead of the runtime's `approve`. That of a child may refuse, or answer less: what it agrees to is
   * put to its parent's too.
   */
  readonly approve?: Approve;
  /** Asked before each call: while it says true, every tool is denied that is not known, by hints that are trusted, to only read. */
  readonly readOnly?: () => boolean;
  /** The model that reads: its context size, its abilities, and its provider's rules for schemas. */
  readonly model?: Model;
  /** Private connections, shared with no other view; the view's handlers answer their servers. */
  readonly perClient?: boolean;
}

export interface TurnOptions {
  /** What the turn is about: a model that cannot search is shown the tools that fit it best. */
  readonly query?: string;
}

export interface View {
  /** The tools as they are now, frozen for one step of the model. */
  turn(options?: TurnOptions): Turn;
  /** All tools that the view may use, whatever a turn shows of them. */
  getTools(): readonly Tool[];
  /** Every such tool whose own name this is, whichever server has it. */
  findByToolName(tool: string): readonly ToolRef[];
  /** The same agent with fewer tools, more rules, or its own `approve` or model. What the options do not name of `model` stays. */
  narrow(options: Omit<ViewOptions, 'perClient'>): View;
  /**
   * A sub-agent: a narrower view of the same servers. It starts none and may do no more than this one; the setting `subagents` may
   * leave it fewer tools, or none.
   */
  child(options?: Omit<ViewOptions, 'perClient'>): View;
  /** Closes the view's private connections. */
  close(): Promise<void>;
}

export interface Views {
  readonly root: Omit<View, 'close'>;
  open(options?: ViewOptions): View;
  /** The open private sessions of all views. */
  sessions(): readonly Session[];
  /** After a change of the configuration: private connections follow the entries of their servers. */
  follow(): Promise<void>;
  close(): Promise<void>;
}

/** The parts of a view that a gateway uses beside its turns, since it hands on whole requests. */
export interface ViewParts {
  readonly sessions: SessionProvider;
  /** The outputs that the agent has read, in requests that are no call too. */
  readonly taint: Taint;
}

const partsOfViews = new WeakMap<View, ViewParts>();

/** `undefined` for a view that was not made by `view()`. */
export const partsOfView = (view: View): ViewParts | undefined => partsOfViews.get(view);

/** Makes all views of one runtime, and closes their private connections with it. */
export function createViews(host: Host<CallEvent>, servers: Servers, calls: Omit<CallPath, 'counts'>): Views {
  const { catalog, registry, status } = servers;
  const shared: SharedDeps = {
    source: createWindowSource(servers, host.clock),
    presentFor: (snapshot, provider) => presentFor(snapshot, provider, catalog.style),
    calls,
    approve: host.approve,
    checkOptions: (call, options) => {
      for (const problem of unknownOptions(call, options, viewOptionNames)) host.onError(new TypeError(problem));
    },
    onUnmatched: (pattern) => host.emit({ type: 'catalog.pattern-unmatched', pattern }),
    isSettled: () => status.readiness().notReady.every(({ state }) => state !== 'connecting'),
  };
  const privates = new Set<PrivateSessions>();
  let isClosed = false;
  const { close: _, ...root } = createView({ ...shared, handlers: host.handlers, rights: { taint: new Taint() } });
  return {
    root,
    open(options = {}) {
      const { tools, model, permissions, approve, readOnly, perClient = false, elicit, sample, roots } = options;
      shared.checkOptions('view()', options);
      const handlers = { ...host.handlers, ...given({ elicit, sample, roots }) };
      const isPrivate = (server: ServerName) => perClient || registry.settings(server)?.perClient === true;
      const sessions = servers.openPrivateSessions(handlers, isPrivate);
      if (isClosed) void sessions.close();
      privates.add(sessions);
      const rights = rightsOfView({ permissions, approve, readOnly });
      const view = createView({
        ...shared,
        handlers,
        model,
        narrowing: tools === undefined ? [] : [tools],
        sessions,
        rights,
      });
      const opened = { ...view, close: () => view.close().finally(() => privates.delete(sessions)) };
      partsOfViews.set(opened, { sessions, taint: rights.taint });
      return opened;
    },
    sessions: () => [...privates].flatMap((each) => each.sessions()),
    follow: async () => {
      await Promise.all([...privates].map((each) => each.follow()));
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...privates].map((each) => each.close()));
    },
  };
}

/** All keys of `ViewOptions`: the compiler refuses one too few or too many. */
const viewOptionNames: Readonly<Record<keyof Required<ViewOptions>, true>> = {
  tools: true,
  permissions: true,
  approve: true,
  readOnly: true,
  model: true,
  perClient: true,
  elicit: true,
  sample: true,
  roots: true,
};

/** The handlers that the caller gave; an absent one must not hide the runtime's. */
function given({
  elicit,
  sample,
  roots,
}: { [Key in keyof ClientHandlers]: ClientHandlers[Key] | undefined }): ClientHandlers {
  return { ...(elicit && { elicit }), ...(sample && { sample }), ...(roots && { roots }) };
}

/** What a view hands on to its children: its rules, who is asked, what was read. */
type Rights = Pick<Caller, 'permissions' | 'answering' | 'approve' | 'isReadOnly' | 'taint'>;

interface SharedDeps {
  readonly source: WindowSource;
  /** The same tools, with schemas that the provider's models accept. */
  readonly presentFor: (snapshot: CatalogSnapshot, provider: Provider) => CatalogSnapshot;
  readonly calls: Omit<CallPath, 'counts'>;
  /** The runtime's own. */
  readonly approve: Approve;
  /** Reports options that do not exist. */
  readonly checkOptions: (call: string, options: object) => void;
  /** Called once for each pattern that no tool matches. */
  readonly onUnmatched: (pattern: string) => void;
  /** No server is still connecting, so that a missing tool is missing for good. */
  readonly isSettled: () => boolean;
}

type Narrowing = readonly (readonly string[])[];

interface ViewDeps extends SharedDeps {
  readonly handlers: ClientHandlers;
  readonly rights: Rights;
  readonly model?: Model | undefined;
  /** One list of patterns for each view between the runtime and this one: a tool must match all of them. */
  readonly narrowing?: Narrowing;
  /** A sub-agent, whose tools the setting `subagents` narrows as well. */
  readonly isChild?: boolean;
  readonly sessions?: (SessionProvider & { close(): Promise<void> }) | undefined;
}

function createView(deps: ViewDeps): View {
  const { source, calls, handlers, sessions, model = {}, narrowing = [], isChild = false, rights } = deps;
  const hasVision = model.vision === true;
  const caller: Caller = { grants: new Set(), handlers, hasVision, isChild, ...rights, ...(sessions && { sessions }) };
  const patterns = isChild
    ? memoize(source.subagentTools, (allowed) => (allowed === undefined ? narrowing : [...narrowing, allowed]))
    : () => narrowing;
  const isNarrowed = () => patterns().length > 0;
  const visible = memoize(patterns, (all) => memoize(source.snapshot, (whole) => visibleSnapshot(deps, all, whole)));
  const snapshot = () => visible()();
  const servers = memoize(snapshot, ({ tools }) => new Set(tools.map(({ id }) => id.server)));
  const isSeen = (server: ServerName) => !isNarrowed() || servers().has(server);
  const windowFor = createToolWindow({
    ...source,
    builtins: source.builtinsFor({ sessions, handlers, isSeen, snapshot, permissions: rights.permissions }),
    snapshot,
    model,
    isUsable: (builtin) => patterns().every((list) => list.some((each) => matchesWildcard(each, builtin))),
    isNarrowed,
  });
  const derive = (method: string, options: Omit<ViewOptions, 'perClient'>, isSubagent: boolean): View => {
    const { tools, model: other, permissions, approve, readOnly, elicit, sample, roots } = options;
    deps.checkOptions(method, { ...options, perClient: undefined });
    const both = isSubagent && approve ? approveBoth(rights.approve ?? deps.approve, approve) : approve;
    return createView({
      ...deps,
      rights: narrower(rights, { permissions, approve: both, readOnly }),
      isChild: isSubagent,
      narrowing: tools === undefined ? narrowing : [...narrowing, tools],
      model: { ...model, ...other },
      handlers: { ...handlers, ...given({ elicit, sample, roots }) },
      // The connections of its own that a view has are used by those made from it; only the view itself closes them.
      sessions: sessions && { ...sessions, close: async () => undefined },
    });
  };
  const tellUnmatched = createUnmatchedReport(deps);
  let query: string | undefined;
  // A turn has no state of its own: as long as the window is the same, so is the turn.
  const turn = memoize(
    () => windowFor(query),
    (window) => createTurn(window, calls, caller),
  );
  return {
    turn: (options = {}) => {
      tellUnmatched();
      query = options.query;
      return turn();
    },
    getTools: () => snapshot().tools,
    findByToolName: (tool) => findByToolName(snapshot().tools, tool),
    narrow: (options) => derive('narrow()', options, isChild),
    child: (options = {}) => derive('child()', options, true),
    close: async () => sessions?.close(),
  };
}

/** Tells once which of the view's own patterns show nothing, as soon as no server may still bring a tool for them. */
function createUnmatchedReport({ source, narrowing = [], onUnmatched, isSettled }: ViewDeps): () => void {
  let untold = narrowing.at(-1) ?? [];
  return () => {
    if (untold.length === 0 || !isSettled()) return;
    const patterns = untold;
    untold = [];
    const { tools } = source.snapshot();
    const isMatched = (pattern: string) =>
      tools.some((tool) => matchesTool(pattern, tool)) || builtinNames.some((name) => matchesWildcard(pattern, name));
    for (const pattern of patterns) if (!isMatched(pattern)) onUnmatched(pattern);
  };
}

interface GivenRights {
  readonly permissions: readonly HostRule[] | undefined;
  readonly approve: Approve | undefined;
  readonly readOnly: (() => boolean) | undefined;
}

function rightsOfView(given: GivenRights): Rights {
  const rights = narrower({ taint: new Taint() }, given);
  return { ...rights, answering: rights.permissions?.[0] };
}

/** Adds the child's rules to its parent's. Parent and child share one taint, since each tells the other what it read. */
function narrower(
  { permissions: before = [], answering, approve: parent, isReadOnly: parentReads, taint }: Rights,
  { permissions, approve = parent, readOnly }: GivenRights,
): Rights {
  return {
    permissions: permissions === undefined ? before : [...before, hostRules(permissions)],
    answering,
    ...(approve && { approve }),
    isReadOnly: parentReads && readOnly ? () => parentReads() || readOnly() : (parentReads ?? readOnly),
    taint,
  };
}

function visibleSnapshot(
  { model: { provider } = {}, presentFor: present }: ViewDeps,
  narrowing: Narrowing,
  whole: CatalogSnapshot,
): CatalogSnapshot {
  const isVisible = (tool: Tool) => narrowing.every((patterns) => patterns.some((each) => matchesTool(each, tool)));
  const visible = narrowing.length === 0 ? whole : narrowSnapshot(whole, isVisible);
  return provider === undefined ? visible : present(visible, provider);
}

/** A hashed name may look like another server's tool: there the pattern must hold the hash. */
export function matchesTool(pattern: string, { id, name }: Tool): boolean {
  const canonical = `mcp__${id.server}__${id.tool}`;
  if (pattern === canonical || matchesId(pattern, id)) return true;
  const hash = hashOfKey(toolKey(id));
  return name !== canonical && matchesWildcard(pattern, name) && (!name.endsWith(hash) || pattern.endsWith(hash));
}

/** Read as in a rule: the part before the first separator is the server, and no server's name reaches beyond it. */
function matchesId(pattern: string, { server, tool }: ToolId): boolean {
  if (!pattern.startsWith('mcp__')) return matchesWildcard(pattern, `mcp__${server}__${tool}`);
  const prefix = `mcp__${server}__`;
  if (pattern.startsWith(prefix) && matchesWildcard(pattern.slice(prefix.length), tool)) return true;
  const body = pattern.slice('mcp__'.length);
  const at = body.indexOf('__');
  if (at < 0) return matchesWildcard(body, server);
  return matchesWildcard(body.slice(0, at), server) && matchesWildcard(body.slice(at + 2), tool);
}

/** Computes again only when the value read is another one, so that a model is shown the same objects until then. */
function memoize<Value, Result>(read: () => Value, compute: (value: Value) => Result): () => Result {
  let latest: { readonly value: Value; readonly result: Result } | undefined;
  return () => {
    const value = read();
    if (latest === undefined || latest.value !== value) latest = { value, result: compute(value) };
    return latest.result;
  };
}
