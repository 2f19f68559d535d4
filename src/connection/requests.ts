// Owns what a server asks of us: elicitation, sampling and roots reach the handlers of the view whose call is in
// flight, the same ones in both eras. Where it is unclear whose call it is, the server is declined.

import type { Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { ServerName } from '../model/names.ts';

export interface ElicitRequest {
  readonly server: ServerName;
  readonly mode: 'form' | 'url';
  readonly message: string;
  readonly requestedSchema?: JsonObject;
  readonly url?: string;
}

export interface ElicitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: JsonObject;
}

/** What a host, an agent or a gateway client can answer. Only what has a handler is advertised to servers. */
export interface InputHandlers {
  readonly elicit?: (request: ElicitRequest) => Promise<ElicitAnswer>;
  /** Takes and gives what the protocol defines for `sampling/createMessage`. */
  readonly sample?: (request: JsonObject & { readonly server: ServerName }) => Promise<JsonObject>;
  readonly roots?: () => Promise<ReadonlyArray<{ readonly uri: string; readonly name?: string }>>;
}

export const inputMethods = ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const;
export type InputMethod = (typeof inputMethods)[number];

export function isInputMethod(method: unknown): method is InputMethod {
  return inputMethods.some((known) => known === method);
}

/** A capability without a handler behind it would be a lie the server acts on. */
export function capabilitiesOf(handlers: InputHandlers): JsonObject {
  return {
    ...(handlers.elicit && { elicitation: { form: {}, url: {} } }),
    ...(handlers.sample && { sampling: {} }),
    ...(handlers.roots && { roots: {} }),
  };
}

const nobody: InputHandlers = {};

/** Whom a server may ask, on one session: the callers in flight, or whoever holds the session alone when nobody is. */
export class InputDesk {
  readonly #server: ServerName;
  /** Calls answered so far: proof that the server works. */
  served = 0;
  readonly #clock: Pick<Clock, 'now'>;
  #quietSince: number;
  readonly #holders = new Set<{ readonly inputs: InputHandlers }>();
  readonly #inFlight = new Map<InputHandlers, number>();

  constructor(server: ServerName, clock: Pick<Clock, 'now'>) {
    this.#server = server;
    this.#clock = clock;
    this.#quietSince = clock.now();
  }

  hold(inputs: InputHandlers): () => void {
    const holder = { inputs };
    this.#holders.add(holder);
    return () => this.#holders.delete(holder);
  }

  get isBusy(): boolean {
    return this.#inFlight.size > 0;
  }

  /** When the last call ended, or the session began. */
  get quietSince(): number {
    return this.#quietSince;
  }

  enter(caller: InputHandlers): void {
    this.#inFlight.set(caller, (this.#inFlight.get(caller) ?? 0) + 1);
  }

  leave(caller: InputHandlers): void {
    const left = (this.#inFlight.get(caller) ?? 1) - 1;
    if (left === 0) this.#inFlight.delete(caller);
    else this.#inFlight.set(caller, left);
    this.#quietSince = this.#clock.now();
  }

  /** A request of the older era does not say which call it belongs to; two callers in flight make it nobody's. */
  answerUnaddressed(method: InputMethod, params: JsonObject): Promise<JsonObject> {
    const [only, another] = this.#inFlight.keys();
    if (method !== 'roots/list' && another !== undefined) return this.answer(method, params, nobody);
    return this.answer(method, params, another === undefined && only !== undefined ? only : this.#owner(method));
  }

  /** Only those share a session whose roots are the same: any of them may name those. */
  #owner(method: InputMethod): InputHandlers {
    const [holder, another] = this.#holders;
    return holder === undefined || (another !== undefined && method !== 'roots/list') ? nobody : holder.inputs;
  }

  async answer(method: InputMethod, params: JsonObject, caller: InputHandlers): Promise<JsonObject> {
    switch (method) {
      case 'elicitation/create':
        return this.#elicit(params, caller);
      case 'sampling/createMessage':
        if (caller.sample === undefined) throw new DeclinedInput(method);
        return caller.sample({ ...params, server: this.#server });
      case 'roots/list':
        if (caller.roots === undefined) throw new DeclinedInput(method);
        return { roots: await caller.roots() };
    }
  }

  async #elicit(params: JsonObject, caller: InputHandlers): Promise<JsonObject> {
    const request = this.#elicitRequest(params);
    const answer: ElicitAnswer = (await caller.elicit?.(request)) ?? { action: 'decline' };
    if (answer.action !== 'accept' || request.mode !== 'form') return { ...answer };
    return { ...answer, content: { ...defaultsOf(request.requestedSchema), ...answer.content } };
  }

  #elicitRequest(params: JsonObject): ElicitRequest {
    const { mode, message, requestedSchema, url } = params;
    return {
      server: this.#server,
      mode: mode === 'url' ? 'url' : 'form',
      message: typeof message === 'string' ? message : '',
      ...(isObject(requestedSchema) && { requestedSchema }),
      ...(typeof url === 'string' && { url }),
    };
  }
}

/** What the server itself proposes for fields that were left out. */
function defaultsOf(schema: JsonObject | undefined): JsonObject {
  const properties = isObject(schema?.['properties']) ? schema['properties'] : {};
  const proposed = Object.entries(properties).flatMap(([name, field]) =>
    isObject(field) && field['default'] !== undefined ? [[name, field['default']] as const] : [],
  );
  return Object.fromEntries(proposed);
}

/** Nobody is there to answer; on the wire it becomes an error the server can act on. */
export class DeclinedInput extends Error {
  override readonly name = 'DeclinedInput';
  /** "Method not found", as the protocol says for a capability that was not advertised. */
  readonly code = -32601;

  constructor(method: string) {
    super(`nobody here answers ${method}`);
  }
}
