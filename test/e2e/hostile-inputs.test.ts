// Owns the proof, with a hostile repository, that an approval covers what the entry reads from `inputs`: a default neither fills
// anything by itself nor changes unnoticed, and a copy of an approved entry in another repository is not approved.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { RuntimeOptions } from '../../src/api.ts';
import { createRuntime } from '../../src/runtime.ts';
import type { ApprovalRequest } from '../../src/trust/approval.ts';
import { faulty } from '../servers/faulty.ts';
import { eventually, isRunning, pidsIn } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { serveMcp } from './web.ts';

function createSandbox(): Sandbox {
  const box = new Sandbox();
  onTestFinished(() => box.remove());
  return box;
}

async function start(box: Sandbox, options: RuntimeOptions = {}) {
  const env = { PATH: process.env['PATH'], SERVICE_TOKEN: 'made-up-service-token' };
  const runtime = await createRuntime({ cwd: box.workspace, home: box.home, env, interactive: false, ...options });
  onTestFinished(() => runtime.close());
  await runtime.ready();
  return runtime;
}

const input = (preset: string) => [{ id: 'x', type: 'promptString', description: 'Anything', default: preset }];
const sendsToken = { headers: { Authorization: 'Bearer ${SERVICE_TOKEN}' } };

verifies(
  ['TRU-01', 'EXT-04'],
  'the default of an input runs nothing by itself, and once it changes the server asks again',
  async () => {
    const box = createSandbox();
    const [mine, theirs] = [box.path('mine'), box.path('theirs')];
    const { command, args } = faulty('--pid-file', '${input:x}');
    const write = (preset: string) =>
      box.write('.mcp.json', { inputs: input(preset), mcpServers: { local: { command, args } } });
    write(mine);
    const { out } = await box.plexus('approve', 'local');
    expect(out).toContain('Its input "x": nobody has answered it yet.');
    expect(out).toContain(`The file proposes ${mine}, which fills nothing.`);
    await box.plexus('list', '--live');
    expect(existsSync(mine)).toBe(false);

    const runtime = await start(box, { askInput: async () => mine });
    expect(runtime.status()).toMatchObject([{ name: 'local', state: 'connected' }]);
    expect(pidsIn(mine)).toHaveLength(1);
    expect((await box.plexus('approve', 'local')).out).toContain(`--pid-file ${mine}`);

    write(theirs);
    await runtime.reload();
    await runtime.ready();
    const change = `default of input x was ${mine} and is ${theirs}`;
    const expected = [{ name: 'local', state: 'needs-approval', error: { code: 'SERVER_UNTRUSTED' } }];
    expect(runtime.status()).toMatchObject(expected);
    expect(runtime.status()[0]?.error?.message).toContain(change);
    const { servers } = await box.json('list', '--live');
    expect(servers).toMatchObject(expected);
    await eventually(() => pidsIn(mine).every((pid) => !isRunning(pid)));
    expect([pidsIn(mine).length, existsSync(theirs)]).toEqual([1, false]);
  },
);

verifies(
  ['TRU-02', 'TRU-06', 'EXT-04'],
  'a token that was given to an address is not sent to the default of an input that fills the address later',
  async () => {
    const box = createSandbox();
    const [good, evil] = [await serveMcp(), await serveMcp()];
    const write = (preset: string) =>
      box.write('.mcp.json', { inputs: input(preset), mcpServers: { web: { url: '${input:x}', ...sendsToken } } });
    write(good.url);
    await box.plexus('approve', 'web', '--allow-env', 'SERVICE_TOKEN');
    const runtime = await start(box, { askInput: async () => good.url });
    const tokens = ({ received }: typeof good) => received.map(({ headers }) => headers['authorization']);
    expect(new Set(tokens(good))).toEqual(new Set(['Bearer made-up-service-token']));
    // The stream of the approved session opens after its first list.
    await eventually(() => good.received.some(({ method }) => method === 'GET'));

    write(evil.url);
    const before = good.received.length;
    await runtime.reload();
    await runtime.ready();
    await box.run(['list', '--live'], { env: { SERVICE_TOKEN: 'made-up-service-token' } });
    expect(tokens(evil)).toEqual([]);
    // The session with the approved server ends with the credentials it began with; no new one gets any.
    const opened = good.received.slice(before).filter(({ method }) => method !== 'DELETE');
    expect(opened.map(({ headers }) => headers['authorization'])).toEqual(opened.map(() => undefined));
  },
);

verifies(['TRU-01', 'TRU-02'], 'a second repository with a copy of the entry is not approved', async () => {
  const box = createSandbox();
  const web = await serveMcp();
  const { command, args } = faulty('--pid-file', join(box.folder, 'pids'));
  const entries = {
    inputs: input('unused'),
    mcpServers: {
      web: { url: web.url, ...sendsToken },
      // The same folder in both repositories, so that only the file of its input tells the two apart.
      local: { command, args, env: { X: '${input:x}' }, cwd: box.folder },
    },
  };
  box.write('.mcp.json', entries);
  box.write('copy/.mcp.json', entries);
  const env = { SERVICE_TOKEN: 'made-up-service-token' };
  await box.plexus('approve', 'local');
  await box.plexus('approve', 'web', '--allow-env', 'SERVICE_TOKEN');

  const cwd = box.path('copy');
  const requests: ApprovalRequest[] = [];
  const approve = async (request: ApprovalRequest) => {
    requests.push(request);
    return 'no' as const;
  };
  const runtime = await start(box, { cwd, approve, askInput: async () => 'an answer' });
  await box.run(['list', '--live'], { cwd: 'copy', env });
  const tokens = web.received.map(({ headers }) => headers['authorization']).filter((sent) => sent !== undefined);
  expect([tokens, existsSync(join(box.folder, 'pids'))]).toEqual([[], false]);
  expect(runtime.status().find(({ name }) => name === 'local')?.state).toBe('needs-approval');
  expect(
    requests.find(({ kind, ...rest }) => kind === 'server' && 'server' in rest && rest.server === 'local'),
  ).toMatchObject({
    inputs: [{ id: 'x', by: 'nobody', default: 'unused' }],
  });

  // In the first repository both approvals hold.
  await start(box, { askInput: async () => 'an answer' });
  expect(web.received.some(({ headers }) => headers['authorization'] === 'Bearer made-up-service-token')).toBe(true);
  expect(existsSync(join(box.folder, 'pids'))).toBe(true);
});
