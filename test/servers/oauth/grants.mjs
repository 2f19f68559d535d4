// Owns the tokens of the authorization server: clients, codes, access and refresh tokens, which rotate, and the detection of a
// refresh token that is used twice. What is said of it is in `documents.mjs`.

import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto';

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const random = (prefix) => `${prefix}-${randomBytes(24).toString('base64url')}`;
const refuse = (error, description, status = 400) => ({ status, value: { error, error_description: description } });
const KEPT_FOR_S = 3600;

export function createGrants({ settings, counts, place }) {
  const clients = new Map();
  const codes = new Map();
  /** By access token: { login, expiresAt, jkt }. */
  const accessTokens = new Map();
  /** By refresh token: { login, used }. A login is one grant of a person with all tokens that came of it. */
  const refreshTokens = new Map();
  const held = [];
  const nonces = random('nonce');

  const give = (login) => {
    const accessToken = random('access');
    const lifetime = settings.expiresIn ?? KEPT_FOR_S;
    accessTokens.set(accessToken, { login, expiresAt: Date.now() + lifetime * 1000 });
    const refreshToken = settings.refreshTokens && !login.isMachine ? random('refresh') : undefined;
    if (refreshToken) refreshTokens.set(refreshToken, { login, used: false });
    return {
      access_token: accessToken,
      token_type: login.jkt ? 'DPoP' : 'Bearer',
      ...(settings.expiresIn !== null && { expires_in: settings.expiresIn }),
      ...(refreshToken && { refresh_token: refreshToken }),
      ...(login.scope && { scope: login.scope }),
      ...settings.tokenFields,
    };
  };
  const granted = (login) => ({ status: 200, value: give(login), headers: { 'cache-control': 'no-store' } });

  const untilReleased = () => new Promise((resolve) => held.push(resolve));

  /** Who asks: by Basic, by a secret in the body, by an assertion, or by its id alone. */
  const clientOf = (input, request) => {
    const [, encoded] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    if (encoded) {
      const [id, secret] = Buffer.from(encoded, 'base64').toString('utf8').split(':').map(decodeURIComponent);
      return clients.get(id)?.client_secret === secret ? clients.get(id) : undefined;
    }
    if (input.client_assertion !== undefined) {
      if (input.client_assertion_type !== ASSERTION) return undefined;
      const { iss, sub, aud } = claimsOf(input.client_assertion);
      return iss === sub && [aud].flat().some((each) => each === place.origin || each === `${place.origin}/token`)
        ? (clients.get(iss) ?? { client_id: iss })
        : undefined;
    }
    const client =
      clients.get(input.client_id) ?? (isDocument(input.client_id) ? { client_id: input.client_id } : undefined);
    return client?.client_secret === undefined || client.client_secret === input.client_secret ? client : undefined;
  };

  /** The thumbprint of the key that signed the proof; an error answer where the proof is wrong. */
  const proofOf = (request, url) => {
    if (!settings.dpop) return {};
    const problem = problemOf(request.headers.dpop, { method: request.method, url: `${url.origin}${url.pathname}` });
    if (problem.error) return { error: { ...refuse('invalid_dpop_proof', problem.error), headers: {} } };
    const nonce = `${nonces}-${settings.nonce}`;
    if (settings.nonce && problem.claims.nonce !== nonce)
      return { error: { ...refuse('use_dpop_nonce', 'a nonce is needed'), headers: { 'dpop-nonce': nonce } } };
    return { jkt: problem.jkt, claims: problem.claims };
  };

  const exchange = (input, client, jkt) => {
    const code = codes.get(input.code);
    codes.delete(input.code);
    if (code === undefined || code.client_id !== client.client_id) return refuse('invalid_grant', 'no such code');
    if (code.redirect_uri !== input.redirect_uri) return refuse('invalid_grant', 'another redirect_uri');
    const challenge = createHash('sha256')
      .update(input.code_verifier ?? '')
      .digest('base64url');
    if (code.code_challenge !== challenge) return refuse('invalid_grant', 'the verifier does not fit');
    counts.exchanges += 1;
    return granted({ client_id: client.client_id, scope: code.scope, resource: code.resource, jkt });
  };

  const refresh = async (input, client, jkt) => {
    counts.refreshRequests += 1;
    if (settings.hold === 'before') await untilReleased();
    const fault = faultOf(settings.refreshFault);
    if (fault) return fault;
    const token = refreshTokens.get(input.refresh_token);
    if (token === undefined || token.login.isRevoked || token.login.client_id !== client.client_id)
      return refuse('invalid_grant', 'no such refresh token');
    if (token.login.jkt !== jkt) return refuse('invalid_grant', 'the refresh token is bound to another key');
    if (token.used) {
      counts.reuses += 1;
      token.login.isRevoked = true;
      return refuse('invalid_grant', 'the refresh token was used twice; the login is revoked');
    }
    token.used = settings.rotates;
    counts.refreshes += 1;
    const answer = granted(token.login);
    if (!settings.rotates) delete answer.value.refresh_token;
    if (settings.hold === 'after') await untilReleased();
    return answer;
  };

  const machine = (input, client, jkt) => {
    counts.machineGrants += 1;
    return granted({ client_id: client.client_id, scope: input.scope, resource: input.resource, isMachine: true, jkt });
  };

  const byGrant = {
    authorization_code: exchange,
    refresh_token: refresh,
    client_credentials: machine,
    'urn:ietf:params:oauth:grant-type:jwt-bearer': machine,
  };

  const authorize = (input) => {
    counts.authorizations += 1;
    const { redirect_uri, state, client_id } = input;
    const known = clients.get(client_id);
    if (known === undefined && !isDocument(client_id)) return refuse('invalid_client', 'unknown client');
    if (known && !known.redirect_uris.includes(redirect_uri)) return refuse('invalid_request', 'unknown redirect_uri');
    if (settings.refusesResource && input.resource) return refuse('invalid_target', 'no resource, please');
    const back = new URL(redirect_uri);
    const say = (fields) => {
      for (const [name, value] of Object.entries(fields)) if (value !== undefined) back.searchParams.set(name, value);
      return { status: 302, value: {}, headers: { location: back.href } };
    };
    const iss =
      settings.person === 'no-iss' ? undefined : settings.person === 'wrong-iss' ? 'http://127.0.0.1:9' : place.origin;
    const echoed = settings.person === 'no-state' ? undefined : settings.person === 'wrong-state' ? 'another' : state;
    if (settings.person === 'deny')
      return say({ error: 'access_denied', error_description: 'the person said no', state, iss });
    if (settings.person === 'no-code') return say({ state, iss });
    const code = random('code');
    codes.set(code, { ...input });
    return say({ code, state: echoed, iss });
  };

  const register = (input) => {
    counts.registrations += 1;
    const client_id = random('client');
    const isSecret = input.token_endpoint_auth_method && input.token_endpoint_auth_method !== 'none';
    const client = { ...input, client_id, ...(isSecret && { client_secret: random('secret') }) };
    clients.set(client_id, client);
    return { status: 201, value: client };
  };

  const token = async (input, { request, url }) => {
    const client = clientOf(input, request);
    if (client === undefined) return refuse('invalid_client', 'unknown client', 401);
    const fault = faultOf(settings.tokenFault);
    if (fault) return fault;
    if ((settings.refusesResource || settings.refusesResourceAtToken) && input.resource)
      return refuse('invalid_target', 'no resource, please');
    const { error, jkt } = proofOf(request, url);
    if (error) return error;
    const grant = byGrant[input.grant_type];
    return grant ? grant(input, client, jkt) : refuse('unsupported_grant_type', input.grant_type);
  };

  const revoke = (input) => {
    counts.revocations += 1;
    const found = refreshTokens.get(input.token) ?? accessTokens.get(input.token);
    if (found) found.login.isRevoked = true;
    return { status: 200, value: {} };
  };

  return {
    endpoints: {
      'GET /authorize': authorize,
      'POST /token': token,
      'POST /register': register,
      'POST /revoke': revoke,
    },
    /** What an access token may do; `undefined` for one that is not good (any more). */
    login(accessToken) {
      const known = accessTokens.get(accessToken);
      if (known === undefined || known.login.isRevoked || known.expiresAt <= Date.now()) return undefined;
      return known.login;
    },
    proofOf,
    issue({ clientId = random('client'), scope = '' }) {
      const client = { client_id: clientId, redirect_uris: [], token_endpoint_auth_method: 'none' };
      clients.set(clientId, clients.get(clientId) ?? client);
      return { clientId, ...give({ client_id: clientId, scope }) };
    },
    expire() {
      for (const each of accessTokens.values()) each.expiresAt = 0;
    },
    revokeAll() {
      for (const { login } of [...accessTokens.values(), ...refreshTokens.values()]) login.isRevoked = true;
    },
    release() {
      for (const go of held.splice(0)) go();
    },
  };
}

