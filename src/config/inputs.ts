// Owns `${input:id}`: values that the user is asked for once. The answer is kept in the secret store, never in a configuration
// file.

import { SingleFlight } from '../kernel/single-flight.ts';
import type { ServerName } from '../model/names.ts';
import type { InputRequest, ServerDefinition } from '../model/server.ts';
import { inputsRead } from './referenced-variables.ts';

/** The store of given answers. */
export interface Answers {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
}

export interface InputOptions {
  /** Aborts when no server waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Supplied by the host; `undefined` means that there is no answer. A host that shows a prompt closes it when the signal aborts. */
export type AskInput = (
  request: InputRequest & { readonly server: ServerName },
  options: InputOptions,
) => Promise<string | undefined>;

/** The source that declares an input: two files, or two sources without a file, may mean different things by one id. */
export interface InputSource {
  readonly file?: string | undefined;
  readonly provider?: string | undefined;
}

export interface InputQuestion extends InputSource {
  readonly server: ServerName;
  readonly request: InputRequest;
  /** The default fills the input where the user gives no answer. Never for a default that a repository wrote. */
  readonly usesDefault: boolean;
  /** Aborts when the server is not opened any more. */
  readonly signal: AbortSignal;
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
  const waiting = new Map<string, Waiting>();
  const askSafely: AskInput = async (request, options) => {
    try {
      return await ask?.(request, options);
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
  return ({ server, request, usesDefault, signal, ...source }) => {
    const name = inputName(source, request.id);
    const servers = waiting.get(name) ?? new Waiting();
    waiting.set(name, servers);
    const leave = servers.add(signal);
    const answered = asking.run(name, async () => {
      const kept = await answers.get(name);
      if (kept !== undefined) return kept;
      const answer = await askSafely({ ...request, server }, { signal: servers.abandoned });
      if (typeof answer !== 'string') return usesDefault ? request.default : undefined;
      await answers.set(name, answer).catch(onError);
      return answer;
    });
    return answered.finally(() => {
      leave();
      if (waiting.get(name) === servers) waiting.delete(name);
    });
  };
}

/** The servers that wait for one answer: the question is withdrawn when the last of them has given up. */
class Waiting {
  readonly #controller = new AbortController();
  #count = 0;

  get abandoned(): AbortSignal {
    return this.#controller.signal;
  }

  /** Returns a function that ends the server's waiting. */
  add(signal: AbortSignal): () => void {
    this.#count += 1;
    const giveUp = () => {
      this.#count -= 1;
      if (this.#count === 0) this.#controller.abort(signal.reason);
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
    return () => signal.removeEventListener('abort', giveUp);
  }
}

/** The definition with the inputs that it reads. One that its file does not declare is a secret without a default. */
export function withInputs(definition: ServerDefinition, declared: readonly InputRequest[]): ServerDefinition {
  const ids = inputsRead(definition);
  if (ids.length === 0) return definition;
  const inputs = ids.map((id) => declared.find((each) => each.id === id) ?? { id, password: true });
  return Object.freeze({ ...definition, inputs: Object.freeze(inputs) });
}

export const inputName = (source: InputSource, id: string) => `inputs/${inputSourceKey(source)}#${id}`;

/** A source without a file has a name of its own, never the empty one of the host program, so that it gets none of its answers. */
export const inputSourceKey = ({ file, provider }: InputSource) =>
  file ?? (provider === undefined ? '' : `provider:${provider}`);
