// Owns that a secret stands in a file only as a reference: a placeholder, or in the person's own files a `!command`.

import { inputsOf, isCommand, variablesOf } from './expand.ts';
import { type ConfigProblem, labelOf } from './problem.ts';

export const isReference = (value: string) =>
  isCommand(value) || variablesOf(value).length + inputsOf(value).length > 0;

export function literalSecret(path: readonly string[]): ConfigProblem {
  return {
    severity: 'warning',
    path,
    message: `${labelOf(path)} is the secret itself, which does not belong in a file, and is left out`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
    remedy: 'Put it into an environment variable, and write "${NAME}" there.',
  };
}
