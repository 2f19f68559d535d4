// Owns the proof that a workspace in use is not closed to make room for another one, whatever uses it.

import { mkdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { type Access, WORKSPACE_HEADER } from '../../../src/gateway/access.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Channel } from '../../../src/model/server.ts';
import { createFolder, createRawServer, start } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { initialize } from '../serving/served.ts';
import { front } from './fronted.ts';
import { createManualServer } from './manual-server.ts';

const startup = { whenUncached: 'background' };
const connect = { id: 'connect', details: { mayNameWorkspace: true } satisfies Access };
const headersFor = (folder: string) => ({ [WORKSPACE_HEADER]: encodeURIComponent(folder) });

verifies(
  'EXT-32',
  'a workspace that a command, a link, an introduction or a call waits in is not closed to make room',
  async () => {
    const root = createFolder();
    const folders = Array.from({ length: limits.relay.workspaces + 5 }, (_, at) => join(root, `w${at}`));
    for (const each of folders) mkdirSync(each);
    const [commanded = '', linked = '', introduced = '', called = '', ...others] = folders;
    const [plain, manual, starting] = [createRawServer({ tools: {} }), createManualServer(), createDeferred<void>()];
    const slow = { serve: (channel: Channel) => starting.promise.then(() => plain.entry.serve(channel)) };
    const servers = new Map<string, object>([
      [introduced, { s: slow }],
      [called, { s: manual.entry }],
    ]);
    const fronted = await front(
      { s: plain.entry },
      {
        ...{ authenticate: () => connect, trustsRoots: true },
        openWorkspace: (cwd) => start(cwd, { cwd, servers: servers.get(cwd) ?? {}, startup } as never),
      },
    );
    const { gateway } = fronted;
    const open = (folder = '') => gateway.withRuntime(folder, async () => undefined);
    const isOpen = async (some: readonly (string | undefined)[]) => {
      const opened = (await gateway.status()).map(({ workspace }) => workspace);
      return some.map((each) => opened.includes(each));
    };

    const answered = createDeferred<void>();
    const command = gateway.withRuntime(commanded, () => answered.promise);
    await open(linked);
    const request = { url: '/own/s', headers: headersFor(linked) } as unknown as IncomingMessage;
    const input = new PassThrough();
    const link = gateway.link(request, connect, { input, output: new PassThrough() });
    const introduction = fronted.send('/mcp/s/s', { body: initialize(), headers: headersFor(introduced) });
    let workspace = called;
    const session = await fronted.open('/mcp', {
      capabilities: { roots: { listChanged: true } },
      answer: () => ({ result: { roots: [{ uri: pathToFileURL(workspace).href }] } }),
    });
    const call = session.request('tools/call', { name: 's__wait', arguments: {} });
    await waitFor(() => expect(manual.calls).toHaveLength(1));
    workspace = root;
    await session.notify('notifications/roots/list_changed');
    await waitFor(async () => expect(await isOpen([introduced])).toEqual([true]));

    const used = [commanded, linked, introduced, called];
    const [next, ...last] = others.splice(-5);
    for (const folder of others) await open(folder);
    await open(next);
    expect(await isOpen([...used, others[0], next])).toEqual([true, true, true, true, false, true]);

    answered.resolve();
    input.end();
    starting.resolve();
    manual.answer(manual.calls[0], 'done');
    await Promise.all([command, link, introduction]);
    expect((await call).message['result']).toMatchObject({ content: [{ text: 'done' }] });
    for (const folder of last) await open(folder);
    expect(await isOpen([...used, others[1], ...last]), 'and once nothing waits there, it is').toEqual([
      ...[false, false, false, false, true, true, true, true, true],
    ]);
  },
);