/** A client id metadata document is known by its address. */
const isDocument = (clientId) => /^https:\/\/.+\/.+/.test(clientId ?? '');

function faultOf(fault) {
  if (fault === null) return undefined;
  if (fault === 'hang-up') return { status: 'hang-up' };
  if (typeof fault === 'object') return { status: 200, ...fault };
  if (typeof fault === 'number') return { status: fault, value: 'as asked', headers: { 'content-type': 'text/plain' } };
  return refuse(fault, `${fault}, as asked`, fault === 'invalid_client' ? 401 : 400);
}

const claimsOf = (jwt) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? 'e30', 'base64url').toString('utf8'));

/** RFC 9449, 4.3; the thumbprint of the key (RFC 7638) where nothing is wrong. */
function problemOf(proof, { method, url }) {
  if (proof === undefined) return { error: 'no DPoP proof' };
  const [head, body, signature] = proof.split('.');
  const header = JSON.parse(Buffer.from(head, 'base64url').toString('utf8'));
  if (header.typ !== 'dpop+jwt' || header.alg !== 'ES256') return { error: 'the header of the proof is wrong' };
  if (header.jwk?.d !== undefined) return { error: 'the proof shows its private key' };
  const key = { key: createPublicKey({ key: header.jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' };
  if (!verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url')))
    return { error: 'the signature of the proof is wrong' };
  const claims = claimsOf(proof);
  if (claims.htm !== method || claims.htu !== url || !claims.jti || !claims.iat)
    return { error: 'its claims are wrong' };
  const { crv, kty, x, y } = header.jwk;
  return { claims, jkt: createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url') };
}
