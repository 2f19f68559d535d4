// Owns one request whose short response is read as a whole, in the shape of `fetch`.

import { RuntimeError } from '../model/errors.ts';
import type { HttpClient, HttpRequest, ResponseHeaders } from './exchange.ts';
import { Pieces } from './pieces.ts';

export interface TextResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly text: string;
}

export interface FetchTextOptions {
  readonly maxBytes: number;
  /** Aborting it closes the connection. */
  readonly signal?: AbortSignal;
}

/** Rejects with the cause of the failure, or with the signal's reason. */
export function fetchText(client: HttpClient, request: HttpRequest, options: FetchTextOptions): Promise<TextResponse> {
  const { maxBytes, signal } = options;
  return new Promise((resolve, reject) => {
    const body = new Pieces();
    let status = 0;
    let headers: ResponseHeaders = {};
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
