// Owns the proof of one login against a real authorization server: how it is found, what is asked of it and sent to it, and that
// every lie and every refusal ends in a sentence of its own. The command line is in `login-commands.test.ts`.

import { generateKeyPairSync } from 'node:crypto';
import { describe, expect } from 'vitest';
import { dpopProof } from '../../../src/auth/dpop.ts';
import { createRegistrations } from '../../../src/auth/kept-logins.ts';
import { beginLogin, finishLogin } from '../../../src/auth/login.ts';
import type { Login } from '../../../src/auth/login-model.ts';
import { revokeLogin } from '../../../src/auth/revocation.ts';
import { refreshLogin } from '../../../src/auth/token-request.ts';
import type { OAuthSettings } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { freePort } from '../../free-port.ts';
import { type OAuthServer, startOAuth } from '../../servers/oauth.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { createLoginWorld, createTestSecrets } from './login-world.ts';

const body = (name = 'echo') => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });

const call = (url: string, { tokens, dpopKey }: Login, nonce?: string) => {
  const proof =
    dpopKey &&
    dpopProof(dpopKey, { method: 'POST', url, now: Date.now() / 1_000, accessToken: tokens.accessToken, nonce });
  const headers = { authorization: `${tokens.tokenType} ${tokens.accessToken}`, ...(proof && { dpop: proof }) };
  return fetch(url, { method: 'POST', headers, body: body() });
};

