// Owns reading the configuration for a runtime: what the host asked for joined with what its files say, and warnings about rules
// that cannot mean anything. Loads the parsers only when it is called.

import type { LoadOptions } from '../config/discover.ts';
import type { KeptPolicies } from '../config/kept-policy.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Settings } from '../config/schema.ts';
import type { HostEnvironment } from '../config/scopes.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerDefinition } from '../model/server.ts';
import { hostRules } from '../policy/host-rules.ts';
import { reviewRules } from '../policy/review.ts';
import { parseRules } from '../policy/rule.ts';
import type { Gate } from '../trust/gate.ts';
import type { PolicyTrust } from '../trust/policy-trust.ts';
import type { Host, HostOptions } from './host.ts';

export interface LoaderDeps extends Pick<Host, 'options' | 'environment' | 'emit'> {
  readonly policy: PolicyTrust;
  readonly gate: Pick<Gate, 'judge'>;
  readonly kept: KeptPolicies;
  /** For a runtime, which does not wait for Docker as long as Docker may take. */
  readonly gatewayWait?: GatewayWait;
}

export interface GatewayWait extends Pick<Host, 'clock' | 'startedAt'> {
  /** Docker's gateway came, went or changed after the load that did not wait for it. */
  readonly onLateGateway: () => void;
  readonly signal: AbortSignal;
}

let modules: ReturnType<typeof loadModules> | undefined;

const loadModules = () =>
  Promise.all([import('../config/load.ts'), import('../config/native.ts'), import('../config/unapproved-limits.ts')]);

export function createLoader(deps: LoaderDeps): () => Promise<LoadedConfig> {
  const { options, environment, policy, gate, kept, emit, gatewayWait } = deps;
  const remembered: LoadOptions['remembered'] = new Map();
  const waitBudget = gatewayWait && createWaitBudget(options, gatewayWait);
  return async () => {
    modules ??= loadModules();
    const [{ loadConfig }, { replaceNative }, limiting] = await modules;
    const loaded = await loadConfig({
      ...environment,
      discover: options.discover ?? true,
      configFile: options.config,
      servers: options.servers,
      extraSources: options.extraSources,
      isApproved: (file, text) => policy.isApproved(file, text),
      mayDisplace: approvedBy(gate),
      kept,
      remembered,
      waitBudget: waitBudget?.(),
    });
    const config = withRulesReviewed(await withClaimsLimited(loaded, limiting, deps), environment);
    emit({ type: 'config.loaded', files: config.files, diagnostics: config.diagnostics });
    reportPending(config, emit);
    for (const { file = '', message } of config.capped) emit({ type: 'config.file-capped', file, because: message });
    const natives = typeof options.nativeTools === 'function' ? options.nativeTools() : (options.nativeTools ?? []);
    const replaced = replaceNative(config.definitions, natives, environment.env);
    const isOff = ({ name }: ServerDefinition) => replaced.has(name) || options.only?.includes(name) === false;
    return {
      ...config,
      definitions: config.definitions.map((each) => {
        if (isOff(each)) return switchedOff(each);
        return options.only === undefined ? each : eager(each);
      }),
      refused: new Map([...replaced, ...config.refused]),
      rules: [...hostRules(options.permissions ?? []), ...config.rules],
    };
  };
}

/** Only entries that claim something are judged: looking up an approval follows links and reads the store. */
async function withClaimsLimited(
  config: LoadedConfig,
  { withoutClaims, claimsNothing }: typeof import('../config/unapproved-limits.ts'),
  { gate }: LoaderDeps,
): Promise<LoadedConfig> {
  const definitions = await Promise.all(
    config.definitions.map(async (each) => {
      const limited = each.provenance.inWorkspace ? withoutClaims(each, config.defaults) : each;
      return limited === each || (await isApproved(gate, each)) ? each : limited;
    }),
  );
  const found = definitions.filter((each, at) => each !== config.definitions[at]).map(claimsNothing);
  return found.length === 0 ? config : { ...config, definitions, diagnostics: [...config.diagnostics, ...found] };
}

/** Only an approval that is stored counts: an answer for one session was about another server. */
export const approvedBy =
  (gate: Pick<Gate, 'judge'>): NonNullable<LoadOptions['mayDisplace']> =>
  async (claim) =>
    'definition' in claim && isApproved(gate, claim.definition);

/** An entry that cannot be judged, such as one whose variables have no end, is not approved; opening it says what is wrong. */
async function isApproved(gate: Pick<Gate, 'judge'>, definition: ServerDefinition): Promise<boolean> {
  try {
    return (await gate.judge(definition)).kind === 'approved';
  } catch {
    return false;
  }
}

function reportPending({ pending }: LoadedConfig, emit: LoaderDeps['emit']): void {
  for (const { name: server, provenance, lostTo } of pending)
    emit({
      type: 'config.server-shadowed',
      server,
      ...(provenance.file !== undefined && { file: provenance.file }),
      ...(lostTo.file !== undefined && { by: lostTo.file }),
    });
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

const isTerminal = () => Boolean(process.stdin.isTTY && process.stdout.isTTY);

/** Adds a warning for each rule that is wrong wherever it stands; a rule for a server of another folder may be right. */
export function withRulesReviewed(
  config: LoadedConfig,
  environment: Pick<HostEnvironment, 'cwd' | 'home'>,
): LoadedConfig {
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
