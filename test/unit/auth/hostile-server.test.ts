// Owns the proof that a server or an authorization server that lies, floods, stalls or points into the network around this machine
// costs one login and nothing else. Lies in metadata and in answers of the page are in `login.test.ts`.

import dns from 'node:dns';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAuthHttp } from '../../../src/auth/auth-http.ts';
import { challengeIn } from '../../../src/auth/challenge.ts';
import { discover } from '../../../src/auth/discovery.ts';
import { createRegistrations } from '../../../src/auth/kept-logins.ts';
import { refreshLogin } from '../../../src/auth/token-request.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { processorMs } from '../../effort.ts';
import { startOAuth } from '../../servers/oauth.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { serve } from '../transport/http-servers.ts';
import { createLoginWorld, createTestSecrets } from './login-world.ts';

const html = { 'content-type': 'text/html' };

/** What the token endpoint answers, and the fault that follows. */
const tokenAnswers: Readonly<Record<string, readonly [settings: object, fault: object]>> = {
  'a web page': [
    { tokenFault: { value: '<html>Sign in</html>', headers: html } },
    { kind: 'token-unusable', problem: 'it has no access token' },
  ],
  'ten megabytes': [
    { tokenFault: { value: 'x'.repeat(10_000_000), headers: html } },
    { kind: 'metadata-broken', problem: 'is larger than 1 MiB' },
  ],
  'an error with HTTP 200': [
    { tokenFault: { value: { error: 'bad_verification_code' } } },
    { kind: 'refused', error: 'bad_verification_code' },
  ],
  'an error that writes to the terminal': [
    { tokenFault: { status: 400, value: { error: 'a\u001b[2Jb', error_description: 'c\r\nd\u202e\u0007e' } } },
    { kind: 'refused', error: 'ab', description: 'c de' },
  ],
  'a token that ends its header': [
    { tokenFields: { access_token: 'a\r\nx-admin: 1' } },
    { kind: 'token-unusable', problem: 'it has no access token' },
  ],
  'a token of another kind': [
    { tokenFields: { token_type: 'mac\u001b[2J' } },
    { kind: 'token-unusable', problem: 'its type is mac' },
  ],
  'a token that is bound to a key which was not sent': [
    { tokenFields: { token_type: 'DPoP' } },
    { kind: 'token-unusable', problem: 'it is bound to a key that was not sent' },
  ],
};

verifies('AUT-01', 'a token endpoint that answers no token has a sentence for it', async () => {
  const server = await startOAuth();
  const { logIn } = await createLoginWorld(server.url);
  for (const [answer, [settings, fault]] of Object.entries(tokenAnswers)) {
    await server.set({ tokenFault: null, tokenFields: {}, ...settings });
    await expect(logIn(), answer).rejects.toMatchObject({ code: 'LOGIN_FAILED', data: { fault } });
  }
});

verifies('AUT-02', 'a lifetime that is none leaves the end of the token to the server', async () => {
  const server = await startOAuth();
  const { logIn, deps } = await createLoginWorld(server.url);
  const login = await logIn();
  const lifetimeOf = async (value: unknown) => {
    await server.set({ rotates: false, tokenFields: { expires_in: value } });
    const { receivedAt, expiresAt } = (await refreshLogin(login, deps)).tokens;
    return expiresAt === undefined ? undefined : expiresAt - receivedAt;
  };
  for (const none of [0, -5, '', 'soon', true, null, [7], 1e300, '1e999'])
    expect(await lifetimeOf(none), JSON.stringify(none)).toBeUndefined();
  expect([await lifetimeOf(60), await lifetimeOf('60'), await lifetimeOf(0.5)]).toEqual([60_000, 60_000, 500]);
});

verifies(
  'AUT-02',
  'a refresh that is refused with HTTP 200 is refused, and one that came too often is not',
  async () => {
    const server = await startOAuth();
    const { logIn, deps } = await createLoginWorld(server.url);
    const login = await logIn();
    await server.set({ refreshFault: { value: { error: 'bad_refresh_token' } } });
    await expect(refreshLogin(login, deps)).rejects.toMatchObject({ data: { fault: { kind: 'refused' } } });
    for (const status of [408, 425, 429]) {
      await server.set({ refreshFault: { status, value: { error: 'rate_limit_exceeded' } } });
      await expect(refreshLogin(login, deps), String(status)).rejects.toMatchObject({ code: 'LOGIN_UNAVAILABLE' });
    }
  },
);

verifies('AUT-01', 'rights without end are those that were asked for', async () => {
  const server = await startOAuth({ challengeScope: 'read' });
  await server.set({ tokenFields: { scope: 'right '.repeat(100_000) } });
  const { logIn } = await createLoginWorld(server.url);
  expect((await logIn()).tokens.scopes).toEqual(['read']);
});

verifies('AUT-02', 'an answer that begins and never ends is an outage after its time', async () => {
  const server = await startOAuth();
  const login = await (await createLoginWorld(server.url)).logIn();
  const clock = createFakeClock();
  const { deps } = await createLoginWorld(server.url, { clock });
  await server.set({ refreshFault: { value: 'half', headers: html, isStalled: true } });
  const failed = expect(refreshLogin(login, deps)).rejects.toMatchObject({ code: 'LOGIN_UNAVAILABLE' });
  await eventually(async () => (await server.counts())['refreshRequests'] === 1);
  await clock.advance(30_000);
  await failed;
});

