// Owns what a person is shown of an entry before approving it: the command or address with folders and answered inputs filled in,
// and for each input whose answer that is. Shows no secret: variables stand there by name, hidden answers as a word.

import type { EnvironmentVariables } from '../model/environment-variables.ts';
import { commandLine, type InputRequest, type ServerDefinition } from '../model/server.ts';
import { type Answers, inputName } from './inputs.ts';
import { maskSecrets, withoutSecrets } from './literal-secrets.ts';
import { HIDDEN } from './mask-secret.ts';
import { filledLaunch } from './resolve.ts';
import { type HostEnvironment, isOwnScope } from './scopes.ts';

export interface AnsweredInput extends Pick<InputRequest, 'id' | 'default'> {
  /** `default`: that of the user's own file. The default of any other file fills nothing. */
  readonly by: 'you' | 'default' | 'nobody';
}

export interface LaunchPreview {
  /** Placeholders without a value stay as they are written. */
  readonly filled: string;
  readonly inputs: readonly AnsweredInput[];
}

export async function previewLaunch(
  definition: ServerDefinition,
  environment: HostEnvironment,
  answers: Pick<Answers, 'get'>,
): Promise<LaunchPreview> {
  const inputs = await Promise.all((definition.inputs ?? []).map((each) => answerTo(each, definition, answers)));
  const shown = new Map(inputs.flatMap(({ request, value }) => (value === undefined ? [] : [[request.id, value]])));
  const launch = filledLaunch(definition, {
    environment: { ...environment, env: namesOf(environment.env) },
    unresolvedEnv: 'literal',
    answers: shown,
  });
  return {
    filled: commandLine(withoutSecrets(launch)),
    inputs: inputs.map(({ request: { id, default: preset }, by }) => ({
      id,
      by,
      ...(preset !== undefined && maskSecrets({ env: { default: preset } }).env),
    })),
  };
}

interface ShownAnswer extends Pick<AnsweredInput, 'by'> {
  readonly request: InputRequest;
  readonly value: string | undefined;
}

async function answerTo(
  request: InputRequest,
  { provenance }: ServerDefinition,
  answers: Pick<Answers, 'get'>,
): Promise<ShownAnswer> {
  const kept = await answers.get(inputName(provenance, request.id));
  if (kept !== undefined) return { request, by: 'you', value: request.password ? HIDDEN : kept };
  const preset = isOwnScope(provenance.scope) ? request.default : undefined;
  return { request, by: preset === undefined ? 'nobody' : 'default', value: preset };
}

/** Each variable that is set stands for its name, so that a default in the entry is shown where it would count. */
const namesOf = (env: EnvironmentVariables): EnvironmentVariables =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value && `\${${name}}`]));
