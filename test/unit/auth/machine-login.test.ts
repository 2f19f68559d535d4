import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { logInAsMachine, machineGrantOf } from '../../../src/auth/machine-login.ts';
import { startOAuth } from '../../servers/oauth.ts';
import { verifies } from '../../verifies.ts';
import { createLoginWorld } from './login-world.ts';

verifies(
  'AUT-01',
  'an enterprise exchanges the id token at its own provider, and the assertion at the server of the resource',
  async () => {
    const server = await startOAuth();
    const { clientId } = await server.issue();
    const provider = createServer((_, response) =>
      response.end(
        JSON.stringify({ access_token: 'the.assertion', issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag' }),
      ),
    ).listen(0, '127.0.0.1');
    onTestFinished(() => void provider.close());
    await once(provider, 'listening');
    const { port } = provider.address() as AddressInfo;
    const { deps } = await createLoginWorld(server.url);
    const settings = {
      grant: 'enterprise',
      clientId,
      idToken: 'the.id.token',
      idpClientId: 'ours',
      idpTokenEndpoint: `http://127.0.0.1:${port}/token`,
    } as const;
    const login = await logInAsMachine({ url: server.url, settings, account: '', isOwn: true }, deps, 'enterprise');
    expect(login).toMatchObject({ key: { clientId, resource: server.url }, tokens: { refreshToken: undefined } });
    expect((await server.requests('POST /token'))[0]?.input).toMatchObject({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: 'the.assertion',
    });
  },
);

verifies('AUT-01', 'only the grants of machines need no person', () => {
  expect(machineGrantOf({})).toBeUndefined();
  expect(machineGrantOf({ grant: 'authorization_code' })).toBeUndefined();
  expect(machineGrantOf({ grant: 'jwt_bearer' })).toBe('jwt_bearer');
});
