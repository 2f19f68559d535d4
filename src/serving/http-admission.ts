// Owns who gets in over HTTP: the name that a request came to, the web page that it came from, and its token. A request that does not
// get in is answered here.

import { type AllowedNames, type Authenticate, faultOfNames } from './access.ts';
import { refuse, refuseMethod } from './http-answers.ts';
import type { ServedRequest, ServedResponse } from './http-exchange.ts';
import { invalidRequest } from './protocol.ts';
import type { Principal } from './service.ts';

export interface AdmissionOptions extends AllowedNames {
  readonly authenticate: Authenticate;
}

export class HttpAdmission {
  readonly #options: AdmissionOptions;
  /** The Host of the latest request that was allowed. */
  #lastHost: string | undefined;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** The principal that sent the request; `undefined` if the request is answered already. */
  admit(request: ServedRequest, response: ServedResponse): Principal | undefined {
    const { host, origin } = request.headers;
    // Nearly all requests come to the name that the one before came to, and from no web page.
    if (host === undefined || host !== this.#lastHost || origin !== undefined) {
      const fault = faultOfNames(request, this.#options);
      if (fault !== undefined) {
        refuse(response, 403, invalidRequest(fault));
        return undefined;
      }
      this.#lastHost = host;
      this.#allowOrigin(origin, response);
    }
    if (request.method === 'OPTIONS') {
      answerPreflight(request, response);
      return undefined;
    }
    const principal = this.#options.authenticate(request);
    if (principal === undefined) {
      response.setHeader('www-authenticate', 'Bearer');
      refuse(response, 401, invalidRequest('The request needs the token of this server'));
    }
    return principal;
  }

  #allowOrigin(origin: string | undefined, response: ServedResponse): void {
    if (origin === undefined || !this.#options.origins.includes(origin)) return;
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate, Retry-After');
    response.setHeader('vary', 'Origin');
  }
}

/** Only a page that is listed learns what it may send. */
function answerPreflight({ headers }: ServedRequest, response: ServedResponse): void {
  if (!response.hasHeader('access-control-allow-origin')) {
    refuseMethod(response);
    return;
  }
  response.writeHead(204, {
    'access-control-allow-methods': 'POST, GET, DELETE',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? '',
    'access-control-max-age': '600',
  });
  response.end();
}
