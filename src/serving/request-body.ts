// Owns reading the body of an HTTP request within a size and a time.

import type { IncomingMessage } from 'node:http';

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

export function readBody(request: IncomingMessage, { messageBytes, whenLate }: BodyOptions): Promise<ReadBody> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > messageBytes) {
      resolve({ kind: 'too-large' });
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (outcome: ReadBody) => {
      onTime();
      if (outcome.kind !== 'read') request.pause();
      resolve(outcome);
    };
    const onTime = whenLate(() => end({ kind: 'too-slow' }));
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > messageBytes) end({ kind: 'too-large' });
      else chunks.push(chunk);
    });
    request.on('end', () => {
      const [only] = chunks;
      const whole = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
      end({ kind: 'read', text: whole.toString('utf8') });
    });
    // Also after an error, which Node keeps to itself without a listener.
    request.on('close', () => end({ kind: 'lost' }));
  });
}
