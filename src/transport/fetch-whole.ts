// Owns the short question: one request whose answer is wanted as a whole, in the shape of `fetch`.

import { RuntimeError } from '../model/errors.ts';
import type { AnswerHeaders, HttpClient, HttpRequest } from './exchange.ts';
import { Pieces } from './pieces.ts';

export interface WholeAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
}

export interface Patience {
  readonly maxBytes: number;
  /** Aborting it closes the connection. */
  readonly signal?: AbortSignal;
}

/** A question with a short answer, in the shape of `fetch`. Rejects with the failure's cause, or the signal's reason. */
export function fetchWhole(client: HttpClient, request: HttpRequest, patience: Patience): Promise<WholeAnswer> {
  const { maxBytes, signal } = patience;
  return new Promise((resolve, reject) => {
    const body = new Pieces();
    let status = 0;
    let headers: AnswerHeaders = {};
    const giveUp = (reason: unknown) => {
      exchange.abort();
      reject(reason);
    };
    const onAbort = () => giveUp(signal?.reason);
    const exchange = client.exchange(request, {
      head(code, fields) {
        status = code;
        headers = fields;
      },
      data(chunk) {
        body.push(chunk);
        if (body.bytes > maxBytes) {
          giveUp(new RuntimeError('MESSAGE_TOO_LARGE', { server: client.server, limitBytes: maxBytes }));
        }
      },
      end() {
        signal?.removeEventListener('abort', onAbort);
        resolve({ status, headers, text: body.take().toString('utf8') });
      },
      failed({ cause }) {
        signal?.removeEventListener('abort', onAbort);
        reject(cause);
      },
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
  });
}
