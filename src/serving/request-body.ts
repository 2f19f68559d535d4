// Owns reading the body of an HTTP request within a size and a time.

import type { IncomingMessage } from 'node:http';
import type { Clock } from '../kernel/clock.ts';

export type ReadBody =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'too-slow' }
  /** The client went away. */
  | { readonly kind: 'lost' };

export interface BodyLimits {
  readonly messageBytes: number;
  readonly bodyMs: number;
}

export function readBody(
  request: IncomingMessage,
  { messageBytes, bodyMs }: BodyLimits,
  clock: Clock,
): Promise<ReadBody> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > messageBytes) {
      resolve({ kind: 'too-large' });
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stopTimer = clock.after(bodyMs, () => end({ kind: 'too-slow' }), 'background');
    const end = (outcome: ReadBody) => {
      stopTimer();
      if (outcome.kind !== 'read') request.pause();
      resolve(outcome);
    };
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
    request.on('close', () => end({ kind: 'lost' }));
    request.on('error', () => end({ kind: 'lost' }));
  });
}
