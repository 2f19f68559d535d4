// Owns the proof of the parts by which a command uses a gateway: how a fleet and a failure are told, and the channel to a server there.

import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createGatewayUse } from '../../../src/cli/gateway-use.ts';
import { isUsable, readReport, writeReport } from '../../../src/gateway/commands/fleet-report.ts';
import { fleetRoute } from '../../../src/gateway/commands/fleet-route.ts';
import { LinkChannel } from '../../../src/gateway/commands/link-channel.ts';
import { openRunningGateway } from '../../../src/gateway/commands/running-gateway.ts';
import { failureAnswer, failureIn, readFailure } from '../../../src/gateway/commands/told-failure.ts';
import { openLink } from '../../../src/gateway/connect/link.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import type { Message } from '../../../src/model/server.ts';
import { loopbackHosts } from '../../../src/serving/access.ts';
import { listenHttp } from '../../../src/serving/http-listener.ts';
import { ProtocolError } from '../../../src/serving/protocol.ts';
import { withDefaults } from '../../../src/serving/serving-limits.ts';
import { waitFor } from '../../wait-for.ts';
import { TOKEN, tokenAccess } from '../serving/served.ts';
import { serveLinks, target } from './linked.ts';

const lost = new RuntimeError('CONNECTION_LOST', { server: 'files', reason: 'it ended' });

test('a failure arrives with its code and its sentence, and one of another version with its sentence', () => {
  const { code, message, data } = failureAnswer(lost);
  expect(failureIn({ error: { code, message, data } })).toEqual(lost);
  expect(failureIn({ error: { code, message } })).toBeUndefined();
  expect(readFailure({ code: 'OF_TOMORROW', message: 'So it is.', data: {} })).toMatchObject({
    code: 'INTERNAL',
    data: { problem: 'So it is.' },
  });
});

test('a fleet arrives as it was told, with its failures', () => {
  const status = { name: 'files', state: 'failed', status: 'failed', error: lost } as never;
  const report = { servers: [status], reduced: new Map([['files', 2]]), diagnostics: [], failure: lost };
  expect(readReport(writeReport(report))).toEqual(report);
  const otherwise = ['{"servers":[1],"reduced":[],"diagnostics":[]}', '{"servers":[],"reduced":[1],"diagnostics":[]}'];
  for (const text of ['', '[]', ...otherwise]) expect(readReport(text)).toBeUndefined();
  expect(isUsable(status)).toBe(false);
});

test('a channel over a link carries messages both ways, and says why it is over', async () => {
  const gateway = await serveLinks();
  const link = (): Promise<Socket> => openLink(target(gateway.port));
  const channel = new LinkChannel({ server: 'files', maxMessageBytes: 100_000, link });
  const heard: Message[] = [];
  let isOver = false;
  channel.onmessage = (message) => void heard.push(message);
  channel.onclose = () => {
    isOver = true;
  };
  await channel.start();
  await channel.send({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  });
  await waitFor(() => expect(heard).toMatchObject([{ id: 1, result: { serverInfo: { name: 'echo' } } }]));
  await gateway.die();
  await waitFor(() => expect(isOver).toBe(true));
  expect(channel.report()).toEqual({ reason: 'the gateway ended the connection' });
});

test('the fleet is told to the token of connect alone', async () => {
  const failures: readonly Error[] = [new ProtocolError(-32600, 'no folder', undefined, { status: 400 }), lost];
  let asked = 0;
  const handle = fleetRoute({
    authenticate: tokenAccess,
    refuses: () => undefined,
    hosts: loopbackHosts,
    withRuntime: () => Promise.reject(failures[asked++]),
  });
  const server = await listenHttp({
    host: '127.0.0.1',
    port: 0,
    path: '/',
    route: () => handle,
    limits: withDefaults({}),
  });
  const ask = async (headers = {}) => (await fetch(`http://127.0.0.1:${server.port}/fleet`, { headers })).status;
  expect(await ask()).toBe(401);
  const known = { authorization: `Bearer ${TOKEN}` };
  expect([await ask(known), await ask(known)]).toEqual([400, 500]);
  const instance = {
    protocol: 1,
    pid: 1,
    process: '',
    startedAt: '',
    host: '127.0.0.1',
    port: server.port,
    configuration: '',
  };
  const environment = { cwd: '/', home: '/no/such', env: {}, platform: 'linux' } as const;
  expect(await openRunningGateway(instance, environment).fleet()).toBeUndefined();
  await server.close();
});

test('without a gateway every server is the command’s own', async () => {
  const context = { cwd: '/', home: '/no/such', env: {}, runtimeOptions: {}, values: {} } as never;
  const use = createGatewayUse(context);
  expect(await use.elsewhere({ name: 'files', settings: {} } as never, new AbortController().signal)).toBeUndefined();
  expect([use.field(), [...use.servers]]).toEqual([{}, []]);
});
