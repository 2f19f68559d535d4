// Owns what the configuration and people say about servers: which are configured and enabled, which are denied and why, which
// are approved, which rules are in effect. Knows nothing of connections.

import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isExposed, toolSettingsOf } from '../catalog/filter.ts';
import { canonicalName } from '../catalog/naming.ts';
import { startedProgramOf } from '../config/away-from-workspace.ts';
import type { ListedServers } from '../config/lists.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { HostEnvironment } from '../config/scopes.ts';
import type { ServerStatus } from '../connection/status.ts';
import type { Unsubscribe } from '../kernel/emitter.ts';
import { shellWord } from '../kernel/shell-word.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName, ToolId } from '../model/names.ts';
import type { RuleText } from '../model/rule.ts';
import { isRemote, type ServerDefinition, type ServerSettings, type ToolSettings } from '../model/server.ts';
import type { Tool } from '../model/tool.ts';
import { createRuleBook, type RuleBook } from '../policy/rule-book.ts';
import { definitionHash } from '../trust/fingerprint.ts';
import type { JudgedConfig } from './judge-config.ts';

/** What is known of a server only once its placeholders are filled in. */
export interface ResolvedServer {
  /** The launch as written, to tell whether the entry has changed since. */
  readonly launch: ServerDefinition['launch'];
  /** The features that the server has to do without, in words for the user. */
  readonly warnings: readonly string[];
  /** The folder that its process runs in, where that is known only by starting it. */
  readonly cwd?: string;
  /** Rules that allow tools by the server's name were not written for it: only a repository's file names it. */
  readonly isUnapprovedWorkspaceServer: boolean;
  /** Asks allow and deny lists again. The filled-in values stay inside this function. */
  readonly refusal: (lists: readonly ListedServers[]) => string | undefined;
}

export interface RegistryEnvironment extends HostEnvironment {
  /** The working directory of this process, which in-process servers share. */
  readonly processFolder?: string;
  /** A launcher may start servers in another folder than their entries say. */
  readonly hasLauncher?: boolean;
  /** Turns hold the tools of unapproved servers too. */
  readonly showsUnapproved?: boolean;
}

export class ServerRegistry {
  readonly #environment: RegistryEnvironment;
  #config: JudgedConfig | undefined;
  #definitions = new Map<ServerName, ServerDefinition>();
  #used: readonly ServerDefinition[] = [];
  #inTurns: readonly ServerDefinition[] = [];
  #isInTurnsKnown = false;
  #rules: RuleBook;
  readonly #resolved = new Map<ServerName, ResolvedServer>();
  #refused: ReadonlyMap<ServerName, string> = new Map();
  #approved = new Set<ServerName>();
  readonly #identities = new Map<ServerName, string>();
  readonly #onApplied = new Set<() => void>();

  constructor(environment: RegistryEnvironment) {
    this.#environment = environment;
    this.#rules = this.#createRules([], []);
  }

