// Owns what `plexus connect` remembers of its client, so that the client survives the death of a gateway: its introduction, its
// subscriptions, its requests without an answer and its open questions. Pure: messages in, messages out. A call is never sent twice.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import type { MessageId } from '../../model/server.ts';

/** The messages after the loss of a gateway: for the client at once, and for the next gateway before anything else. */
export interface Recovery {
  readonly toClient: readonly JsonObject[];
  readonly toGateway: readonly string[];
}

/** A request without an answer, so far. The text of a call is not kept: it is never sent again. */
interface OpenRequest {
  readonly id: MessageId;
  readonly method: string;
  readonly params: JsonObject;
  readonly text: string | undefined;
}

export interface MemoryOptions {
  /** Begins the ids of replayed requests, and no id of the client's. */
  readonly replayPrefix: string;
  /** Makes the answer to a call that a gateway took with it. */
  readonly outcomeUnknown: (id: MessageId, tool: string) => JsonObject;
  /** The next gateway refused the introduction that the one before had accepted. */
  readonly onRefused: (error: unknown) => void;
}

/** Requests that change nothing: they are asked again where no answer came. */
const REPEATABLE: ReadonlySet<unknown> = new Set([
  'ping',
  'initialize',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
]);

const LISTS = ['tools', 'prompts', 'resources'] as const;
const NO_PARAMS: JsonObject = {};
/** Ends the id of a replayed `initialize`. */
const INTRODUCTION = ' initialize';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

export class ClientMemory {
  readonly #options: MemoryOptions;
  /** How many gateways were lost. */
  #losses = 0;
  #introduction: JsonObject | undefined;
  /** The capabilities that the gateway answered with. */
  #offered: JsonObject | undefined;
  #isInitialized = false;
  #level: JsonObject | undefined;
  readonly #subscriptions = new Map<string, JsonObject>();
  readonly #unanswered = new Map<MessageId, OpenRequest>();
  /** Modern subscriptions that the client was told of before, and that were opened again. */
  readonly #reopened = new Set<MessageId>();
  /** The gateway's open questions: the id that the client knows, and the gateway's own. */
  readonly #questions = new Map<MessageId, MessageId>();

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  /** The text as the gateway is to get it; `undefined` for an answer to a question of a gateway that is gone. */
  fromClient(message: JsonObject, text: string): string | undefined {
    const { id, method } = message;
    if (typeof method !== 'string') return method === undefined ? this.#answerOf(message, text) : text;
    const params = isObject(message['params']) ? message['params'] : NO_PARAMS;
    if (isId(id)) this.#open(id, method, { params, text });
    else if (method === 'notifications/initialized') this.#isInitialized = true;
    else if (method === 'notifications/cancelled' && isId(params['requestId']))
      this.#unanswered.delete(params['requestId']);
    return text;
  }

