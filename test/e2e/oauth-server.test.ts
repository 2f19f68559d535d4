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

/** Everything that a login sends, but for what is random or names the program. */
const OWN = new Set([
  'client_id',
  'client_name',
  'code',
  'code_challenge',
  'code_verifier',
  'state',
  'redirect_uri',
  'redirect_uris',
]);
const sentTo = async (server: OAuthServer) =>
  (await server.requests()).map(({ endpoint, input }) => [
    endpoint,
    Object.fromEntries(Object.entries(input).filter(([name]) => !OWN.has(name))),
    Object.keys(input).sort(),
  ]);

verifies(
  'AUT-01',
  'our login sends what the login of the SDK sends, and state, application type and grants besides',
  async () => {
    const settings = { scopes: ['read'], metadataFields: { scopes_supported: ['read', 'offline_access'] } };
    const [theirs, ours] = [await startOAuth(settings), await startOAuth(settings)];
    const { provider, kept } = createProvider('http://127.0.0.1:9/callback');
    const challenge = {
      scope: 'read',
      resourceMetadataUrl: new URL(`${theirs.issuer}/.well-known/oauth-protected-resource/mcp`),
    };
    await auth(provider, { serverUrl: theirs.url, ...challenge });
    const { headers } = await fetch(kept.page ?? '', { redirect: 'manual' });
    const { searchParams } = new URL(headers.get('location') ?? '');
    const [authorizationCode = '', iss = ''] = [searchParams.get('code') ?? '', searchParams.get('iss') ?? ''];
    await auth(provider, { serverUrl: theirs.url, authorizationCode, iss, ...challenge });
    await (await createLoginWorld(ours.url)).logIn();
    const [sdk, plexus] = [await sentTo(theirs), await sentTo(ours)];
    const asOurs = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll(theirs.issuer, ours.issuer));
    expect(plexus.map(([endpoint]) => endpoint)).toEqual(sdk.map(([endpoint]) => endpoint));
    expect(plexus.map(([, fields]) => fields)).toMatchObject(
      asOurs(sdk.map(([, { scope: _, ...fields }]: any) => fields)),
    );
    const added = plexus.map(([, , names], at) =>
      (names as string[]).filter((name) => !(sdk[at]?.[2] as string[]).includes(name)),
    );
    expect(added).toEqual([['application_type', 'client_name', 'grant_types', 'response_types'], ['state'], []]);
  },
);

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
