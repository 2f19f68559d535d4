// Owns reading the configuration for a runtime: what the host asked for joined with what its files say, and warnings about rules
// that cannot mean anything.

import type { LoadOptions } from '../config/discover.ts';
import type { KeptPolicies } from '../config/kept-policy.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { replaceNative } from '../config/native.ts';
import type { Settings } from '../config/schema.ts';
import type { HostEnvironment } from '../config/scopes.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { limits } from '../model/limits.ts';
import type { ServerDefinition } from '../model/server.ts';
import { hostRules } from '../policy/host-rules.ts';
import { reviewRules } from '../policy/review.ts';
import { parseRules } from '../policy/rule.ts';
import type { Gate } from '../trust/gate.ts';
import type { PolicyTrust } from '../trust/policy-trust.ts';
import type { Host, HostOptions } from './host.ts';
import { approvedBy, type JudgedConfig, judgeConfig, withCap } from './judge-config.ts';

export interface LoaderDeps extends Pick<Host, 'options' | 'environment' | 'emit'> {
  readonly standing?: Host['standing'];
  readonly policy: PolicyTrust;
  readonly gate: Pick<Gate, 'judge'>;
  readonly kept: KeptPolicies;
  /** The servers that the host gives in code, which may change while a runtime runs. Default: those of the options. */
  readonly hostServers?: () => HostOptions['servers'];
  /** For a runtime, which does not wait for Docker as long as Docker may take. */
  readonly gatewayWait?: GatewayWait;
}

export interface GatewayWait extends Pick<Host, 'clock' | 'startedAt'> {
  /** Docker's gateway came, went or changed after the load that did not wait for it. */
  readonly onLateGateway: () => void;
  readonly signal: AbortSignal;
}

export function createLoader(deps: LoaderDeps): () => Promise<JudgedConfig> {
  const { options, environment, policy, gate, kept, emit, gatewayWait, hostServers = () => options.servers } = deps;
  const { stopsIdle = false } = deps.standing ?? {};
  const remembered: LoadOptions['remembered'] = new Map();
  const waitBudget = gatewayWait && createWaitBudget(options, gatewayWait);
  return async () => {
    const loaded = await loadConfig({
      ...environment,
      discover: options.discover ?? true,
      configFile: options.config,
      servers: hostServers(),
      extraSources: options.extraSources,
      isApproved: (file, text) => policy.isApproved(file, text),
      mayDisplace: approvedBy(gate),
      kept,
      remembered,
      waitBudget: waitBudget?.(),
    });
    const judged = withRulesReviewed(await judgeConfig(loaded, gate), environment);
    const natives = typeof options.nativeTools === 'function' ? options.nativeTools() : (options.nativeTools ?? []);
    const replaced = replaceNative(judged.definitions, natives, environment.env);
    const isOff = ({ name }: ServerDefinition) => replaced.has(name) || options.only?.includes(name) === false;
    const config = withCap({
      ...judged,
      definitions: judged.definitions.map((definition) => {
        const each = stopsIdle ? stoppedWhenIdle(definition, judged.settings.serving) : definition;
        if (isOff(each)) return switchedOff(each);
        return options.only === undefined ? each : eager(each);
      }),
      refused: new Map([...replaced, ...judged.refused]),
      rules: [...hostRules(options.permissions ?? []), ...judged.rules],
    });
    report(config, emit);
    return config;
  };
}

function report({ files, diagnostics, pending, capped, overCap }: JudgedConfig, emit: LoaderDeps['emit']): void {
  emit({ type: 'config.loaded', files, diagnostics });
  for (const { name: server, provenance, lostTo } of pending)
    emit({
      type: 'config.server-shadowed',
      server,
      ...(provenance.file !== undefined && { file: provenance.file }),
      ...(lostTo.file !== undefined && { by: lostTo.file }),
    });
  for (const { file = '', message } of capped) emit({ type: 'config.file-capped', file, because: message });
  const { size: count } = overCap;
  if (count > 0) emit({ type: 'config.servers-capped', count, connected: limits.unapprovedServers });
}

/** One process for each workspace and server stays for ever otherwise, since the gateway does. */
function stoppedWhenIdle(each: ServerDefinition, { idleStopMs }: Settings['serving']): ServerDefinition {
  if (each.launch.kind !== 'stdio' || each.settings.idleStopMs !== undefined) return each;
  return { ...each, settings: { ...each.settings, idleStopMs } };
}

const switchedOff = (each: ServerDefinition): ServerDefinition => ({
  ...each,
  settings: { ...each.settings, enabled: false },
});

/** A host that names a server wants it now. */
const eager = (each: ServerDefinition): ServerDefinition => ({
  ...each,
  settings: { ...each.settings, lifecycle: 'eager' },
});

/** A budget per load: the first has what is left of the start, each later one the same time from its own beginning. */
function createWaitBudget(options: HostOptions, wait: GatewayWait): () => LoadOptions['waitBudget'] {
  const { clock, startedAt, onLateGateway: onLate, signal } = wait;
  const known = {};
  let isFirst = true;
  return () => {
    const since = isFirst ? startedAt : clock.now();
    isFirst = false;
    const limitMs = (settings: Settings) => {
      const { whenUncached, gateMs, waitMs } = startupSettings(options, settings);
      return Math.max(0, since + (whenUncached === 'wait' ? waitMs : gateMs) - clock.now());
    };
    return { limitMs, known, onLate, clock, signal };
  };
}

/** How long a start waits, and whether a person is there. The host's options count more than its files. */
export function startupSettings({ startup, interactive = isTerminal() }: HostOptions, settings: Settings) {
  const { whenUncached = interactive ? 'background' : 'wait', ...limits } = { ...settings.startup, ...startup };
  return { interactive, whenUncached, ...limits };
}

/** Asks the system: `process.stdin` would open a stream that nobody reads. Loaded here, as it brings the network along. */
function isTerminal(): boolean {
  const { isatty } = process.getBuiltinModule('node:tty');
  return isatty(0) && isatty(1);
}

/** Adds a warning for each rule that is wrong wherever it stands; a rule for a server of another folder may be right. */
export function withRulesReviewed<Config extends LoadedConfig>(
  config: Config,
  environment: Pick<HostEnvironment, 'cwd' | 'home'>,
): Config {
  if (config.rules.length === 0) return config;
  const servers = [...config.definitions, ...config.invalid].map(({ name }) => name);
  const remarks = reviewRules(parseRules(config.rules, servers, environment), servers);
  const found = remarks
    .filter(({ kind }) => kind === 'never' || kind === 'typo')
    .map(({ rule, why }): Diagnostic => {
      const { file, line } = rule.provenance;
      return {
        severity: 'warning',
        code: 'CONFIG_INVALID',
        message: `the rule "${rule.text}" ${why}`,
        remedy: 'Correct it, or remove it. See all rules with: plexus policy',
        ...(file !== undefined && { file }),
        ...(line !== undefined && { line }),
      };
    });
  return found.length === 0 ? config : { ...config, diagnostics: [...config.diagnostics, ...found] };
}