/** As a person registers an application by hand. */
async function register({ issuer }: OAuthServer, redirectUri: string, method: string): Promise<Record<string, string>> {
  const registration = await fetch(`${issuer}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [redirectUri], token_endpoint_auth_method: method }),
  });
  return (await registration.json()) as Record<string, string>;
}

describe('a login', () => {
  for (const metadata of ['both', 'oauth', 'oidc'] as const)
    for (const resourceMetadata of ['path', 'root', 'elsewhere'] as const)
      verifies(
        'AUT-01',
        `is found with metadata at ${metadata}, that of the resource at ${resourceMetadata}`,
        async () => {
          const server = await startOAuth({
            metadata,
            resourceMetadata,
            challengeNamesMetadata: resourceMetadata === 'elsewhere',
          });
          const { logIn, shown, pages } = await createLoginWorld(server.url);
          const login = await logIn();
          expect((await call(server.url, login)).status).toBe(200);
          expect(login).toMatchObject({
            key: { issuer: server.issuer, serverUrl: server.url, resource: server.url, account: '' },
            tokens: { tokenType: 'Bearer', scopes: [] },
            tokenEndpoint: `${server.issuer}/token`,
            revocationEndpoint: `${server.issuer}/revoke`,
          });
          expect(shown).toMatchObject([{ server: server.url, issuer: server.issuer, scopes: [] }]);
          expect(await eventually(() => pages[0])).toContain('You can close this tab');
        },
      );

  verifies(
    'AUT-01',
    'works with a server of 2025-03-26: no metadata at all, and endpoints at fixed paths',
    async () => {
      const server = await startOAuth({ metadata: 'none', resourceMetadata: 'none' });
      const { logIn } = await createLoginWorld(server.url);
      const login = await logIn();
      expect((await call(server.url, login)).status).toBe(200);
      expect(login.key).toMatchObject({ issuer: server.issuer, resource: '' });
    },
  );

  verifies('AUT-01', 'registers once for an authorization server, as a native program', async () => {
    const server = await startOAuth();
    const registrations = createRegistrations(createTestSecrets());
    const { logIn } = await createLoginWorld(server.url, { registrations });
    const both = [await logIn({ settings: {} }), await logIn({ settings: {}, account: 'work' })];
    expect(new Set(both.map(({ key }) => key.clientId)).size).toBe(1);
    const [registration, ...more] = await server.requests('POST /register');
    expect(more).toEqual([]);
    expect(registration?.input).toMatchObject({
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    });
  });

  verifies('AUT-01', 'sends PKCE by S256, state and the resource, and no scope where none is named', async () => {
    const server = await startOAuth();
    const { logIn } = await createLoginWorld(server.url);
    await logIn();
    const [page] = await server.requests('GET /authorize');
    const [exchange] = await server.requests('POST /token');
    expect(page?.input).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', resource: server.url });
    expect(page?.input).not.toHaveProperty('scope');
    expect(exchange?.input).toMatchObject({ grant_type: 'authorization_code', resource: server.url });
    expect(exchange?.headers).not.toHaveProperty('authorization');
  });

  const scopes: Readonly<Record<string, readonly [server: object, settings: OAuthSettings, expected: string]>> = {
    'of the challenge': [{ challengeScope: 'read write' }, {}, 'read write'],
    'that the resource lists': [{ resourceFields: { scopes_supported: ['a', 'b'] } }, {}, 'a b'],
    'of the file before all others': [{ challengeScope: 'read' }, { scopes: ['mine'] }, 'mine'],
    'and offline access where it is listed': [
      { challengeScope: 'read', metadataFields: { scopes_supported: ['read', 'offline_access'] } },
      {},
      'read offline_access',
    ],
  };
  for (const [which, [settings, own, expected]] of Object.entries(scopes))
    verifies('AUT-01', `asks for the scopes ${which}`, async () => {
      const server = await startOAuth(settings);
      const { logIn } = await createLoginWorld(server.url);
      const login = await logIn({ settings: { ...own, callbackPort: await freePort() } });
      expect((await server.requests('GET /authorize'))[0]?.input['scope']).toBe(expected);
      expect(login.tokens.scopes).toEqual(expected.split(' '));
    });

  verifies('AUT-01', 'uses a configured client at its own address, with its secret', async () => {
    const server = await startOAuth();
    const redirectUri = `http://localhost:${await freePort()}/back`;
    const registered = await register(server, redirectUri, 'client_secret_basic');
    const { client_id: clientId, client_secret: clientSecret } = registered;
    const { logIn } = await createLoginWorld(server.url);
    const settings = { redirectUri, ...(clientId && { clientId }), ...(clientSecret && { clientSecret }) };
    const login = await logIn({ settings });
    expect(login.client).toMatchObject({ clientId, origin: 'configured', authentication: 'client_secret_basic' });
    expect(await server.counts()).toMatchObject({ registrations: 1, exchanges: 1 });
  });

  verifies('AUT-01', 'asks the person for a client id where nothing else is left', async () => {
    const server = await startOAuth({ metadataFields: { registration_endpoint: null } });
    const redirectUri = `http://localhost:${await freePort()}/back`;
    const { client_id: clientId } = await register(server, redirectUri, 'none');
    const { logIn } = await createLoginWorld(server.url);
    const asked: string[] = [];
    const askClientId = async (issuer: string) => {
      asked.push(issuer);
      return ` ${clientId}\n`;
    };
    const login = await logIn({ settings: { redirectUri } }, { askClientId });
    expect(login.client).toMatchObject({ clientId, origin: 'asked' });
    expect(asked).toEqual([server.issuer]);
  });

  verifies('AUT-01', 'uses a client id metadata document where the server takes them', async () => {
    const server = await startOAuth({ metadataFields: { client_id_metadata_document_supported: true } });
    const { logIn } = await createLoginWorld(server.url);
    const clientMetadataUrl = 'https://client.example/metadata.json';
    const login = await logIn({ settings: { clientMetadataUrl, callbackPort: await freePort() } });
    expect(login.client).toMatchObject({ clientId: clientMetadataUrl, origin: 'metadata-document' });
    expect(await server.counts()).toMatchObject({ registrations: 0 });
  });

  verifies(
    'AUT-01',
    'is finished with a pasted address, in another process, where all ports are taken or nobody listens',
    async () => {
      const server = await startOAuth();
      const { deps } = await createLoginWorld(server.url);
      const { preview, pending } = await beginLogin({ url: server.url, settings: {}, account: '', isOwn: true }, deps);
      const { headers } = await fetch(preview.page, { redirect: 'manual' });
      const kept = JSON.parse(JSON.stringify(pending));
      const login = await finishLogin(kept, ` ${headers.get('location')}\n`, deps);
      expect((await call(server.url, login)).status).toBe(200);
    },
  );

  verifies('AUT-01', 'is pasted where other programs have all its ports, and says so', async () => {
    const server = await startOAuth();
    const first = await createLoginWorld(server.url);
    const callbackPort = await freePort();
    const settings = { callbackPort };
    const waits = first.logIn({ settings }, { open: () => true });
    await eventually(() => first.shown.length > 0);
    const second = await createLoginWorld(server.url, { registrations: first.deps.registrations });
    await expect(second.logIn({ settings })).rejects.toMatchObject({
      code: 'LOGIN_FAILED',
      data: { fault: { kind: 'ports-taken', addresses: [`http://127.0.0.1:${callbackPort}/callback`] } },
    });
    let page = '';
    const login = await second.logIn(
      { settings },
      {
        open: (address) => {
          page = address;
          return false;
        },
        paste: async () => (await fetch(page, { redirect: 'manual' })).headers.get('location') ?? undefined,
      },
    );
    expect((await call(server.url, login)).status).toBe(200);
    expect(second.shown.at(-1)?.paste).toBe('ports-taken');
    void fetch(first.shown[0]?.page ?? '');
    await waits;
  });
});

