// Owns the proof that the authorization server of the tests is one: the SDK's own flow logs in to it, and it notices a refresh
// token that comes twice.

import { auth, type OAuthClientProvider } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { type OAuthServer, startOAuth } from '../servers/oauth.ts';
import { createLoginWorld } from '../unit/auth/login-world.ts';
import { verifies } from '../verifies.ts';

type Saved = Parameters<OAuthClientProvider['saveTokens']>[0];

function createProvider(redirectUrl: string) {
  const kept: { verifier?: string; tokens?: Saved; client?: { client_id: string }; page?: URL } = {};
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (page) => {
      kept.page = page;
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier ?? '',
  };
  return { provider, kept };
}

test('the SDK logs in to it and calls a tool with the token', async () => {
  const server = await startOAuth();
  const { provider, kept } = createProvider('http://127.0.0.1:9/callback');
  expect(await auth(provider, { serverUrl: server.url })).toBe('REDIRECT');
  const { headers } = await fetch(kept.page ?? '', { redirect: 'manual' });
  const { searchParams } = new URL(headers.get('location') ?? '');
  const [authorizationCode = '', iss = ''] = [searchParams.get('code') ?? '', searchParams.get('iss') ?? ''];
  expect(await auth(provider, { serverUrl: server.url, authorizationCode, iss })).toBe('AUTHORIZED');
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } });
  const call = (token: string) =>
    fetch(server.url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body });
  expect((await call('another')).status).toBe(401);
  expect(await (await call(kept.tokens?.access_token ?? '')).json()).toMatchObject({ id: 1, result: {} });
  expect(await server.counts()).toMatchObject({ registrations: 1, exchanges: 1, unauthorized: 1, calls: 1 });
});

/** Random, or the name of the program. */
const OWN = [
  'client_id',
  'client_name',
  'code',
  'code_challenge',
  'code_verifier',
  'state',
  'redirect_uri',
  'redirect_uris',
];

/** The requests of a login in order, without what is its own, and the names of all that they hold. */
async function sentTo(server: OAuthServer) {
  const requests = await server.requests();
  return requests.map(({ endpoint, input }) => ({
    endpoint,
    names: Object.keys(input).sort(),
    fields: JSON.stringify(
      Object.entries(input)
        .filter(([name]) => !OWN.includes(name))
        .sort(),
    ).replaceAll(server.issuer, ''),
  }));
}

verifies('AUT-01', 'our login sends what that of the SDK sends, and state besides', async () => {
  const settings = { scopes: ['read'] };
  const [theirs, ours] = [await startOAuth(settings), await startOAuth(settings)];
  const { provider, kept } = createProvider('http://127.0.0.1:9/callback');
  const asked = { serverUrl: theirs.url, scope: 'read' };
  await auth(provider, asked);
  const { headers } = await fetch(kept.page ?? '', { redirect: 'manual' });
  const { searchParams } = new URL(headers.get('location') ?? '');
  const [authorizationCode = '', iss = ''] = [searchParams.get('code') ?? '', searchParams.get('iss') ?? ''];
  await auth(provider, { ...asked, authorizationCode, iss });
  await (await createLoginWorld(ours.url)).logIn();
  const [sdk, plexus] = [await sentTo(theirs), await sentTo(ours)];
  expect(plexus.map(({ endpoint }) => endpoint)).toEqual(['POST /register', 'GET /authorize', 'POST /token']);
  expect(sdk.map(({ endpoint }) => endpoint)).toEqual(plexus.map(({ endpoint }) => endpoint));
  const [, ...further] = plexus.map(({ fields }) => fields);
  expect(further).toEqual(sdk.slice(1).map(({ fields }) => fields));
  const added = plexus.map(({ names }, at) => names.filter((name) => sdk[at]?.names.includes(name) !== true));
  expect(added).toEqual([['client_name', 'response_types'], ['state'], []]);
});

test('a refresh token that comes twice revokes the login', async () => {
  const server = await startOAuth();
  const { clientId, refresh_token } = await server.issue();
  const refresh = (token: string) => {
    const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: token };
    return fetch(`${server.issuer}/token`, { method: 'POST', body: new URLSearchParams(form) });
  };
  const first = (await (await refresh(refresh_token)).json()) as { refresh_token: string };
  expect((await refresh(refresh_token)).status).toBe(400);
  expect((await refresh(first.refresh_token)).status).toBe(400);
  expect(await server.counts()).toMatchObject({ refreshRequests: 3, refreshes: 1, reuses: 1 });
});
