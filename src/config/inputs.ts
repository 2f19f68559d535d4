// Owns `${input:id}`: values that the user is asked for once. The answer is kept in the secret store, never in a configuration
// file.

import { SingleFlight } from '../kernel/single-flight.ts';
import type { ServerName } from '../model/names.ts';

/** A value that a file asks the user for. */
export interface InputRequest {
  readonly id: string;
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  /** Used when the user gives no answer. */
  readonly default?: string | undefined;
  /** The answer is hidden while it is typed. */
  readonly password: boolean;
  readonly options?: readonly string[] | undefined;
}

/** The store of given answers. */
export interface Answers {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
}

/** Supplied by the host; `undefined` means that there is no answer. */
export type AskInput = (request: InputRequest & { readonly server: ServerName }) => Promise<string | undefined>;

/** The source that declares an input: two files, or two sources without a file, may mean different things by one id. */
export interface InputSource {
  readonly file?: string | undefined;
  readonly provider?: string | undefined;
}

export interface InputQuestion extends InputSource {
  readonly server: ServerName;
  readonly request: InputRequest;
}

export interface InputDeps {
  readonly answers: Answers;
  readonly ask: AskInput | undefined;
  readonly onError: (error: unknown) => void;
}

/** The user is asked once, however many servers need the input at the same time. */
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
  return ({ server, request, ...source }) => {
    const name = inputName(source, request.id);
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

export const inputName = (source: InputSource, id: string) => `inputs/${inputSourceKey(source)}#${id}`;

/** A source without a file has a name of its own, never the empty one of the host program, so that it gets none of its answers. */
export const inputSourceKey = ({ file, provider }: InputSource) =>
  file ?? (provider === undefined ? '' : `provider:${provider}`);
