// Owns which model an agent talks to: the person's flags, then their environment, then `[plexus.agent]`, and the key that goes with
// each. A key and a model belong to the address that they were given for: naming another address leaves them behind.

import { expand, isCommand } from '../config/expand.ts';
import { runCommand } from '../config/run-command.ts';
import type { AgentSettings } from '../config/schema.ts';
import type { HostEnvironment } from '../config/scopes.ts';
import { systemClock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ChatModel } from './chat-model.ts';
import type { RunBudget } from './loop.ts';
import {
  isProviderName,
  type ModelAddress,
  openModel,
  type ProviderName,
  providerNames,
  providers,
} from './models/providers.ts';

/** The words of a person on the command line. */
export interface ModelFlags {
  readonly provider?: string | undefined;
  readonly url?: string | undefined;
  readonly model?: string | undefined;
  /** The variable that holds the key. */
  readonly keyEnv?: string | undefined;
}

export interface ModelSources {
  readonly flags: ModelFlags;
  readonly settings: AgentSettings;
  readonly environment: HostEnvironment;
}

export interface ChosenModel extends ModelAddress {
  readonly model: ChatModel;
  /** The names that a client may ask for: the chosen one, and those of the settings. */
  readonly names: readonly string[];
  /** A model at the same address. */
  readonly open: (name: string) => ChatModel;
}

/** Throws `MODEL_UNSET` with what is to be set where a model or its key is missing. */
export async function chooseModel(sources: ModelSources): Promise<ChosenModel> {
  const { settings } = sources;
  const wish = wishOf(sources);
  const { model: name } = wish;
  if (name === undefined) throw new RuntimeError('MODEL_UNSET', { missing: 'model' });
  const address = await addressOf(wish, sources.environment);
  const { provider, url, key } = address;
  const { variables } = providers[provider];
  if (key === undefined && variables && isUsual(provider, url))
    throw new RuntimeError('MODEL_UNSET', { missing: 'key', address: url, variable: variables.key });
  const { contextWindow, vision } = settings;
  const abilities = { ...(contextWindow !== undefined && { contextWindow }), ...(vision !== undefined && { vision }) };
  const open = (model: string) => openModel(address, { model, ...abilities });
  return { ...address, model: open(name), names: [...new Set([name, ...settings.models])], open };
}

/** The address that a person names, also where no model is chosen yet. */
export async function chooseAddress(sources: ModelSources): Promise<ModelAddress | undefined> {
  const wish = wishOf(sources);
  const isNamed = wish.provider !== undefined || wish.url !== undefined || wish.key !== undefined;
  return isNamed ? addressOf(wish, sources.environment) : undefined;
}

export const budgetOf = ({ maxSteps, maxTokens, maxTimeMs }: AgentSettings): RunBudget => ({
  steps: maxSteps,
  tokens: maxTokens,
  timeMs: maxTimeMs,
});

/** The words of one source, or of all together. */
interface ModelWish {
  readonly provider?: ProviderName | undefined;
  readonly url?: string | undefined;
  readonly model?: string | undefined;
  readonly key?: KeyReference | undefined;
}

interface KeyReference {
  /** `${VAR}` or `!command`. */
  readonly text: string;
  /** The source, for a person who must correct it. */
  readonly by: string;
}

/** Sources that are weaker than the one that names the address say nothing about its model and its key. */
function wishOf({ flags, settings, environment }: ModelSources): ModelWish {
  const wishes = [flagWish(flags), environmentWish(environment), settingsWish(settings)];
  const deciding = wishes.findIndex(({ provider, url }) => provider !== undefined || url !== undefined);
  const counting = deciding < 0 ? wishes : wishes.slice(0, deciding + 1);
  return {
    provider: wishes[deciding]?.provider,
    url: wishes[deciding]?.url,
    model: counting.find(({ model }) => model !== undefined)?.model,
    key: counting.find(({ key }) => key !== undefined)?.key,
  };
}

const flagWish = ({ provider, url, model, keyEnv }: ModelFlags): ModelWish => ({
  provider: provider === undefined ? undefined : providerNamed(provider, '--provider'),
  url,
  model,
  key: keyEnv === undefined ? undefined : { text: `\${${keyEnv}}`, by: '--key-env' },
});

/** An empty variable counts as not set. */
function environmentWish({ env }: Pick<HostEnvironment, 'env'>): ModelWish {
  const provider = env['PLEXUS_MODEL_PROVIDER'] || undefined;
  return {
    provider: provider === undefined ? undefined : providerNamed(provider, 'the variable PLEXUS_MODEL_PROVIDER'),
    url: env['PLEXUS_MODEL_URL'] || undefined,
    model: env['PLEXUS_MODEL'] || undefined,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference, as a person writes one
    key: env['PLEXUS_MODEL_KEY'] ? { text: '${PLEXUS_MODEL_KEY}', by: 'the environment' } : undefined,
  };
}

const SETTING = '"plexus.agent.key"';

const settingsWish = ({ provider, url, model, key }: AgentSettings): ModelWish => ({
  provider,
  url,
  model,
  key: key === undefined ? undefined : { text: key, by: SETTING },
});

function providerNamed(word: string, where: string): ProviderName {
  if (isProviderName(word)) return word;
  throw new RuntimeError('CONFIG_INVALID', { problem: `${where} must be one of ${providerNames.join(', ')}` });
}

/** The provider's own variables count for its own address, and for the one that they name: its key goes nowhere else. */
async function addressOf(wish: ModelWish, environment: HostEnvironment): Promise<ModelAddress> {
  const { env } = environment;
  const { url: given, key, model = '' } = wish;
  const isClaude = given === undefined && model.startsWith('claude');
  const provider = wish.provider ?? (isClaude ? 'anthropic' : 'openai');
  const { variables, url: usual } = providers[provider];
  const url = given ?? ((variables && env[variables.url]) || usual);
  requireAddress(url);
  const ownKey = variables && (given === undefined || isUsual(provider, url)) ? env[variables.key] : undefined;
  return { provider, url, key: key === undefined ? ownKey || undefined : await keyOf(key, url, environment) };
}

const isUsual = (provider: ProviderName, url: string) =>
  new URL(url).origin === new URL(providers[provider].url).origin;

/** A name and a password in an address would stand in errors and logs. */
export function isModelAddress(url: string): boolean {
  const { protocol, username, password } = URL.canParse(url) ? new URL(url) : new URL('none:');
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

function requireAddress(url: string): void {
  if (isModelAddress(url)) return;
  const problem = 'the address of the model must begin with http:// or https://, and hold no user name and no password';
  throw new RuntimeError('CONFIG_INVALID', { problem });
}

async function keyOf({ text, by }: KeyReference, url: string, environment: HostEnvironment): Promise<string> {
  if (isCommand(text)) {
    // Run outside the workspace: some systems look for programs in the current folder first.
    const ran = await runCommand(text.slice(1), { ...environment, cwd: environment.home, clock: systemClock });
    if (ran.ok && ran.output !== '') return ran.output;
    const problem = `the command of ${by} failed: ${ran.ok ? 'it printed nothing' : ran.problem}`;
    throw new RuntimeError('CONFIG_INVALID', { problem });
  }
  const { env } = environment;
  const { value, missing, missingInputs } = expand(text, { variable: (name) => env[name] || undefined });
  const [variable] = missing;
  if (variable !== undefined) throw new RuntimeError('MODEL_UNSET', { missing: 'key', address: url, variable, by });
  if (missingInputs.length > 0)
    throw new RuntimeError('CONFIG_INVALID', { problem: `${by} can be a variable or a command, and no input` });
  return value;
}
