// Owns the proof, with real processes, of who shares a server with whom: runtimes of one process, views and their children.

import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { RuntimeOptions } from '../../src/api.ts';
import { faulty } from '../servers/faulty.ts';
import { eventually, isRunning, pidsIn } from '../servers/processes.ts';
import { endOf } from '../unit/call/stages.ts';
import { verifies } from '../verifies.ts';
import { createFolder, start as startIn, statusOf, textOf } from './runtimes.ts';

let folder: string;
let pids: () => number[];

beforeEach(() => {
  folder = createFolder();
  pids = () => pidsIn(join(folder, 'pids'));
});

const server = (...flags: string[]) => faulty('--pid-file', join(folder, 'pids'), ...flags);
const start = (options: RuntimeOptions = {}) => startIn(folder, { servers: { files: server() }, ...options });
const pidOf = (runtime: Parameters<typeof statusOf>[0]) => statusOf(runtime, 'files').pid ?? 0;
const echo = 'mcp__files__echo';

describe('two runtimes of one process', () => {
  verifies(
    ['EXT-13', 'INT-05'],
    'share one server; who closes leaves it to the other, and the last takes it along',
    async () => {
      const [one, other] = await Promise.all([start(), start()]);
      const pid = pidOf(one);
      expect([pidOf(other), pids()]).toEqual([pid, [pid]]);
      const both = await Promise.all([one, other].map((each) => each.turn().call(echo, { text: 'both' })));
      expect(both.map(textOf)).toEqual(['both', 'both']);
      await one.close();
      expect([isRunning(pid), statusOf(one, 'files').state]).toEqual([true, 'stopped']);
      expect(textOf(await other.turn().call(echo, { text: 'still here' }))).toBe('still here');
      await other.close();
      expect([isRunning(pid), pids().length]).toEqual([false, 1]);
    },
  );

  verifies('EXT-13', 'share the next one too, when theirs dies', async () => {
    const [one, other] = await Promise.all([start(), start()]);
    const former = pidOf(one);
    process.kill(former, 'SIGKILL');
    await eventually(() => [one, other].every((each) => ![0, former].includes(pidOf(each))));
    expect([pidOf(one) === pidOf(other), pids().length]).toEqual([true, 2]);
  });

  verifies(
    ['EXT-13', 'REC-21'],
    'part when one of them reconnects by hand: it gets a fresh one, the other keeps its own',
    async () => {
      const [one, other] = [await start(), await start()];
      const former = pidOf(one);
      one.reconnect('files');
      expect(await one.ready()).toMatchObject({ ready: ['files'] });
      expect(pidOf(one)).not.toBe(former);
      expect([pidOf(other), isRunning(former)]).toEqual([former, true]);
      expect(textOf(await other.turn().call(echo, { text: 'kept' }))).toBe('kept');
    },
  );

  const differences: Record<string, () => RuntimeOptions> = {
    'another environment': () => ({ env: { ...process.env, ACCOUNT: 'b' } }),
    'another folder': () => ({ cwd: createFolder() }),
    'other variables': () => ({ servers: { files: { ...server(), env: { TOKEN: 'b' } } } }),
    'other abilities': () => ({ elicit: async () => ({ action: 'decline' }) }),
    'roots of its own': () => ({ roots: async () => [] }),
    'another name': () => ({ servers: { other: server() } }),
    'a wish to be alone': () => ({ servers: { files: { ...server(), perClient: true } } }),
  };

  for (const [what, options] of Object.entries(differences)) {
    verifies('EXT-13', `share nothing where one has ${what}`, async () => {
      await start();
      const other = await start(options());
      expect(other.status()[0]?.status).toBe('connected');
      expect(new Set(pids()).size).toBe(2);
    });
  }
});