verifies(
  'AUT-01',
  'a public server cannot lead the login into the network around this machine, unless a setting allows it',
  async () => {
    const server = await startOAuth({ resourceFields: { resource: 'http://theirs.example/mcp' } });
    const url = 'http://theirs.example/mcp';
    const network = { env: { http_proxy: server.issuer }, cwd: process.cwd() };
    const refused = await createLoginWorld(url, { network });
    await expect(refused.logIn()).rejects.toMatchObject({
      data: { fault: { kind: 'private-address', address: server.issuer } },
    });
    expect(refused.shown).toEqual([]);
    const allowed = await createLoginWorld(url, { network, allowsPrivate: true });
    expect((await allowed.logIn()).key).toMatchObject({ issuer: server.issuer, serverUrl: url, resource: url });
  },
);

describe('an authorization server that does not know the resource', () => {
  verifies('AUT-01', 'is asked once without it, and never with it again', async () => {
    const server = await startOAuth();
    const { logIn } = await createLoginWorld(server.url);
    await server.set({ refusesResource: true });
    // The page of the test refuses without a redirect, as Entra does, so only the token endpoint is asked here.
    await server.set({ person: 'approve' });
    const login = await logIn({ settings: { resource: 'off' } });
    expect(login.key.resource).toBe('');
    const again = await logIn({ known: [{ ...login, refusesResource: true }] });
    expect(again.key.resource).toBe('');
    const asked = (await server.requests()).filter(({ input }) => 'resource' in input);
    expect(asked).toEqual([]);
  });

  verifies(
    'AUT-02',
    'may say so at a refresh alone: it is asked once without, unless the person demands it',
    async () => {
      const server = await startOAuth();
      const { logIn, deps } = await createLoginWorld(server.url);
      const login = await logIn();
      await server.set({ refusesResourceAtToken: true });
      await expect(refreshLogin(login, { ...deps, isResourceDemanded: true })).rejects.toMatchObject({
        data: { fault: { kind: 'refused', error: 'invalid_target' } },
      });
      const refreshed = await refreshLogin(login, deps);
      expect(refreshed).toMatchObject({ refusesResource: true, key: login.key });
      const before = (await server.requests('POST /token')).length;
      await refreshLogin(refreshed, deps);
      expect(await server.requests('POST /token'), 'remembered').toHaveLength(before + 1);
    },
  );

  verifies('AUT-01', 'may say so at its token endpoint alone', async () => {
    const server = await startOAuth({ refusesResourceAtToken: true });
    const { logIn } = await createLoginWorld(server.url);
    const login = await logIn();
    expect(login).toMatchObject({ refusesResource: true, key: { resource: '' } });
    const exchanges = await server.requests('POST /token');
    expect(exchanges.map(({ input }) => input['resource'])).toEqual([server.url, undefined]);
    // The person sees one page.
    expect(await server.counts()).toMatchObject({ authorizations: 1 });
    expect((await call(server.url, login)).status).toBe(200);
  });
});

