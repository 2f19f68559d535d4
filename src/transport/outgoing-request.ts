// Owns the shape of one message on its way out over HTTP, and how its id is read and recognized.

import type { Message, MessageId } from '../model/server.ts';
import type { Target } from './exchange.ts';
import type { HeaderBlock } from './http-headers.ts';

export interface OutgoingRequest {
  readonly target: Target;
  readonly headers: HeaderBlock;
  readonly body: string;
  readonly method: string | undefined;
  /** Set for a request; notifications and answers of the client get no answer. */
  readonly id: MessageId | undefined;
  /** Where the answer arrives: in the HTTP response, or on the one event stream that the SSE channel reads. */
  readonly answerOn: 'response' | 'shared-stream';
  readonly repeatable: boolean;
  /** A `tools/call` that may have had an effect. */
  readonly mustNotRepeat: boolean;
  /** Called each time the message is sent once more. */
  readonly onRepeat: (() => void) | undefined;
  /** The session that the message belongs to. */
  readonly session: string | undefined;
  /** The headers that resume a broken response stream; `undefined` where streams are not resumed. */
  readonly resumeHeaders: HeaderBlock | undefined;
}

export function idOf({ id }: Message): MessageId | undefined {
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** A request of the server may carry the same id and is no answer. */
export function isAnswerTo(id: MessageId | undefined, message: Message): boolean {
  return message['id'] === id && message['method'] === undefined;
}