describe('a view', () => {
  verifies(
    ['EXT-13', 'INT-02', 'INT-05'],
    'and its children use the servers that are there, and start none',
    async () => {
      const runtime = await start();
      const view = runtime.view();
      const answers = [view, view.child(), runtime.child().child()].map((each) =>
        each.turn().call(echo, { text: 'x' }),
      );
      expect((await Promise.all(answers)).map(textOf)).toEqual(['x', 'x', 'x']);
      await view.close();
      expect([pids(), isRunning(pidOf(runtime))]).toEqual([[pidOf(runtime)], true]);
    },
  );

  verifies(
    'EXT-13',
    'that wants to be alone has a process of its own, from its first call until it is closed',
    async () => {
      const runtime = await start();
      const view = runtime.view({ perClient: true });
      expect(view.turn().revision, 'it sees the same').toBe(runtime.turn().revision);
      expect(pids()).toHaveLength(1);
      await view.turn().call(echo, { text: 'x' });
      await view.child().turn().call(echo, { text: 'x' });
      const [shared = 0, own = 0, ...more] = pids();
      expect([shared, more]).toEqual([pidOf(runtime), []]);
      await view.close();
      expect([isRunning(own), isRunning(shared)]).toEqual([false, true]);
    },
  );

  test('that is closed starts nothing again', async () => {
    const runtime = await start();
    const view = runtime.view({ perClient: true });
    await view.turn().call(echo, { text: 'x' });
    await view.close();
    expect(await endOf(view.turn().call(echo, { text: 'x' }))).toBe('CONNECTION_LOST');
    const unused = runtime.view({ perClient: true });
    await unused.close();
    expect(await endOf(unused.turn().call(echo, { text: 'x' }))).toBe('CONNECTION_LOST');
    expect(pids()).toHaveLength(2);
  });

  test('whose child is closed goes on', async () => {
    const runtime = await start();
    const view = runtime.view({ perClient: true });
    const child = view.child();
    await child.turn().call(echo, { text: 'x' });
    await child.close();
    expect(textOf(await view.turn().call(echo, { text: 'on' }))).toBe('on');
    expect(pids()).toHaveLength(2);
  });

  verifies(
    'EXT-13',
    'has one for itself too where the server’s entry wants that, and the runtime ends with all of them',
    async () => {
      const runtime = await start({ servers: { files: { ...server(), perClient: true } } });
      for (const view of [runtime.view(), runtime.view()]) await view.turn().call(echo, { text: 'x' });
      const all = pids();
      expect(new Set(all).size).toBe(3);
      await runtime.close();
      expect(all.map(isRunning)).toEqual([false, false, false]);
    },
  );

  test('that lost its own server gets another one for itself', async () => {
    const runtime = await start();
    const view = runtime.view({ perClient: true });
    await view.turn().call(echo, { text: 'x' });
    const [, own = 0] = pids();
    process.kill(own, 'SIGKILL');
    await eventually(() => !isRunning(own));
    // Whether this one comes too early, and is lost with the process, is not ours to say.
    expect([undefined, 'OUTCOME_UNKNOWN']).toContain(
      await endOf(
        view
          .turn()
          .call(echo, { text: 'x' })
          .then(() => undefined),
      ),
    );
    expect(textOf(await view.turn().call(echo, { text: 'again' }))).toBe('again');
    expect(pids()).toHaveLength(3);
  });

  verifies('LIF-10', 'that is alone with its server answers what it asks, with its own handlers', async () => {
    const runtime = await start();
    const elicit = async () => ({ action: 'accept', content: { name: 'Ada' } }) as const;
    const asked = await runtime.view({ perClient: true, elicit }).turn().call('mcp__files__ask');
    expect(textOf(asked)).toContain('Ada');
    expect(textOf(await runtime.turn().call('mcp__files__ask'))).not.toContain('Ada');
  });

  test('sees only the tools it was given, and its children no more than that', async () => {
    const runtime = await start();
    const namesOf = (view: Pick<typeof runtime, 'turn'>) => view.turn().tools.map(({ id }) => id.tool);
    const view = runtime.view({ tools: ['mcp__files__e*', 'mcp__files__add'] });
    expect(namesOf(view)).toEqual(['add', 'echo', 'env']);
    const child = view.child({ tools: ['*__echo', '*__write'] });
    expect(namesOf(child)).toEqual(['echo']);
    expect([
      await endOf(child.turn().call('mcp__files__add')),
      await endOf(view.turn().call('mcp__files__write')),
    ]).toEqual(['TOOL_UNKNOWN', 'TOOL_UNKNOWN']);
    expect(textOf(await child.turn().call(echo, { text: 'x' }))).toBe('x');
    expect([view.turn().tools, child.turn().tools]).toEqual([view.turn().tools, child.turn().tools]);
    expect(view.turn().tools, 'the same list while nothing changes').toBe(view.turn().tools);
    await runtime.disconnect('files');
    expect([namesOf(view), namesOf(child)]).toEqual([[], []]);
  });

  test('has approvals of its own', async () => {
    const asked: string[] = [];
    const runtime = await start({
      permissions: [],
      approve: async ({ kind }) => {
        asked.push(kind);
        return 'session';
      },
    });
    const [one, other] = [runtime.view(), runtime.view()];
    for (const view of [one, one, other]) await view.turn().call(echo, { text: 'x' });
    expect(asked).toHaveLength(2);
  });
});
