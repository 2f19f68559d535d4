// Owns how servers stand by the word of files and people: which are configured and used, who is refused and why, who is a
// stranger, which rules hold. Answers what the stages of a call ask about that.

import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { CallLimits } from './call/deadline.ts';
import { replaced } from './call/resolve.ts';
import { resultLimits } from './call/result-limits.ts';
import type { ShapeSettings } from './call/shape.ts';
import { isExposed, toolSettingsOf } from './catalog/filter.ts';
import { canonicalName } from './catalog/naming.ts';
import type { ListedServers } from './config/lists.ts';
import type { LoadedConfig } from './config/load.ts';
import { programOf } from './config/resolve.ts';
import type { HostEnvironment } from './config/scopes.ts';
import { realPath } from './kernel/real-path.ts';
import { RuntimeError } from './model/errors.ts';
import type { ServerName, ToolId } from './model/names.ts';
import type { RuleText } from './model/rule.ts';
import type { ServerDefinition } from './model/server.ts';
import type { Tool } from './model/tool.ts';
import { createJudge, type Judge } from './policy/judge.ts';
import { parseRules } from './policy/rule.ts';
import type { ResultLimits } from './shaping/truncate.ts';
import { definitionHash } from './trust/fingerprint.ts';

/** What is known of a server only once everything is filled in. */
export interface Prepared {
  /** What was filled in, as written. */
  readonly launch: ServerDefinition['launch'];
  /** What it goes without, in words for the person. */
  readonly warnings: readonly string[];
  /** A workspace's server that nobody approved: what the person allows to servers of its name was not meant for it. */
  readonly isUnapprovedWorkspaceServer: boolean;
  /** Asks lists again. What was filled in stays inside. */
  readonly refusal: (lists: readonly ListedServers[]) => string | undefined;
}

/** Where rules and servers' paths count from. */
export interface Ground extends HostEnvironment {
  /** Where this very program stands. */
  readonly ownFolder?: string;
  /** A host may start servers elsewhere than their entries say. */
  readonly hasLauncher?: boolean;
}

export class Standing {
  #config: LoadedConfig | undefined;
  #definitions = new Map<ServerName, ServerDefinition>();
  #used: readonly ServerDefinition[] = [];
  #shaping: ShapeSettings = { redact: 'known', wrap: true, signals: 'log' };
  #judge: Judge;
  /** By the rules of views, which name servers as well. */
  #judges = new WeakMap<readonly RuleText[], Judge>();
  #prepared = new Map<ServerName, Prepared>();
  #refused: ReadonlyMap<ServerName, string> = new Map();
  #approved: ReadonlySet<ServerName> = new Set();
  readonly #identities = new Map<ServerName, string>();
  readonly #environment: Ground;

  constructor(environment: Ground) {
    this.#environment = environment;
    this.#judge = this.judgeOf([]);
  }

  apply(config: LoadedConfig): void {
    this.#config = config;
    this.#definitions = new Map(config.definitions.map((definition) => [definition.name, definition]));
    this.#shaping = { ...config.settings.results, signals: config.settings.signals };
    this.#judges = new WeakMap();
    this.#judge = this.judgeOf(config.rules);
    this.#forgetChanged();
    this.#refused = this.#refusals(config);
    this.#used = config.definitions.filter(({ name, settings }) => settings.enabled && !this.#refused.has(name));
    this.#approved = new Set();
    this.#identities.clear();
  }

  /** These are known to be trusted, although they were not opened yet. */
  markApproved(servers: readonly ServerName[]): void {
    this.#approved = new Set(servers);
  }

  definition(server: ServerName): ServerDefinition | undefined {
    return this.#definitions.get(server);
  }

