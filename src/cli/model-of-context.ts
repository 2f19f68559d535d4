// Owns choosing the model for a command that has an agent: its flags, the environment and the configuration.

import {
  type ChosenModel,
  chooseAddress,
  chooseModel,
  isModelAddress,
  type ModelSources,
} from '../agent/choose-model.ts';
import { listModels } from '../agent/list-models.ts';
import { isProviderName, type ModelAddress, providerNames } from '../agent/models/providers.ts';
import type { AgentSettings } from '../config/schema.ts';
import { systemClock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import { type CommandResult, type Context, UsageError } from './command.ts';
import { environmentOf, loadConfigFor } from './load-config.ts';
import type { modelOptions } from './model-options.ts';
import { type Cell, printable, table } from './render/text.ts';

export const chooseModelFor = (context: Context, settings: AgentSettings): Promise<ChosenModel> =>
  chooseModel(sourcesOf(context, settings));

function sourcesOf(context: Context, settings: AgentSettings): ModelSources {
  const text = (name: keyof typeof modelOptions) => {
    const value = context.values[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const flags = { model: text('model'), provider: text('provider'), url: text('url'), keyEnv: text('key-env') };
  const { provider, url } = flags;
  if (provider !== undefined && !isProviderName(provider))
    throw new UsageError(`--provider takes one of ${providerNames.join(', ')}`);
  if (url !== undefined && !isModelAddress(url))
    throw new UsageError(
      '--url takes an address that begins with http:// or https://, without a user name and a password',
    );
  return { flags, settings, environment: environmentOf(context) };
}

/** Exits with 4 if no model is reachable. */
export async function listModelsFor(context: Context): Promise<CommandResult> {
  const { agent } = (await loadConfigFor(context)).settings;
  const chosen = await addressFor(context, agent);
  const options = { clock: systemClock, signal: context.signal };
  const lists = await context.waitFor('asking for models', listModels(chosen, context, options));
  const rows = lists.flatMap(({ provider, url, models }) =>
    models.map((model): Cell[] => [{ text: provider }, { text: model }, { text: url }]),
  );
  for (const { url, problem } of lists)
    if (problem !== undefined) context.warn((paint) => paint.yellow(printable(`${url}: ${problem}.`)));
  return {
    data: { lists },
    text: (paint) => (rows.length === 0 ? NONE : table(['PROVIDER', 'MODEL', 'ADDRESS'], rows, paint)),
    exitCode: rows.length === 0 ? 4 : 0,
  };
}

const NONE =
  'No model is reachable. Start a model server such as Ollama, or set OPENAI_API_KEY or ANTHROPIC_API_KEY; --url names another address.';

/** Another address may be reachable even where the chosen one lacks its key. */
async function addressFor(context: Context, settings: AgentSettings): Promise<ModelAddress | undefined> {
  try {
    return await chooseAddress(sourcesOf(context, settings));
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    context.warn((paint) => paint.yellow(printable(error.message)));
    return undefined;
  }
}
