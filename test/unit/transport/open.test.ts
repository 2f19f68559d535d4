// Owns the proof that every kind of launch leads to its channel, or to a truthful refusal.

import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { Message, StdioLaunch } from '../../../src/model/server.ts';
import { openChannel } from '../../../src/transport/open.ts';
import { FAULTY } from '../../servers/faulty.ts';
import { eventually, temporaryFile } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { call } from './channels.ts';

const cwd = dirname(temporaryFile('here'));
const context = {
  server: 'files',
  env: { TOKEN: 'mine' },
  hostEnv: { PATH: process.env['PATH'], OPENAI_API_KEY: 'secret', EXTRA: 'named' },
  cwd,
  platform: process.platform,
  maxMessageBytes: 1_000_000,
  clock: systemClock,
  onNegotiated: () => undefined,
};
const stdio: StdioLaunch = { kind: 'stdio', command: process.execPath, args: [FAULTY], env: {}, inheritEnv: 'safe' };

async function answerOf(launch: StdioLaunch, request: Message): Promise<string> {
  const channel = await openChannel(launch, context);
  const answers: Message[] = [];
  channel.onmessage = (message) => answers.push(message);
  await channel.start();
  await channel.send(request);
  await eventually(() => answers.length > 0);
  await channel.close();
  const { result } = answers[0] as { result: { content: { text: string }[] } };
  return result.content[0]?.text ?? '';
}

verifies('CFG-20', 'a stdio server really runs with the environment of its entry and no key of the host', async () => {
  const env = JSON.parse(await answerOf({ ...stdio, inheritEnv: ['EXTRA'] }, call(1, 'env')));
  expect(env).toMatchObject({ PATH: context.hostEnv.PATH, TOKEN: 'mine', EXTRA: 'named' });
  expect(Object.keys(env).sort()).toEqual(['EXTRA', 'PATH', 'PLEXUS_PROCESS', 'TOKEN']);
});

test('a relative directory starts from that of the context', async () => {
  mkdirSync(join(cwd, 'inner'));
  const printPlace = `process.stdin.once('data', () => console.log(JSON.stringify({ result: { content: [{ text: process.cwd() }] } })))`;
  const launch = { ...stdio, args: ['-e', printPlace] };
  expect(await answerOf({ ...launch, cwd: 'inner' }, {})).toBe(join(cwd, 'inner'));
  expect(await answerOf(launch, {})).toBe(cwd);
});

test('a server inside the host is given its end', async () => {
  const serve = (channel: { send(message: Message): Promise<void> }) => channel.send({ id: 1 });
  const channel = await openChannel({ kind: 'in-process', serve }, context);
  const heard: Message[] = [];
  channel.onmessage = (message) => heard.push(message);
  await channel.start();
  await eventually(() => heard.length > 0);
  expect(heard).toEqual([{ id: 1 }]);
});

test('a server behind a URL gets a channel of its kind, which has opened nothing yet', async () => {
  const negotiatedTransport = { http: 'http', sse: 'sse', ws: undefined, auto: undefined };
  for (const kind of ['http', 'sse', 'ws', 'auto'] as const) {
    const channel = await openChannel({ kind, url: 'http://127.0.0.1:9/mcp', headers: {} }, context);
    expect(channel.report?.()).toMatchObject({ isRemote: true });
    expect([kind, channel.pid]).toEqual([kind, undefined]);
    if (negotiatedTransport[kind]) expect(channel.negotiatedTransport).toBe(negotiatedTransport[kind]);
    await channel.close();
  }
});
