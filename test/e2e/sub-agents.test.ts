// Owns the proof of what sub-agents get: tools as the setting leaves them, connections of their agent, and nothing more.

import { join } from 'node:path';
import { beforeEach, expect } from 'vitest';
import type { RuntimeOptions } from '../../src/api.ts';
import { failureAsOutcome, serveTools, type Turn, type View } from '../../src/index.ts';
import { faulty } from '../servers/faulty.ts';
import { pidsIn } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import { createFolder, start as startIn, textOf } from './runtimes.ts';

let folder: string;
let subagents: unknown;

beforeEach(() => {
  folder = createFolder();
  subagents = 'inherit';
});

const files = () => faulty('--pid-file', join(folder, 'pids'), '--log', join(folder, 'log'));
const setting = () => ({ name: 'test', scope: 'host' as const, read: () => ({ plexus: { subagents } }) });
const start = (options: RuntimeOptions = {}) =>
  startIn(folder, { servers: { files: files() }, extraSources: [setting()], ...options });
const seenBy = (view: View) => view.turn().tools.map(({ id }) => id.tool);

interface Step {
  readonly tool: string;
  readonly args: object;
}
/** What a model would do next, given what it has read. */
type Script = (turn: Turn, read: readonly string[]) => Step | undefined;

/** One agent: asks its model for calls until there are none, each turn with the tools as they are then. */
async function runAgent(view: View, model: Script): Promise<readonly string[]> {
  const read: string[] = [];
  for (;;) {
    const turn = view.turn();
    const step = model(turn, read);
    if (step === undefined) return read;
    const outcome = await turn.call(step.tool, step.args).catch(failureAsOutcome);
    read.push(String(textOf(outcome as never) ?? outcome.text));
  }
}

verifies(
  ['INT-02', 'INT-03', 'EXT-13'],
  'an agent hands work to a sub-agent, which uses its processes, sees less and may do no more',
  async () => {
    const reader: Script = (turn, read) => {
      const steps: readonly Step[] = [
        { tool: 'mcp__files__echo', args: { text: turn.tools.map(({ name }) => name).join(' ') } },
        { tool: 'mcp__files__write', args: { text: 'by the sub-agent' } },
        { tool: 'mcp__files__add', args: { a: 1, b: 2 } },
      ];
      return steps[read.length];
    };
    const delegate = {
      description: 'Lets a sub-agent look at something.',
      run: async () => (await runAgent(agent.child({ tools: ['*__echo', '*__add'], permissions }), reader)).join('\n'),
    };
    const permissions = [
      { tool: 'mcp__*', action: 'allow' as const },
      { tool: 'mcp__files__add', action: 'deny' as const },
    ];
    const runtime = await start({ servers: { files: files(), team: serveTools({ delegate }) } });
    await runtime.ready({ orThrow: true });
    const agent = runtime.view();
    const leader: Script = (_turn, { length }) =>
      [
        { tool: 'mcp__team__delegate', args: {} },
        { tool: 'mcp__files__add', args: { a: 1, b: 2 } },
      ][length];
    const [told = '', own] = await runAgent(agent, leader);
    const [seen, hidden, denied] = told.split(/\n(?=MCP error)/);
    expect(seen, 'what the sub-agent saw').toBe('mcp__files__add mcp__files__echo');
    expect([hidden, denied], 'and what it could not do').toEqual([
      expect.stringContaining('TOOL_UNKNOWN'),
      expect.stringContaining('CALL_DENIED'),
    ]);
    expect(own, 'which its agent can').toBe('3');
    expect(pidsIn(join(folder, 'pids')), 'one process for both').toHaveLength(1);
  },
);

verifies('INT-02', 'the setting leaves sub-agents all tools, none or some, and counts while they run', async () => {
  const runtime = await start();
  await runtime.ready({ orThrow: true });
  const [agent, child] = [runtime.view(), runtime.view().child()];
  const all = seenBy(agent);
  expect(seenBy(child)).toEqual(all);
  for (const [value, seen] of [
    ['none', []],
    [
      ['mcp__files__echo', '*__add', 'mcp__other'],
      ['add', 'echo'],
    ],
    ['inherit', all],
  ] as const) {
    subagents = value;
    await runtime.reload();
    expect(seenBy(child), String(value)).toEqual(seen);
    expect(seenBy(runtime.child().child()), 'also further down').toEqual(seen);
    expect(seenBy(agent), 'an agent of its own is no sub-agent').toEqual(all);
    expect(seenBy(agent.narrow({ tools: ['*__add'] })), 'and stays one with fewer tools').toEqual(['add']);
  }
  subagents = ['mcp__files__echo'];
  await runtime.reload();
  expect(seenBy(agent.child({ tools: ['*__add', '*__echo'] })), 'both count').toEqual(['echo']);
  await expect(child.turn().call('mcp__files__add', { a: 1, b: 2 })).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
});

verifies(
  'INT-02',
  'a yes of a sub-agent’s own approve is put to its agent’s too, and nobody else’s counts',
  async () => {
    const asked: string[] = [];
    const approve = (who: string, answer: 'no' | 'once') => async () => {
      asked.push(who);
      return answer;
    };
    const runtime = await start({ permissions: [], approve: approve('runtime', 'no') });
    await runtime.ready({ orThrow: true });
    const echo = (view: View) => view.turn().call('mcp__files__echo', { text: 'x' });
    const agent = runtime.view({ approve: approve('agent', 'once') });
    await echo(agent.child({ approve: approve('sub-agent', 'once') }));
    expect(asked.splice(0)).toEqual(['sub-agent', 'agent']);
    await echo(agent.narrow({ approve: approve('narrowed', 'once') }));
    expect(asked.splice(0), 'the same agent may be asked in another way').toEqual(['narrowed']);
    await echo(agent.child().narrow({ approve: approve('narrowed', 'once') }));
    expect(asked.splice(0), 'a sub-agent stays one').toEqual(['narrowed', 'agent']);
    await expect(echo(runtime.view().child({ approve: approve('sub-agent', 'once') }))).rejects.toMatchObject({
      code: 'APPROVAL_REFUSED',
    });
    expect(asked.splice(0)).toEqual(['sub-agent', 'runtime']);
    await expect(echo(agent.child({ approve: approve('sub-agent', 'no') }))).rejects.toMatchObject({
      code: 'APPROVAL_REFUSED',
    });
    expect(asked.splice(0)).toEqual(['sub-agent']);
    const echoWith = (view: Pick<View, 'turn'>) =>
      view.turn().call('mcp__files__echo', { text: 'x' }, { approve: approve('call', 'once') });
    await echoWith(runtime.view());
    expect(asked.splice(0), 'the approve of one call stands in for the view’s').toEqual(['call']);
    await expect(echoWith(runtime.child()), 'but not for that of a sub-agent’s agent').rejects.toMatchObject({
      code: 'APPROVAL_REFUSED',
    });
    expect(asked).toEqual(['call', 'runtime']);
  },
);