describe('a refresh', () => {
  verifies('AUT-01', 'is one request, and keeps what the answer leaves out', async () => {
    const server = await startOAuth({ rotates: false });
    const { logIn, deps } = await createLoginWorld(server.url);
    const login = await logIn();
    const next = await refreshLogin(login, deps);
    expect(next.tokens.accessToken).not.toBe(login.tokens.accessToken);
    expect(next.tokens.refreshToken).toBe(login.tokens.refreshToken);
    expect(await server.counts()).toMatchObject({ refreshRequests: 1, refreshes: 1 });
  });

  for (const [fault, expected] of [
    ['invalid_grant', { code: 'LOGIN_FAILED', data: { fault: { kind: 'refused', error: 'invalid_grant' } } }],
    ['invalid_client', { code: 'LOGIN_FAILED', outage: false }],
    ['temporarily_unavailable', { code: 'LOGIN_UNAVAILABLE', outage: true }],
    [503, { code: 'LOGIN_UNAVAILABLE', outage: true }],
    [404, { code: 'LOGIN_UNAVAILABLE', outage: true }],
    [429, { code: 'LOGIN_UNAVAILABLE', outage: true }],
    ['hang-up', { code: 'LOGIN_UNAVAILABLE', outage: true }],
  ] as const)
    verifies(
      'AUT-01',
      `that meets ${fault} is ${expected.code === 'LOGIN_FAILED' ? 'a refusal' : 'an outage'}`,
      async () => {
        const server = await startOAuth();
        const { logIn, deps } = await createLoginWorld(server.url);
        const login = await logIn();
        await server.set({ refreshFault: fault });
        await expect(refreshLogin(login, deps)).rejects.toMatchObject(expected);
      },
    );

  verifies('AUT-01', 'that is never answered is an outage after its time', async () => {
    const server = await startOAuth();
    const login = await (await createLoginWorld(server.url)).logIn();
    const clock = createFakeClock();
    const { deps } = await createLoginWorld(server.url, { clock });
    await server.set({ hold: 'before' });
    const refresh = refreshLogin(login, deps);
    const failed = expect(refresh).rejects.toMatchObject({ code: 'LOGIN_UNAVAILABLE', outage: true });
    await eventually(async () => (await server.counts())['refreshRequests'] === 1);
    await clock.advance(30_000);
    await failed;
  });
});

describe('a token that is bound to a key', () => {
  for (const nonce of [false, true])
    verifies(
      'AUT-01',
      `is asked for where the server wants it, ${nonce ? 'with the nonce of the server' : 'without a nonce'}`,
      async () => {
        const server = await startOAuth({ dpop: true, nonce });
        const { logIn, deps } = await createLoginWorld(server.url);
        const login = await logIn();
        expect(login.tokens.tokenType).toBe('DPoP');
        const response = await call(server.url, login);
        const used = nonce ? await call(server.url, login, response.headers.get('dpop-nonce') ?? '') : response;
        expect(used.status).toBe(200);
        expect((await refreshLogin(login, deps)).tokens.tokenType).toBe('DPoP');
      },
    );
});

