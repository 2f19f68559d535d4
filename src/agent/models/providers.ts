// Owns the providers that a person can name: where each is usually reached, and which variables hold its key and its address.

import type { AgentSettings } from '../../config/schema.ts';
import type { ChatModel } from '../chat-model.ts';
import { chatCompletionsModel, type ModelOptions, OPENAI_URL } from './chat-completions.ts';
import { ANTHROPIC_URL, ANTHROPIC_VERSION, anthropicModel } from './messages.ts';

export type ProviderName = NonNullable<AgentSettings['provider']>;

export interface ModelProvider {
  readonly title: string;
  readonly url: string;
  /** It is reached on this machine, without a key. */
  readonly isLocal?: true;
  /** The variables that its own tools read. */
  readonly variables?: { readonly key: string; readonly url: string };
}

const local = (title: string, port: number): ModelProvider => ({
  title,
  url: `http://127.0.0.1:${port}/v1`,
  isLocal: true,
});

export const providers: Readonly<Record<ProviderName, ModelProvider>> = {
  openai: { title: 'OpenAI', url: OPENAI_URL, variables: { key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL' } },
  anthropic: {
    title: 'Anthropic',
    url: ANTHROPIC_URL,
    variables: { key: 'ANTHROPIC_API_KEY', url: 'ANTHROPIC_BASE_URL' },
  },
  ollama: local('Ollama', 11_434),
  'lm-studio': local('LM Studio', 1_234),
  'llama.cpp': local('llama.cpp', 8_080),
  vllm: local('vLLM', 8_000),
};

export const providerNames = Object.keys(providers) as readonly ProviderName[];

export const isProviderName = (word: string): word is ProviderName => Object.hasOwn(providers, word);

/** The place of a model, and the key for it. */
export interface ModelAddress {
  readonly provider: ProviderName;
  readonly url: string;
  readonly key?: string | undefined;
}

export function openModel({ provider, url, key }: ModelAddress, options: Omit<ModelOptions, 'url' | 'key'>): ChatModel {
  const open = provider === 'anthropic' ? anthropicModel : chatCompletionsModel;
  return open({ ...options, url, ...(key !== undefined && { key }) });
}

/** The request for the list of models there. */
export function listRequest({ provider, url, key }: ModelAddress) {
  const base = url.replace(/\/+$/, '');
  if (provider !== 'anthropic')
    return { url: `${base}/models`, headers: { ...(key && { authorization: `Bearer ${key}` }) } };
  const headers = { 'anthropic-version': ANTHROPIC_VERSION, ...(key && { 'x-api-key': key }) };
  return { url: `${base}/v1/models?limit=1000`, headers };
}
