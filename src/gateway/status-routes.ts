// Owns the gateway's addresses beside MCP: whether it lives and is ready, its counts, its page, and how it is ended. A page without
// the token names nothing of the person's.

import type { ServerStatus } from '../connection/status.ts';
import { visible } from '../kernel/shell-word.ts';
import { type Authenticate, faultOfNames } from '../serving/access.ts';
import type { HttpHandler, ServedResponse } from '../serving/http-exchange.ts';
import { type GatewayCounts, metricsText, type WorkspaceStatus } from './metrics-text.ts';

export interface StatusRoutesOptions {
  /** Names by which the gateway is reached. */
  readonly hosts: readonly string[];
  /** Knows the admin token, and no other. */
  readonly isAdmin: Authenticate;
  /** Knows the tokens whose holders may read the names of servers. */
  readonly mayRead: Authenticate;
  /** False from the moment on at which the gateway begins to stop. */
  readonly isReady: () => boolean;
  readonly measured: () => Promise<GatewayCounts>;
  /** Ends the gateway, as a signal would. */
  readonly stop: () => void;
}

export function statusRoutes(options: StatusRoutesOptions): ReadonlyMap<string, HttpHandler> {
  const { hosts, isAdmin, mayRead, isReady, measured, stop } = options;
  const guarded =
    (method: 'GET' | 'POST', answer: HttpHandler): HttpHandler =>
    (request, response) => {
      const fault = faultOfNames(request, { hosts, origins: [] });
      if (fault !== undefined) return send(response, 403, `${fault}.`);
      const isAsked = request.method === method || (method === 'GET' && request.method === 'HEAD');
      if (!isAsked) return send(response.setHeader('allow', method), 405, `Use ${method}.`);
      return answer(request, response);
    };
  const forAdmin =
    (answer: HttpHandler): HttpHandler =>
    (request, response) =>
      isAdmin(request) === undefined ? needsToken(response) : answer(request, response);

  return new Map<string, HttpHandler>([
    ['/healthz', guarded('GET', (_, response) => send(response, 200, 'ok'))],
    [
      '/readyz',
      guarded('GET', (_, response) => (isReady() ? send(response, 200, 'ready') : send(response, 503, 'not ready'))),
    ],
    [
      '/metrics',
      guarded(
        'GET',
        forAdmin(async (_, response) => send(response, 200, metricsText(await measured()), METRICS_TYPE)),
      ),
    ],
    [
      '/stop',
      guarded(
        'POST',
        forAdmin((_, response) => {
          send(response, 202, 'The gateway stops.');
          stop();
        }),
      ),
    ],
    [
      '/',
      guarded('GET', async (request, response) => {
        const { fleets, sessions } = await measured();
        const isKnown = mayRead(request) !== undefined;
        send(response, 200, pageOf({ fleets, sessions, isReady: isReady(), isKnown }));
      }),
    ],
  ]);
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

function send(response: ServedResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  const body = text.endsWith('\n') ? text : `${text}\n`;
  response.writeHead(status, {
    ...{ 'content-type': type, 'content-length': Buffer.byteLength(body) },
    ...{ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  });
  response.end(body);
}

function needsToken(response: ServedResponse): void {
  send(response.setHeader('www-authenticate', 'Bearer'), 401, 'The request needs the admin token of this gateway.');
}

interface Page extends Pick<GatewayCounts, 'fleets' | 'sessions'> {
  readonly isReady: boolean;
  readonly isKnown: boolean;
}

/** Plain text: a name that holds markup is only text. */
function pageOf({ fleets, sessions, isReady, isKnown }: Page): string {
  const statuses = fleets.flatMap(({ servers }) => servers);
  const up = statuses.filter(({ status }) => status === 'connected').length;
  const configured = new Set(statuses.map(({ name }) => name)).size;
  const folders = fleets.length - 1;
  const lines = [
    `Plexus gateway: ${isReady ? 'ready' : 'not ready'}`,
    `${counted(configured, 'server')}, ${up} running${folders > 0 ? `, in ${counted(folders, 'folder')} besides its own` : ''}`,
    counted(sessions.legacy + sessions.modern, 'session'),
  ];
  const names = isKnown ? fleets.flatMap(fleetLines) : ['', 'Names are shown with the token of the gateway.'];
  return [...lines, ...names].join('\n');
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Each workspace has its own servers: a name that stands twice is another process. */
const fleetLines = ({ workspace, servers }: WorkspaceStatus) => [
  '',
  workspace === undefined ? 'For clients that name no folder:' : `For clients in ${visible(workspace)}:`,
  ...(servers.length === 0 ? ['  no servers'] : servers.map((status) => `  ${lineOf(status)}`)),
];

const lineOf = ({ name, state, toolCount, reason }: ServerStatus) =>
  `${name}  ${state}  ${toolCount} tools${reason === undefined ? '' : `  ${reason}`}`;
