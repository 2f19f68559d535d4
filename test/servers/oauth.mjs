#!/usr/bin/env node
// Owns one process with an authorization server and, behind it, a small MCP server that wants its tokens. `oauth/` has the parts:
// `grants.mjs` the tokens, `documents.mjs` the metadata, `protected-mcp.mjs` the MCP server.
//
//   node oauth.mjs [--era legacy|modern|both] [--set JSON]
//
// Prints { url, issuer, control, port, pid } as one line of JSON when it listens, and exits at the end of its input.
//
// Control, for tests alone:
//   GET  /control           { counts, settings, requests }: how often what happened, and the last requests of each endpoint
//   POST /control           a JSON object of settings to change (below); answers like GET
//   POST /control/issue     { clientId?, scope? } → a login without the flow: a client that is known and its token response
//   POST /control/expire    access tokens given out so far are refused from now on; refresh tokens stay
//   POST /control/revoke    all tokens given out so far are refused from now on
//   POST /control/release   lets the requests go on that `hold` holds back
//
// Settings and what they are at first: see `settings` below.

import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { createDocuments } from './oauth/documents.mjs';
import { createGrants } from './oauth/grants.mjs';
import { createProtectedMcp } from './oauth/protected-mcp.mjs';

const { values } = parseArgs({
  options: { era: { type: 'string', default: 'both' }, set: { type: 'string', default: '{}' } },
});

const settings = {
  /** Which well-known documents of the authorization server exist: `oauth`, `oidc`, `both` or `none` (and then its default paths). */
  metadata: 'both',
  /** Fields of the authorization server's metadata that differ; `null` takes one out. */
  metadataFields: {},
  /** In place of any metadata document: { status, type, body } or { bytes } for so many bytes of JSON. */
  metadataAnswer: null,
  /** Where the protected-resource metadata lies: `path`, `root`, `elsewhere` (only the challenge knows) or `none`. */
  resourceMetadata: 'path',
  resourceFields: {},
  resourceAnswer: null,
  /** Whether the challenge of a 401 names the metadata, and which scope it names. */
  challengeNamesMetadata: true,
  challengeScope: null,
  /** Scopes a token needs for any request, and for a tool: { tool: 'scope' }. */
  scopes: [],
  toolScopes: {},
  /** The person at the authorization page: `approve`, `deny`, or an answer that lies: `no-state`, `wrong-state`, `wrong-iss`, `no-iss`, `no-code`. */
  person: 'approve',
  /** Lifetime of an access token in seconds, as it is said and as it is kept; `null` says nothing and keeps an hour. */
  expiresIn: 3600,
  /** Whether a refresh token is used up by a refresh; a used one that comes again revokes the whole login (reuse detection). */
  rotates: true,
  /** Whether a login has a refresh token at all. */
  refreshTokens: true,
  /** Fields of a token response that differ. */
  tokenFields: {},
  /** How the token endpoint answers: `null`, an OAuth error such as `invalid_grant`, a number, which is a status, or { status, value, headers, isStalled }; for refreshes alone: `refreshFault`. */
  tokenFault: null,
  refreshFault: null,
  /** Refreshes wait for `/control/release`: `before` anything happened, or `after` the token was rotated. */
  hold: null,
  /** Answers `invalid_target` where a request has `resource`: everywhere, or at the token endpoint alone. */
  refusesResource: false,
  refusesResourceAtToken: false,
  /** Tokens are bound by DPoP; with `nonce`, proofs need the one that the server gives: another one for another value. */
  dpop: false,
  nonce: false,
};
Object.assign(settings, JSON.parse(values.set));

const KEPT_REQUESTS = 100;

const counts = {
  metadata: 0,
  registrations: 0,
  authorizations: 0,
  exchanges: 0,
  /** Requests for a refresh, those that were granted, and those with a refresh token that was used up. */
  refreshRequests: 0,
  refreshes: 0,
  reuses: 0,
  machineGrants: 0,
  revocations: 0,
  /** At the MCP server: refusals with 401 and 403, and tool calls that were performed. */
  unauthorized: 0,
  forbidden: 0,
  calls: 0,
};
const requests = [];
const place = { origin: '' };
const world = { settings, counts, place, note: (entry) => requests.push(entry) > KEPT_REQUESTS && requests.shift() };
const grants = createGrants(world);
const documents = createDocuments(world);
const mcp = createProtectedMcp(world, grants, values.era);

const bodyOf = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

/** A body that stalls never ends. */
const send = (response, status, value, { headers = {}, isStalled = false } = {}) => {
  const text = headers['content-type'] === undefined ? JSON.stringify(value) : String(value);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).write(text);
  if (!isStalled) response.end();
};

const control = {
  '/control': (body) => {
    if (body !== '') Object.assign(settings, JSON.parse(body));
    return { counts, settings, requests };
  },
  '/control/issue': (body) => grants.issue(body === '' ? {} : JSON.parse(body)),
  '/control/expire': () => grants.expire(),
  '/control/revoke': () => grants.revokeAll(),
  '/control/release': () => grants.release(),
};

async function answer(request, response) {
  const url = new URL(request.url, place.origin);
  const body = await bodyOf(request);
  const known = control[url.pathname];
  if (known) return send(response, 200, known(body) ?? {});
  if (url.pathname === '/mcp') return mcp(request, response, body);
  const document = documents(url.pathname);
  if (document) return document(response);
  const endpoint = grants.endpoints[`${request.method} ${url.pathname}`];
  if (endpoint === undefined) return send(response, 404, { error: 'not_found' });
  const type = request.headers['content-type'] ?? '';
  const form = type.startsWith('application/x-www-form-urlencoded')
    ? Object.fromEntries(new URLSearchParams(body))
    : {};
  const json = type.startsWith('application/json') ? JSON.parse(body) : {};
  const input = { ...Object.fromEntries(url.searchParams), ...form, ...json };
  world.note({ endpoint: `${request.method} ${url.pathname}`, input, headers: request.headers });
  const { status, value, ...more } = await endpoint(input, { request, url });
  if (status === 'hang-up') return response.destroy();
  send(response, status, value, more);
}

const server = createServer((request, response) => {
  response.on('error', () => undefined);
  answer(request, response).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    response.destroy();
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  place.origin = `http://127.0.0.1:${port}`;
  const addresses = { url: `${place.origin}/mcp`, issuer: place.origin, control: `${place.origin}/control` };
  process.stdout.write(`${JSON.stringify({ ...addresses, port, pid: process.pid })}\n`);
});
process.stdin.on('end', () => process.exit(0)).resume();
