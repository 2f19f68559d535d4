import { expect, test } from 'vitest';
import { chooseAuthentication } from '../../../src/auth/client-authentication.ts';
import { defaultMetadata } from '../../../src/auth/metadata.ts';
import { quirkOf } from '../../../src/auth/quirks.ts';
import { findClient, isCallback, redirectUrisFor } from '../../../src/auth/registration.ts';
import type { OAuthSettings } from '../../../src/model/server.ts';
import { startOAuth } from '../../servers/oauth.ts';
import { verifies } from '../../verifies.ts';
import { createLoginWorld } from './login-world.ts';

const server = defaultMetadata('https://login.example');
const takesDocuments = { ...server, takesMetadataDocuments: true };
const slack = { ...server, issuer: 'https://slack.com' };
const ports = [47_310, 47_311, 47_312].map((port) => `http://127.0.0.1:${port}/callback`);

const addresses: readonly (readonly [string, typeof server, OAuthSettings, readonly string[]])[] = [
  ['a registered client has three', server, {}, ports],
  ['a configured client has one, by name', server, { clientId: 'x' }, ['http://localhost:47310/callback']],
  ['a configured port is the only one', server, { callbackPort: 1234 }, ['http://127.0.0.1:1234/callback']],
  ['a metadata document has one', takesDocuments, { clientMetadataUrl: 'https://c.example/c.json' }, ports.slice(0, 1)],
  ['a metadata document that is not taken has none', server, { clientMetadataUrl: 'https://c.example/c.json' }, ports],
  ['a provider with a fixed one has that', slack, { clientId: 'x' }, ['http://localhost:3118/callback']],
  ['what the file says counts most', slack, { redirectUri: 'http://localhost:1/x' }, ['http://localhost:1/x']],
];
for (const [which, metadata, settings, expected] of addresses)
  verifies('AUT-01', `addresses for the answer: ${which}`, () => {
    expect(redirectUrisFor(metadata, settings)).toEqual(expected);
  });

verifies('AUT-01', 'processes that log in together register one client', async () => {
  const oauth = await startOAuth();
  const { deps } = await createLoginWorld(oauth.url);
  const known = { ...server, issuer: oauth.issuer, registrationEndpoint: `${oauth.issuer}/register` };
  const find = () => findClient(deps.http, deps.registrations, { server: known, settings: {} });
  const [one, ...others] = await Promise.all([find(), find(), find()]);
  expect(others).toEqual([one, one]);
  expect(await oauth.counts()).toMatchObject({ registrations: 1 });
});

test.each([
  ['http://127.0.0.1:1/x', true],
  ['http://localhost:1/x', true],
  ['http://[::1]:1/x', true],
  ['https://127.0.0.1/x', false],
  ['http://127.0.0.1.example/x', false],
  ['app.example:/callback', false],
])('%s can be listened at: %s', (address, expected) => {
  expect(isCallback(address)).toBe(expected);
});

test.each([
  ['https://login.microsoftonline.com/a-tenant/v2.0', { sendsNoResource: true, assumesPkce: true }],
  ['https://sts.windows.net/a-tenant/', { sendsNoResource: true }],
  ['https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc', { assumesPkce: true }],
  ['https://slack.com', { redirectUri: 'http://localhost:3118/callback' }],
  ['https://login.microsoftonline.com.evil.example/x', {}],
  ['http://login.microsoftonline.com/x', {}],
  ['https://evil.example/https://slack.com', {}],
  ['https://evil.example/.amazonaws.com/x', {}],
  ['no address', {}],
])('the quirks of %s', (issuer, expected) => {
  const { sendsNoResource, assumesPkce, redirectUri } = quirkOf(issuer);
  expect({ sendsNoResource, assumesPkce, redirectUri }).toMatchObject(expected);
  if (Object.keys(expected).length === 0) expect(quirkOf(issuer)).toEqual({});
});

test.each([
  ['the registered method', { method: 'client_secret_post', clientSecret: 'x' }, ['none'], 'client_secret_post'],
  ['none without means', {}, ['client_secret_basic'], 'none'],
  ['a key before a secret', { clientSecret: 'x', privateKey: 'y' }, undefined, 'private_key_jwt'],
  [
    'a secret by the header',
    { clientSecret: 'x' },
    ['client_secret_post', 'client_secret_basic'],
    'client_secret_basic',
  ],
  ['a secret by the body', { clientSecret: 'x' }, ['client_secret_post'], 'client_secret_post'],
  ['a secret where nothing is listed', { clientSecret: 'x' }, undefined, 'client_secret_basic'],
  ['no secret where none is taken', { clientSecret: 'x' }, ['none'], 'none'],
  ['none for an unknown method', { method: 'tls_client_auth' }, undefined, 'none'],
])('a client authenticates with %s', (_, means, supported, expected) => {
  expect(chooseAuthentication(means, supported)).toBe(expected);
});