describe('a machine', () => {
  const machine = async (settings: OAuthSettings) => {
    const server = await startOAuth();
    const { logIn } = await createLoginWorld(server.url);
    return { server, login: logIn({ settings }) };
  };

  verifies('AUT-01', 'logs in with a key of its own', async () => {
    for (const kind of [
      ['ec', { namedCurve: 'P-256' }],
      ['rsa', { modulusLength: 2048 }],
    ] as const) {
      const { privateKey } = generateKeyPairSync(kind[0] as 'ec', kind[1] as { namedCurve: string });
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      const { server, login } = await machine({ grant: 'client_credentials', clientId: 'robot', privateKey: pem });
      expect((await call(server.url, await login)).status).toBe(200);
      expect((await server.requests('POST /token'))[0]?.input).toMatchObject({ grant_type: 'client_credentials' });
    }
  });

  verifies('AUT-01', 'logs in with an assertion that it was given', async () => {
    const { server } = await machine({ grant: 'client_credentials', clientId: 'x', clientSecret: 'y' }).then(
      async ({ server, login }) => {
        await expect(login).rejects.toMatchObject({ data: { fault: { kind: 'refused', error: 'invalid_client' } } });
        return { server };
      },
    );
    const { clientId } = await server.issue();
    const { logIn } = await createLoginWorld(server.url);
    const login = await logIn({ settings: { grant: 'jwt_bearer', clientId, assertion: 'a.b.c' } });
    expect((await call(server.url, login)).status).toBe(200);
  });

  verifies('AUT-01', 'is told which setting it lacks', async () => {
    const lacking: readonly (readonly [OAuthSettings, string])[] = [
      [{ grant: 'client_credentials' }, 'client_id'],
      [{ grant: 'client_credentials', clientId: 'x' }, 'client_secret'],
      [{ grant: 'jwt_bearer', clientId: 'x' }, 'assertion'],
      [{ grant: 'enterprise', clientId: 'x' }, 'idp_issuer'],
    ];
    const server = await startOAuth();
    const { logIn } = await createLoginWorld(server.url);
    for (const [settings, setting] of lacking)
      await expect(logIn({ settings })).rejects.toMatchObject({
        data: { fault: { kind: 'setting-missing', setting } },
      });
  });
});

verifies('AUT-01', 'a logout revokes both tokens where the server offers it', async () => {
  const server = await startOAuth();
  const { logIn, deps } = await createLoginWorld(server.url);
  const login = await logIn();
  expect(await revokeLogin(login, deps)).toBe(true);
  expect((await call(server.url, login)).status).toBe(401);
  expect(await revokeLogin({ ...login, revocationEndpoint: undefined }, deps)).toBe(false);
});

/** Settings of the server, and the fault that follows, with one word of its sentence. */
const lies: Readonly<Record<string, readonly [settings: object, kind: string, word: string]>> = {
  'an issuer that is another': [
    { metadataFields: { issuer: 'https://elsewhere.example' } },
    'issuer-lies',
    'another authorization server',
  ],
  'a resource that is another': [
    { resourceFields: { resource: 'https://elsewhere.example/mcp' } },
    'other-resource',
    'for another server',
  ],
  'a document of 10 MB': [{ metadataAnswer: { bytes: 10_000_000 } }, 'metadata-broken', 'larger than 1 MiB'],
  'a resource document of 10 MB': [{ resourceAnswer: { bytes: 10_000_000 } }, 'metadata-broken', 'larger than 1 MiB'],
  'a web page': [
    { metadataAnswer: { type: 'text/html', body: '<html>Sign in</html>' } },
    'metadata-broken',
    'is a web page',
  ],
  'text that is no JSON': [{ resourceAnswer: { body: 'nope' } }, 'metadata-broken', 'is not JSON'],
  'a document without a token endpoint': [
    { metadataFields: { token_endpoint: null } },
    'metadata-broken',
    'token endpoint',
  ],
  'a redirect to another origin': [
    { metadataAnswer: { status: 302, location: 'http://127.0.0.1:9/' } },
    'redirected-away',
    'another origin',
  ],
  'a redirect to itself': [
    { metadataAnswer: { status: 302, location: '/.well-known/oauth-authorization-server' } },
    'redirected-away',
    'again and again',
  ],
  'a compressed document': [
    { metadataAnswer: { coding: 'gzip', body: 'x' } },
    'metadata-broken',
    'compressed with gzip',
  ],
  'a token endpoint without https': [
    { metadataFields: { token_endpoint: 'http://login.example/token' } },
    'insecure-address',
    'its token endpoint is http://login.example/token, which is not https',
  ],
  'an authorization server with a name before its host': [
    { resourceFields: { authorization_servers: ['https://accounts.good.example@evil.example'] } },
    'insecure-address',
    'which has a name before its host',
  ],
  'more rights than an address can name': [
    { resourceFields: { scopes_supported: Array.from({ length: 5_000 }, (_, n) => `right:${n}`) } },
    'page-too-long',
    'Name the rights that you need in oauth.scopes of "web"',
  ],
  'an authorization server without https': [
    { resourceFields: { authorization_servers: ['http://login.example'] } },
    'insecure-address',
    'its authorization server',
  ],
  'a login page with another scheme': [
    { metadataFields: { authorization_endpoint: 'javascript:alert(1)' } },
    'page-refused',
    'only http and https',
  ],
  'no metadata of the authorization server': [{ metadata: 'none' }, 'metadata-missing', 'does not say how'],
  'PKCE without S256': [
    { metadataFields: { code_challenge_methods_supported: ['plain'] } },
    'pkce-missing',
    'not with PKCE by S256',
  ],
  'no word of PKCE': [{ metadataFields: { code_challenge_methods_supported: null } }, 'pkce-missing', 'oauth.pkce'],
  'no registration': [{ metadataFields: { registration_endpoint: null } }, 'client-unknown', 'oauth.client_id'],
  'a registration endpoint that is no address': [
    { metadataFields: { registration_endpoint: '/authorize' } },
    'insecure-address',
    'registration endpoint',
  ],
};

