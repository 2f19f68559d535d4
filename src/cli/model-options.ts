// Owns the flags that choose a model, as help shows them, for every command that has an agent. Imports types only: help is fast.

import type { Command } from './command.ts';

export const modelOptions = {
  model: { type: 'string' },
  provider: { type: 'string' },
  url: { type: 'string' },
  'key-env': { type: 'string' },
} as const satisfies Command['options'];

export const modelHelp = {
  'model NAME': 'the model, as its provider names it',
  'provider NAME':
    'openai, anthropic, ollama, lm-studio, llama.cpp or vllm; with --url, openai is all that is compatible',
  'url ADDRESS': 'where the model is, such as http://127.0.0.1:11434/v1',
  'key-env VARIABLE': 'the environment variable that holds the key for that address',
} as const satisfies Command['help'];