test('a challenge of any form is read in time', () => {
  const hostile = [
    'a'.repeat(16_000),
    `Bearer ${'"\\'.repeat(8_000)}`,
    `Bearer ${'a=,'.repeat(5_000)}`,
    'Bearer,'.repeat(2_300),
  ];
  for (const header of hostile)
    expect(
      processorMs(() => challengeIn(header)),
      header.slice(0, 12),
    ).toBeLessThan(1_000);
});

describe('a client that its authorization server has forgotten', () => {
  const setUp = async () => {
    const server = await startOAuth();
    const clock = createFakeClock(Date.now());
    const registrations = createRegistrations(createTestSecrets());
    const world = await createLoginWorld(server.url, { registrations, clock });
    await world.logIn();
    return { ...world, server, clock };
  };

  verifies('AUT-01', 'is registered afresh by the next login, where the token endpoint says so', async () => {
    const { server, logIn } = await setUp();
    await server.set({ tokenFault: 'invalid_client' });
    await expect(logIn()).rejects.toMatchObject({ data: { fault: { kind: 'refused', error: 'invalid_client' } } });
    await server.set({ tokenFault: null });
    await logIn();
    expect(await server.counts()).toMatchObject({ registrations: 2 });
  });

  verifies('AUT-01', 'is registered afresh by the next login, where only the person saw it on the page', async () => {
    const { server, logIn, shown, clock } = await setUp();
    const late = logIn({}, { open: () => true }).catch((error: unknown) => error);
    await eventually(() => shown.length === 2);
    await clock.advance(300_000);
    expect(await late).toMatchObject({ data: { fault: { kind: 'timed-out' } } });
    await logIn();
    expect(await server.counts()).toMatchObject({ registrations: 2 });
  });

  verifies('AUT-01', 'is another case than a login that is refused', async () => {
    const { server, logIn } = await setUp();
    await server.set({ person: 'deny' });
    await expect(logIn()).rejects.toMatchObject({ data: { fault: { kind: 'refused', error: 'access_denied' } } });
    await server.set({ person: 'approve' });
    await logIn();
    expect(await server.counts()).toMatchObject({ registrations: 1 });
  });
});

describe('a public server', () => {
  const url = 'https://mcp.example/mcp';

  /** Answers of the servers of names; a name that is not here is not known. */
  async function httpWith(names: Readonly<Record<string, readonly string[]>>, address = url) {
    const found = vi.spyOn(dns.promises, 'lookup').mockImplementation((async (name: string) => {
      const addresses = names[name];
      if (addresses === undefined) throw Object.assign(new Error(`no ${name}`), { code: 'ENOTFOUND' });
      return addresses.map((address) => ({ address, family: 4 }));
    }) as never);
    onTestFinished(() => found.mockRestore());
    const network = { env: {}, cwd: process.cwd() };
    const http = await createAuthHttp({ server: 'web', url: address, network, clock: systemClock });
    onTestFinished(() => http.close());
    return http;
  }

  verifies(
    'AUT-01',
    'cannot make the browser open a page of the network around it, by an address or a name',
    async () => {
      const http = await httpWith({
        'mcp.example': ['8.8.8.8'],
        'inside.example': ['10.0.0.5'],
        'pages.example': ['8.8.4.4'],
      });
      const findPage = async (page: string) => {
        const issuer = 'https://login.example';
        const documents: Readonly<Record<string, object>> = {
          'https://mcp.example/.well-known/oauth-protected-resource/mcp': {
            resource: url,
            authorization_servers: [issuer],
          },
          [`${issuer}/.well-known/oauth-authorization-server`]: {
            issuer,
            authorization_endpoint: page,
            token_endpoint: `${issuer}/token`,
          },
        };
        const request = async (address: string) => {
          const document = documents[address];
          return { status: document ? 200 : 401, headers: {}, text: JSON.stringify(document) };
        };
        return (await discover({ ...http, request }, { url, settings: {}, isOwn: true })).server.authorizationEndpoint;
      };
      for (const page of [
        'http://localhost:8080/delete?all',
        'https://192.168.1.1/reboot',
        'https://router.lan/',
        'https://inside.example/authorize',
      ])
        await expect(findPage(page)).rejects.toMatchObject({
          data: { fault: { kind: 'private-address', address: new URL(page).origin } },
        });
      for (const page of ['https://pages.example/authorize', 'https://unknown.example/authorize'])
        expect(await findPage(page)).toBe(page);
    },
  );

  verifies('AUT-01', 'stays public where its name has a local address besides', async () => {
    const isHeldBack = async (...addresses: readonly string[]) =>
      (await httpWith({ 'mcp.example': addresses })).leadsInside('https://10.0.0.5/authorize');
    expect(await isHeldBack('8.8.8.8', '127.0.0.1')).toBe(true);
    expect(await isHeldBack('127.0.0.1', '8.8.8.8')).toBe(true);
    expect(await isHeldBack()).toBe(true);
    // A server of the network around may name its neighbours.
    expect(await isHeldBack('10.0.0.1', '10.0.0.2')).toBe(false);
  });

  verifies(
    'AUT-01',
    'does not become one of the network around for a moment: where it was judged it is reached',
    async () => {
      const web = await serve([(_, response) => void response.writeHead(200).end('here')]);
      const named = web.url.replace('127.0.0.1', 'mcp.example');
      // No other server of names knows it.
      const http = await httpWith({ 'mcp.example': ['127.0.0.1'] }, named);
      expect(await http.request(named, { method: 'POST', body: '{}' })).toMatchObject({ status: 200, text: 'here' });
    },
  );
});