describe('metadata that lies', () => {
  verifies('AUT-01', 'what the person decides by cannot be written by a server: no lines, no escapes', async () => {
    const strange = [
      'read',
      'b\nissuer:  https://good.example',
      'c\u001b[2J',
      'd\u202e',
      'e f',
      'r\u0435ad',
      'x'.repeat(2_001),
    ];
    const server = await startOAuth({ resourceFields: { scopes_supported: strange } });
    const { logIn, shown } = await createLoginWorld(server.url);
    await logIn();
    expect(shown[0]?.scopes).toEqual(['read']);
    const issuer = `${server.issuer}/\nissuer:`;
    await server.set({ resourceFields: { authorization_servers: [issuer] }, metadataFields: { issuer } });
    await expect(logIn()).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
    expect(shown).toHaveLength(1);
  });

  verifies(
    ['AUT-01', 'TRU-02'],
    'only a file of the person may say that an issuer has its metadata elsewhere',
    async () => {
      const honest = await startOAuth();
      // Pages of the honest issuer, tokens to another one.
      const repository = await startOAuth({ metadataFields: { issuer: honest.issuer } });
      const metadataUrl = `${repository.issuer}/.well-known/oauth-authorization-server`;
      const { logIn, shown } = await createLoginWorld(honest.url);
      await expect(logIn({ settings: { metadataUrl }, isOwn: false })).rejects.toMatchObject({
        data: { fault: { kind: 'metadata-elsewhere', address: metadataUrl, issuer: honest.issuer } },
      });
      expect(shown).toEqual([]);
      expect(await repository.counts()).toMatchObject({ registrations: 0, exchanges: 0 });
      const own = `${honest.issuer}/.well-known/openid-configuration`;
      expect((await logIn({ settings: { metadataUrl: own }, isOwn: false })).key.issuer).toBe(honest.issuer);
    },
  );

  for (const [lie, [settings, kind, word]] of Object.entries(lies))
    verifies(['AUT-01', 'EXT-18'], `${lie} has its own sentence, and no page opens`, async () => {
      const server = await startOAuth(settings);
      const { logIn, shown } = await createLoginWorld(server.url);
      const failure = await logIn().catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'LOGIN_FAILED', data: { fault: { kind } } });
      expect(String(failure)).toContain(word);
      expect(shown).toEqual([]);
      expect(await server.counts()).toMatchObject({ authorizations: 0, exchanges: 0 });
    });

  verifies('AUT-01', 'a server that is down opens no page either', async () => {
    for (const settings of [{ metadataAnswer: { status: 503 } }, { resourceAnswer: { status: 500 } }]) {
      const server = await startOAuth(settings);
      const { logIn, shown } = await createLoginWorld(server.url);
      await expect(logIn()).rejects.toMatchObject({ code: 'LOGIN_UNAVAILABLE', outage: true });
      expect(shown).toEqual([]);
    }
  });

  verifies(
    'AUT-01',
    'a provider that does PKCE and does not say so is believed, where the person says so',
    async () => {
      const server = await startOAuth({ metadataFields: { code_challenge_methods_supported: null } });
      const { logIn } = await createLoginWorld(server.url);
      const settings = { pkce: 'assume', callbackPort: await freePort() } as const;
      expect((await call(server.url, await logIn({ settings }))).status).toBe(200);
    },
  );
});

