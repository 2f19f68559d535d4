// Owns who gets in over HTTP: the name that a request came to, the web page that it came from, and its token. A request that does not
// get in is answered here.

import { Roster } from '../kernel/roster.ts';
import { type AllowedNames, type Authenticate, faultOfNames } from './access.ts';
import { refuse, refuseMethod, type Visit } from './http-answers.ts';
import type { ServedRequest, ServedResponse } from './http-exchange.ts';
import { invalidRequest } from './protocol.ts';
import type { Principal } from './service.ts';

export interface AdmissionOptions extends AllowedNames {
  readonly authenticate: Authenticate;
}

interface WaitingVisit {
  readonly principal: Principal;
  /** The access of its principal was withdrawn while it waited. */
  isRefused: boolean;
}

export class HttpAdmission {
  readonly #options: AdmissionOptions;
  /** The Host of the latest request that was allowed. */
  #lastHost: string | undefined;
  /** Requests that were admitted, and wait for their body or for the answer to `initialize`. */
  readonly #waiting = new Roster<WaitingVisit>();

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
    if (principal === undefined) refuseAccess(response);
    return principal;
  }

  /** Goes on with a request that had to wait, unless the access of its principal was withdrawn meanwhile. */
  async afterWait<Value>(
    { response, principal }: Visit,
    wait: Promise<Value>,
    goOn: (value: Value) => Promise<void> | void,
  ): Promise<void> {
    const waiting: WaitingVisit = { principal, isRefused: false };
    const place = this.#waiting.add(waiting);
    const value = await wait.finally(() => this.#waiting.remove(place));
    if (waiting.isRefused) refuseAccess(response);
    else await goOn(value);
  }

  /** Refuses the requests of some principals that wait. */
  withdraw(isMeant: (principal: Principal) => boolean): void {
    for (const waiting of this.#waiting.items()) if (isMeant(waiting.principal)) waiting.isRefused = true;
  }

  #allowOrigin(origin: string | undefined, response: ServedResponse): void {
    if (origin === undefined || !this.#options.origins.includes(origin)) return;
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate, Retry-After');
    response.setHeader('vary', 'Origin');
  }
}

function refuseAccess(response: ServedResponse): void {
  response.setHeader('www-authenticate', 'Bearer');
  refuse(response, 401, invalidRequest('The request needs the token of this server'));
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