  #open(id: MessageId, method: string, { params, text }: Pick<OpenRequest, 'params' | 'text'>): void {
    const isRepeatable = REPEATABLE.has(method);
    const kept = isRepeatable ? params : { name: params['name'] };
    this.#unanswered.set(id, { id, method, params: kept, text: isRepeatable ? text : undefined });
  }

  #answerOf(message: JsonObject, text: string): string | undefined {
    const known = message['id'];
    const own = isId(known) ? this.#questions.get(known) : undefined;
    if (own === undefined) return undefined;
    this.#questions.delete(known as MessageId);
    return own === known ? text : JSON.stringify({ ...message, id: own });
  }

  /** The text as the client is to get it; `undefined` for a message that only recovery asked for. */
  fromGateway(message: JsonObject, text: string): string | undefined {
    const { id, method } = message;
    if (method === undefined) return this.#passAnswer(message) ? text : undefined;
    if (isId(id)) return this.#passQuestion(message, { own: id, text });
    const params = isObject(message['params']) ? message['params'] : NO_PARAMS;
    if (method === 'notifications/cancelled') return this.#passWithdrawal(message, { params, text });
    if (method === 'notifications/subscriptions/acknowledged' && this.#isKnownSubscription(params)) return undefined;
    return text;
  }

  #passAnswer({ id, result, error }: JsonObject): boolean {
    if (!isId(id)) return true;
    if (typeof id === 'string' && id.startsWith(this.#options.replayPrefix)) {
      if (id.endsWith(INTRODUCTION) && error !== undefined) this.#options.onRefused(error);
      return false;
    }
    const request = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    if (request !== undefined && isObject(result)) this.#learn(request, result);
    return true;
  }

  /** State that the gateway has taken on for this client, and that the next one has to get. */
  #learn({ method, params }: OpenRequest, result: JsonObject): void {
    const uri = String(params['uri']);
    if (method === 'initialize') {
      this.#introduction = params;
      this.#offered = isObject(result['capabilities']) ? result['capabilities'] : NO_PARAMS;
    } else if (method === 'logging/setLevel') this.#level = params;
    else if (method === 'resources/subscribe') this.#subscriptions.set(uri, params);
    else if (method === 'resources/unsubscribe') this.#subscriptions.delete(uri);
  }

  /** Each gateway numbers its questions from one: after a loss the same number means another question. */
  #passQuestion(message: JsonObject, { own, text }: { readonly own: MessageId; readonly text: string }): string {
    const known = this.#losses === 0 ? own : `${own}.${this.#losses}`;
    this.#questions.set(known, own);
    return known === own ? text : JSON.stringify({ ...message, id: known });
  }

  #passWithdrawal(
    message: JsonObject,
    { params, text }: Pick<OpenRequest, 'params'> & { readonly text: string },
  ): string {
    const [known] = [...this.#questions].find(([, own]) => own === params['requestId']) ?? [];
    if (known === undefined) return text;
    this.#questions.delete(known);
    return JSON.stringify({ ...message, params: { ...params, requestId: known } });
  }

  #isKnownSubscription(params: JsonObject): boolean {
    const meta = isObject(params['_meta']) ? params['_meta'] : {};
    return this.#reopened.delete(meta[SUBSCRIPTION] as MessageId);
  }

  /** The gateway is gone. Calls end with an unknown outcome, all else is asked again, and the client is told of what it may have missed. */
  lost(): Recovery {
    this.#losses++;
    const unanswered = [...this.#unanswered.values()];
    const calls = unanswered.filter(({ text }) => text === undefined);
    for (const { id } of calls) this.#unanswered.delete(id);
    for (const { id, method } of unanswered) if (method === 'subscriptions/listen') this.#reopened.add(id);
    const withdrawn = [...this.#questions.keys()].map((requestId) =>
      notification('notifications/cancelled', { requestId }),
    );
    this.#questions.clear();
    const ended = calls.map(({ id, params }) => this.#options.outcomeUnknown(id, String(params['name'] ?? '')));
    return {
      toClient: [...withdrawn, ...ended, ...this.#missed()],
      toGateway: [...this.#introductions(), ...unanswered.flatMap(({ text }) => text ?? [])],
    };
  }

  #missed(): readonly JsonObject[] {
    if (!this.#isInitialized) return [];
    const changing = LISTS.filter((list) => {
      const offer = this.#offered?.[list];
      return isObject(offer) && offer['listChanged'] === true;
    });
    return [
      ...changing.map((list) => notification(`notifications/${list}/list_changed`)),
      ...[...this.#subscriptions.keys()].map((uri) => notification('notifications/resources/updated', { uri })),
    ];
  }

  #introductions(): readonly string[] {
    if (this.#introduction === undefined) return [];
    const replayed = (method: string, params: JsonObject, name: string) => ({
      ...{ jsonrpc: '2.0', id: `${this.#options.replayPrefix}${this.#losses}${name}`, method, params },
    });
    return [
      replayed('initialize', this.#introduction, INTRODUCTION),
      ...(this.#isInitialized ? [notification('notifications/initialized')] : []),
      ...(this.#level === undefined ? [] : [replayed('logging/setLevel', this.#level, ' level')]),
      ...[...this.#subscriptions.values()].map((params, at) => replayed('resources/subscribe', params, ` ${at}`)),
    ].map((message) => JSON.stringify(message));
  }

  /** Whether an answer is to come that needs nothing more of the client. */
  get awaitsAnswer(): boolean {
    const isEndless = ({ method }: OpenRequest) => method === 'subscriptions/listen';
    return this.#questions.size === 0 && [...this.#unanswered.values()].some((request) => !isEndless(request));
  }

  /** The answers to all requests, when no gateway can be had. */
  giveUp(fault: { readonly code: number; readonly message: string; readonly data?: unknown }): readonly JsonObject[] {
    const ids = [...this.#unanswered.keys()];
    this.#unanswered.clear();
    return ids.map((id) => ({ jsonrpc: '2.0', id, error: fault }));
  }
}

const isId = (value: unknown): value is MessageId => typeof value === 'string' || Number.isSafeInteger(value);

const notification = (method: string, params?: JsonObject): JsonObject => ({
  jsonrpc: '2.0',
  method,
  ...(params && { params }),
});