  definitions(): readonly ServerDefinition[] {
    return [...this.#definitions.values()];
  }

  /** Those that are switched on and refused by nobody. */
  used(): readonly ServerDefinition[] {
    return this.#used;
  }

  /** Those that somebody expects to see although they cannot be used. */
  absent(): Partial<Pick<LoadedConfig, 'invalid' | 'suppressed'>> {
    return this.#config ?? {};
  }

  watched(): readonly string[] {
    return this.#config?.watched ?? [];
  }

  warningsOf(server: ServerName): readonly string[] {
    return this.#prepared.get(server)?.warnings ?? [];
  }

  /** What its opening found out about a server; news replaces what was known before. */
  readonly prepared = (server: ServerName, prepared: Prepared): void => {
    this.#prepared.set(server, prepared);
  };

  /** For the opening of servers; nothing is opened before a configuration was applied. */
  readonly config = (): LoadedConfig => {
    if (this.#config === undefined) throw new RuntimeError('INTERNAL', { problem: 'no configuration is in effect' });
    return this.#config;
  };

  readonly refusal = (server: ServerName): string | undefined => this.#refused.get(server);
  /** Before it was opened, by what is known of its approval: who is not known to be trusted is not. */
  readonly isUnapprovedWorkspaceServer = (server: ServerName): boolean =>
    this.#prepared.get(server)?.isUnapprovedWorkspaceServer ??
    (this.#definitions.get(server)?.provenance.inWorkspace === true && !this.#approved.has(server));
  readonly isReplaced = ({ id, source }: Tool): boolean => this.identity(id.server) !== source;
  /** For a call that had to wait: its server is the same one, in use, and shows the tool. */
  readonly requireStill = (tool: Tool): void => {
    const { server } = tool.id;
    const because = this.refusal(server);
    if (because !== undefined) throw new RuntimeError('SERVER_DENIED', { server, because });
    if (this.isReplaced(tool) || this.isHidden(tool.id)) throw replaced(tool);
  };
  /** Another one where the server has become another one, under whatever name. */
  readonly identity = (server: ServerName): string => {
    const known = this.#identities.get(server);
    if (known !== undefined) return known;
    const definition = this.#definitions.get(server);
    const identity = definition === undefined ? '' : definitionHash(definition);
    this.#identities.set(server, identity);
    return identity;
  };

  readonly judge = (): Judge => this.#judge;
  /** What rules mean depends on who is configured. */
  readonly judgeOf = (rules: readonly RuleText[]): Judge => {
    const known = this.#judges.get(rules);
    if (known) return known;
    const { definitions = [], invalid = [] } = this.#config ?? {};
    const servers = [...definitions, ...invalid].map(({ name }) => name);
    const judge = createJudge(parseRules(rules, servers, this.#environment), { folderOf: this.#folderOf, realPath });
    this.#judges.set(rules, judge);
    return judge;
  };
  /** Whatever its arguments; by the rules of a view as well. */
  readonly isDenied = (id: ToolId, permissions: readonly (readonly RuleText[])[] = []): boolean =>
    this.#refused.has(id.server) ||
    [this.#judge, ...permissions.map(this.judgeOf)].some(
      (judge) => judge.judge(id, canonicalName(id), undefined).verdict === 'deny',
    );
  /** By its entry as it is now: a turn may be older than it. */
  readonly isHidden = ({ server, tool }: ToolId): boolean => {
    const definition = this.#definitions.get(server);
    return definition !== undefined && !isExposed(tool, definition.settings);
  };
  readonly resultLimits = ({ server, tool }: ToolId, { definition }: Partial<Tool> = {}): ResultLimits => {
    const settings = this.#definitions.get(server)?.settings;
    return resultLimits(settings, settings === undefined ? {} : toolSettingsOf(tool, settings), definition);
  };
  readonly shaping = (): ShapeSettings => this.#shaping;
  /** What is said of the one tool goes before what is said of its server. */
  readonly callLimits = ({ server, tool }: Pick<ToolId, 'server'> & Partial<ToolId>): CallLimits => {
    const settings = this.#definitions.get(server)?.settings;
    if (settings === undefined) return { totalMs: 0, silenceMs: 0 };
    const own = tool === undefined ? {} : toolSettingsOf(tool, settings);
    return {
      totalMs: own.toolTimeoutMs ?? settings.toolTimeoutMs,
      silenceMs: own.toolIdleTimeoutMs ?? settings.toolIdleTimeoutMs ?? 0,
    };
  };
  readonly isSerial = (server: ServerName): boolean => this.#definitions.get(server)?.settings.parallel === false;

  readonly maxMessageBytes = (server: ServerName): number =>
    this.#definitions.get(server)?.settings.maxMessageBytes ?? 0;

  /** What a server's relative paths count from; one on another machine has none that is known. */
  readonly #folderOf = (server: ServerName): string | undefined => {
    const definition = this.#definitions.get(server);
    const { cwd, ownFolder, hasLauncher } = this.#environment;
    if (definition?.launch.kind === 'in-process') return ownFolder;
    if (definition?.launch.kind !== 'stdio' || hasLauncher) return undefined;
    const { cwd: folder = '.' } = programOf(definition, this.#environment);
    return folder.includes('${') ? undefined : resolve(cwd, folder);
  };

  /** What was found out about a server that is gone, or another one now, holds for nobody, and may hold secrets. */
  #forgetChanged(): void {
    for (const [server, { launch }] of this.#prepared) {
      if (!isDeepStrictEqual(launch, this.#definitions.get(server)?.launch)) this.#prepared.delete(server);
    }
  }

  /** By the files, and by what servers turned out to be once everything was filled in. */
  #refusals({ refused, lists }: LoadedConfig): ReadonlyMap<ServerName, string> {
    const found = new Map(refused);
    for (const [server, { refusal }] of this.#prepared) {
      const because = found.has(server) ? undefined : refusal(lists);
      if (because !== undefined) found.set(server, because);
    }
    return found;
  }
}
