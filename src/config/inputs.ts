// Owns `${input:id}`: what a person is asked for once. The answer is kept in the secret store, never in a file.

import { SingleFlight } from '../kernel/single-flight.ts';
import type { ServerName } from '../model/names.ts';

/** What a file asks a person for. */
export interface InputRequest {
  readonly id: string;
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  /** Counts where nobody answers. */
  readonly default?: string | undefined;
  /** Hidden while it is typed. */
  readonly password: boolean;
  readonly options?: readonly string[] | undefined;
}

/** Where answers are kept. */
export interface Answers {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
}

/** Supplied by the host; `undefined` means that nobody can or will answer. */
export type AskInput = (request: InputRequest & { readonly server: ServerName }) => Promise<string | undefined>;

/** What declares an input: two files, or two sources without a file, may mean different things by one id. */
export interface Declaring {
  readonly file?: string | undefined;
  readonly provider?: string | undefined;
}

export interface InputQuestion extends Declaring {
  readonly server: ServerName;
  readonly request: InputRequest;
}

export interface InputDeps {
  readonly answers: Answers;
  readonly ask: AskInput | undefined;
  readonly onError: (error: unknown) => void;
}

/** However many servers need it at once, a person is asked once. */
export function createInputs({
  answers,
  ask,
  onError,
}: InputDeps): (question: InputQuestion) => Promise<string | undefined> {
  const asking = new SingleFlight<string, string | undefined>();
  const askSafely: AskInput = async (request) => {
    try {
      return await ask?.(request);
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
  return ({ server, request, ...declaring }) => {
    const name = inputName(declaring, request.id);
    return asking.run(name, async () => {
      const kept = await answers.get(name);
      if (kept !== undefined) return kept;
      const answer = await askSafely({ ...request, server });
      if (typeof answer !== 'string') return request.default;
      await answers.set(name, answer).catch(onError);
      return answer;
    });
  };
}

export const inputName = (declaring: Declaring, id: string) => `inputs/${declaredBy(declaring)}#${id}`;

/** A source without a file never gets what was answered to the host itself, which has no name. */
export const declaredBy = ({ file, provider }: Declaring) =>
  file ?? (provider === undefined ? '' : `provider:${provider}`);
