// Owns reading the body of an HTTP request within a size and a time.

import { Pieces } from '../transport/pieces.ts';
import type { ServedRequest } from './http-exchange.ts';
import { PlainRequest } from './plain-request.ts';

export type ReadBody =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'too-slow' }
  /** The client went away. */
  | { readonly kind: 'lost' };

export interface BodyOptions {
  readonly messageBytes: number;
  /** Calls back when the body has taken too long; returns how to stop waiting. */
  readonly whenLate: (giveUp: () => void) => () => void;
}

/** At once for a plain request. */
export function readBody(
  request: ServedRequest,
  { messageBytes, whenLate }: BodyOptions,
): ReadBody | Promise<ReadBody> {
  if (request instanceof PlainRequest)
    return request.bytes.length > messageBytes ? { kind: 'too-large' } : { kind: 'read', text: request.text() };
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > messageBytes) {
      resolve({ kind: 'too-large' });
      return;
    }
    const held = new Pieces();
    let isOver = false;
    const end = (outcome: ReadBody) => {
      if (isOver) return;
      isOver = true;
      stopWaiting();
      if (outcome.kind !== 'read') request.pause();
      resolve(outcome);
    };
    const stopWaiting = whenLate(() => end({ kind: 'too-slow' }));
    request.on('data', (chunk: Buffer) => {
      if (held.bytes + chunk.length > messageBytes) end({ kind: 'too-large' });
      else held.push(chunk);
    });
    request.on('end', () => end({ kind: 'read', text: held.takeText() }));
    // Also after an error, which Node keeps to itself without a listener.
    request.on('close', () => end({ kind: 'lost' }));
  });
}