/** How the person or the page behaves, and the fault that follows. */
const answers: Readonly<Record<string, readonly [kind: string, word: string]>> = {
  'wrong-iss': ['issuer-differs', 'another authorization server'],
  'no-iss': ['issuer-missing', 'does not name'],
  'no-code': ['code-missing', 'has no code'],
  deny: ['refused', '"access_denied" (the person said no)'],
};

describe('an answer of the login page', () => {
  for (const [person, [kind, word]] of Object.entries(answers))
    verifies('AUT-01', `with ${person} has its own sentence, and no code is exchanged`, async () => {
      const server = await startOAuth({ person });
      const { logIn, pages } = await createLoginWorld(server.url);
      const failure = await logIn().catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'LOGIN_FAILED', data: { fault: { kind } } });
      expect(String(failure)).toContain(word);
      expect(await eventually(() => pages[0])).toContain('The login failed');
      expect(await server.counts()).toMatchObject({ exchanges: 0 });
    });

  for (const [person, [kind, word]] of Object.entries({
    'no-state': ['state-missing', 'has no state'],
    'wrong-state': ['state-differs', 'another login'],
  }))
    verifies('AUT-01', `with ${person} ends no login, and is the reason of one that nobody finishes`, async () => {
      const server = await startOAuth({ person });
      const clock = createFakeClock();
      const { logIn, pages } = await createLoginWorld(server.url, { clock });
      const failed = logIn().catch((error: unknown) => error);
      expect(await eventually(() => pages[0])).toContain('Finish the page that was opened last');
      await clock.advance(300_000);
      expect(await failed).toMatchObject({ code: 'LOGIN_FAILED', data: { fault: { kind } } });
      expect(String(await failed)).toContain(word);
      expect(await server.counts()).toMatchObject({ exchanges: 0 });
    });

  verifies('AUT-01', 'of another program that comes first does not end the login', async () => {
    const server = await startOAuth();
    const { logIn } = await createLoginWorld(server.url);
    const open = async (page: string) => {
      const redirectUri = new URL(page).searchParams.get('redirect_uri') ?? '';
      expect((await fetch(`${redirectUri}?code=stolen&state=guess`)).status).toBe(400);
      void fetch(page);
      return true;
    };
    expect((await logIn({}, { open })).key).toMatchObject({ issuer: server.issuer });
    expect(await server.counts()).toMatchObject({ exchanges: 1 });
  });

  verifies('AUT-01', 'shows nothing of an answer whose issuer differs, not even its error', async () => {
    const server = await startOAuth();
    const { deps } = await createLoginWorld(server.url);
    const { pending } = await beginLogin({ url: server.url, settings: {}, account: '', isOwn: true }, deps);
    const forged = `http://127.0.0.1:1/callback?state=${pending.state}&iss=https://evil.example&error=CALL_THIS_NUMBER`;
    const failure = await Promise.resolve()
      .then(() => finishLogin(pending, forged, deps))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ data: { fault: { kind: 'issuer-differs' } } });
    expect(String(failure)).not.toContain('CALL_THIS_NUMBER');
  });

  verifies('AUT-01', 'that never comes ends the login, with the advice for a page that showed an error', async () => {
    const server = await startOAuth();
    const clock = createFakeClock();
    const { logIn, shown } = await createLoginWorld(server.url, { clock });
    const login = logIn({}, { open: () => true });
    const failed = expect(login).rejects.toThrow(
      /nobody finished the login page within 5 min.*oauth\.resource = "off"/,
    );
    await eventually(() => shown.length > 0);
    await clock.advance(300_000);
    await failed;
  });
});

verifies('AUT-01', 'a clock five minutes off changes no lifetime: it is counted from the receipt', async () => {
  const server: OAuthServer = await startOAuth({ expiresIn: 60 });
  const clock = createFakeClock(Date.now() - 300_000);
  const { logIn } = await createLoginWorld(server.url, { clock });
  const { tokens } = await logIn();
  expect(tokens.expiresAt).toBe(tokens.receivedAt + 60_000);
  expect(tokens.receivedAt).toBe(clock.now());
});
