// Owns the MCP server behind the authorization server: it wants a token with every request, and answers 401 and 403 with the
// challenges of RFC 6750 and RFC 9728. It speaks both eras, each answer in one JSON document.

import { createHash } from 'node:crypto';
import { metadataAddress } from './documents.mjs';

const serverInfo = { name: 'protected', version: '1.0.0' };
const capabilities = { tools: {} };
const modernVersion = '2026-07-28';

export function createProtectedMcp(world, grants, era) {
  const { settings, counts } = world;

  const challenge = (fields) => {
    const named = settings.challengeNamesMetadata ? metadataAddress(world) : undefined;
    const all = { ...fields, ...(named && { resource_metadata: named }) };
    const scheme = settings.dpop ? 'DPoP' : 'Bearer';
    const text = Object.entries(all).map(([name, value]) => `${name}="${value}"`);
    return { 'www-authenticate': [scheme, text.join(', ')].join(' ').trim() };
  };

  const refuse = (response, status, fields, headers = {}) => {
    counts[status === 401 ? 'unauthorized' : 'forbidden'] += 1;
    response.writeHead(status, { 'content-type': 'application/json', ...challenge(fields), ...headers });
    response.end(JSON.stringify({ error: fields.error ?? 'unauthorized' }));
  };

  /** The login of the request, or `undefined` once it is refused. */
  const admit = (request, response, needed) => {
    const [, scheme, token] = /^(\w+) (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    const scope = settings.challengeScope ?? settings.scopes.join(' ');
    const asked = scope === '' ? {} : { scope };
    if (token === undefined) return refuse(response, 401, asked);
    const login = grants.login(token);
    if (login === undefined || (scheme === 'DPoP') !== (login.jkt !== undefined))
      return refuse(response, 401, { error: 'invalid_token', ...asked });
    if (login.jkt !== undefined) {
      const proof = grants.proofOf(request, new URL(request.url, world.place.origin));
      if (proof.error) return refuse(response, 401, { error: proof.error.value.error }, proof.error.headers);
      const ath = createHash('sha256').update(token).digest('base64url');
      if (proof.jkt !== login.jkt || proof.claims.ath !== ath) return refuse(response, 401, { error: 'invalid_token' });
    }
    const had = (login.scope ?? '').split(' ');
    if (needed.some((each) => !had.includes(each)))
      return refuse(response, 403, { error: 'insufficient_scope', scope: needed.join(' ') });
    return login;
  };

  const tools = () => ['echo', ...Object.keys(settings.toolScopes)];
  const methods = {
    ping: () => ({}),
    'server/discover': () => ({ supportedVersions: [modernVersion], capabilities }),
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities, serverInfo }),
    'tools/list': () => ({ tools: tools().map((name) => ({ name, inputSchema: { type: 'object' } })) }),
    'tools/call': ({ name, arguments: args = {} }) => {
      counts.calls += 1;
      return { content: [{ type: 'text', text: JSON.stringify({ name, args }) }] };
    },
  };
  const eras = { legacy: ['server/discover'], modern: ['initialize', 'ping'], both: [] };
  const stamp = (isModern, method) => {
    if (!isModern) return {};
    const listed = method === 'tools/call' ? {} : { ttlMs: 0, cacheScope: 'private' };
    return { resultType: 'complete', ...listed, _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } };
  };

  return (request, response, body) => {
    if (request.method === 'GET') return response.writeHead(405).end();
    if (request.method === 'DELETE') return response.writeHead(200).end();
    const { id, method, params = {} } = JSON.parse(body);
    const needed = [...settings.scopes, ...(settings.toolScopes[params.name]?.split(' ') ?? [])];
    if (admit(request, response, needed) === undefined) return;
    const isModern = params._meta?.['io.modelcontextprotocol/protocolVersion'] === modernVersion;
    const isKnown = Object.hasOwn(methods, method) && !eras[era].includes(method);
    if (id === undefined) return response.writeHead(202).end();
    const answer = isKnown
      ? { result: { ...stamp(isModern, method), ...methods[method](params) } }
      : { error: { code: -32601, message: `Method not found: ${method}` } };
    const session = method === 'initialize' ? { 'mcp-session-id': 'one' } : {};
    response.writeHead(isKnown || !isModern ? 200 : 404, { 'content-type': 'application/json', ...session });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  };
}