  apply(config: JudgedConfig): void {
    const { unapproved: before } = this.#config ?? config;
    this.#config = config;
    this.#definitions = new Map(config.definitions.map((definition) => [definition.name, definition]));
    this.#rules = this.#createRules(config.rules, [...config.definitions, ...config.invalid]);
    this.#forgetChanged(before);
    this.#refused = this.#refusals(config);
    this.#used = config.definitions.filter(({ name, settings }) => settings.enabled && !this.#refused.has(name));
    this.#approved = new Set();
    this.#isInTurnsKnown = false;
    this.#identities.clear();
    for (const listener of [...this.#onApplied]) listener();
  }

  /** Calls back after each configuration that is applied. */
  readonly onApplied = (listener: () => void): Unsubscribe => {
    this.#onApplied.add(listener);
    return () => this.#onApplied.delete(listener);
  };

  /** These servers are approved, although none of them was opened yet. */
  markApproved(servers: readonly ServerName[]): void {
    for (const server of servers) this.#approved.add(server);
  }

  /** Called by every opening with what it learned about the server; replaces what was known before. */
  readonly onResolved = (server: ServerName, resolved: ResolvedServer): void => {
    this.#resolved.set(server, resolved);
    this.#isInTurnsKnown = false;
  };

  /** Throws before the first configuration was applied: no server is opened before. */
  readonly config = (): JudgedConfig => {
    if (this.#config === undefined) throw new RuntimeError('INTERNAL', { problem: 'no configuration is in effect' });
    return this.#config;
  };

  definition(server: ServerName): ServerDefinition | undefined {
    return this.#definitions.get(server);
  }

  definitions(): readonly ServerDefinition[] {
    return [...this.#definitions.values()];
  }

  /** The servers that are enabled and not denied. */
  used(): readonly ServerDefinition[] {
    return this.#used;
  }

  /** Those of them that a turn may name. The same array as long as they are the same. */
  inTurns(): readonly ServerDefinition[] {
    if (this.#isInTurnsKnown) return this.#inTurns;
    const now = this.#used.filter(({ name }) => !this.isSetAside(name));
    const isSame = now.length === this.#inTurns.length && now.every((each, at) => each === this.#inTurns[at]);
    if (!isSame) this.#inTurns = now;
    this.#isInTurnsKnown = true;
    return this.#inTurns;
  }

  /** Servers that the user expects to see although they cannot be used. */
  absent(): Partial<Pick<LoadedConfig, 'invalid' | 'suppressed'>> {
    return this.#config ?? {};
  }

  /** Why no rule and no grant lets a call pass without a question; `undefined` where they do. */
  whyEverythingAsks(): string | undefined {
    const [first] = this.#config?.capped ?? [];
    return first && `${first.file ?? 'a file of the workspace'} holds too much to be read, and it may deny this`;
  }

  watched(): readonly string[] {
    return this.#config?.watched ?? [];
  }

  warningsOf(server: ServerName): readonly string[] {
    return this.#resolved.get(server)?.warnings ?? [];
  }

  settings(server: ServerName): ServerSettings | undefined {
    return this.#definitions.get(server)?.settings;
  }

  /** The settings of this one tool in the server's entry. */
  toolSettings({ server, tool }: ToolId): ToolSettings {
    const settings = this.settings(server);
    return settings === undefined ? NO_SETTINGS : toolSettingsOf(tool, settings);
  }

  /** Why the server may not be used; `undefined` where it may. */
  refusal(server: ServerName): string | undefined {
    return this.#refused.get(server);
  }

  /** Why no call may reach the server: it may not be used, or its approval was revoked after a turn had shown its tools. */
  whyNotCalled(server: ServerName): string | undefined {
    if (!this.isSetAside(server)) return this.refusal(server);
    return `nobody approves it any more; if you trust it, run: plexus approve ${shellWord(server)}`;
  }

  /** Before the server was opened, the stored approvals tell: those of remote ones were read with the configuration. */
  isUnapprovedWorkspaceServer(server: ServerName): boolean {
    const definition = this.#definitions.get(server);
    const known = this.#resolved.get(server)?.isUnapprovedWorkspaceServer;
    if (known !== undefined || definition?.provenance.inWorkspace !== true) return known ?? false;
    return isRemote(definition) ? this.config().unapproved.has(server) : !this.#approved.has(server);
  }

  /**
   * Whether neither the server's tools nor its words nor its name may stand in a turn: it is remote, from the workspace, and
   * nobody approved it. A local one that nobody approved does not run; its tools are not cached either.
   */
  readonly isSetAside = (server: ServerName): boolean => {
    const definition = this.#definitions.get(server);
    if (definition === undefined || !isRemote(definition) || this.#environment.showsUnapproved) return false;
    return this.isUnapprovedWorkspaceServer(server);
  };

  /** How the server is used although nobody approved it; `undefined` for all others. */
  standing(server: ServerName): ServerStatus['unapproved'] {
    const definition = this.#definitions.get(server);
    if (this.#config?.overCap.has(server)) return 'over-cap';
    if (definition === undefined || !isRemote(definition) || !definition.settings.enabled) return undefined;
    return this.isUnapprovedWorkspaceServer(server) ? 'listed-only' : undefined;
  }

  /** Changes when another server takes the name. */
  identity(server: ServerName): string {
    const known = this.#identities.get(server);
    if (known !== undefined) return known;
    const definition = this.#definitions.get(server);
    const identity = definition === undefined ? '' : definitionHash(definition);
    this.#identities.set(server, identity);
    return identity;
  }

  /** Whether the server that listed the tool is gone, or another one has taken its name. */
  isReplaced({ id, source }: Tool): boolean {
    return this.identity(id.server) !== source;
  }

  /** Whether the filters in effect now hide the tool; a turn may be older than the filters. */
  isHidden({ server, tool }: ToolId): boolean {
    const settings = this.settings(server);
    return settings !== undefined && !isExposed(tool, settings);
  }

  /** Annotations count only where the entry sets `trust_hints`, and only from a live listing. */
  trustsAnnotations({ id, freshness }: Tool): boolean {
    return freshness === 'live' && this.settings(id.server)?.trustHints === true;
  }

  get rules(): RuleBook {
    return this.#rules;
  }

  /** Whether every call of the tool is denied, whatever its arguments are. */
  isDenied(id: ToolId, viewRules?: readonly (readonly RuleText[])[]): boolean {
    return this.#refused.has(id.server) || this.#rules.isDenied(id, canonicalName(id), viewRules);
  }

  #createRules(rules: readonly RuleText[], servers: readonly { readonly name: ServerName }[]): RuleBook {
    return createRuleBook({
      rules,
      servers: servers.map(({ name }) => name),
      environment: this.#environment,
      folderOf: (server) => this.#folderOf(server),
    });
  }

  /** The folder that a server's relative paths count from; `undefined` for a server on another machine. */
  #folderOf(server: ServerName): string | undefined {
    const definition = this.#definitions.get(server);
    const { cwd, processFolder, hasLauncher } = this.#environment;
    if (definition?.launch.kind === 'in-process') return processFolder;
    if (definition?.launch.kind !== 'stdio' || hasLauncher) return undefined;
    const known = this.#resolved.get(server)?.cwd;
    const { cwd: folder = '.' } =
      known === undefined ? startedProgramOf(definition, this.#environment) : { cwd: known };
    return folder.includes('${') ? undefined : resolve(cwd, folder);
  }

  /** Forgets what was resolved for servers that are gone, have changed or were approved or not before; it may hold secrets. */
  #forgetChanged(unapproved: JudgedConfig['unapproved']): void {
    const isRejudged = (server: ServerName) => unapproved.has(server) !== this.config().unapproved.has(server);
    for (const [server, { launch }] of this.#resolved) {
      const isChanged = !isDeepStrictEqual(launch, this.#definitions.get(server)?.launch);
      if (isChanged || isRejudged(server)) this.#resolved.delete(server);
    }
  }

  /** Refused by the entries as written, or by what servers turned out to be once their placeholders were filled in. */
  #refusals({ refused, lists }: LoadedConfig): ReadonlyMap<ServerName, string> {
    const found = new Map(refused);
    for (const [server, { refusal }] of this.#resolved) {
      const because = found.has(server) ? undefined : refusal(lists);
      if (because !== undefined) found.set(server, because);
    }
    return found;
  }
}

const NO_SETTINGS: ToolSettings = Object.freeze({});
