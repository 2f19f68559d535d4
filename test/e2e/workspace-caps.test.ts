// Owns the proof that a repository's file that holds too much loosens nothing: while it is refused, every tool asks.

import { expect, onTestFinished, test } from 'vitest';
import type { ApprovalAnswer, ApprovalRequest } from '../../src/trust/approval.ts';
import { faulty } from '../servers/faulty.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { start, textOf } from './runtimes.ts';

function createBox(): Sandbox {
  const box = new Sandbox();
  onTestFinished(() => box.remove());
  return box;
}

const deny = (count: number) => ({
  permissions: { rules: Array.from({ length: count }, () => ({ tool: 'mcp__mine__echo', action: 'deny' })) },
});

verifies(
  ['CFG-17', 'PER-02'],
  'while a file of the workspace is over a cap every call asks, whatever was allowed or granted before',
  async () => {
    const box = createBox();
    const asked: ApprovalRequest[] = [];
    let answer: ApprovalAnswer = 'always';
    const approve = async (request: ApprovalRequest) => {
      asked.push(request);
      return answer;
    };
    const runtime = await start(box.workspace, {
      ...{ discover: true, watch: false, home: box.home, approve },
      servers: { mine: faulty() },
      gate: { decide: () => ({ verdict: 'allow' }) },
    });
    const echo = () => runtime.turn().call('mcp__mine__echo', { text: 'x' });
    expect([textOf(await echo()), asked]).toEqual(['x', []]);

    box.write('.mcp.json', deny(1_001));
    await runtime.reload();
    expect(runtime.events).toContainEqual({
      type: 'config.file-capped',
      file: box.path('.mcp.json'),
      because: expect.stringContaining('has 1001 rules'),
    });
    await echo();
    await echo();
    expect(asked).toMatchObject(Array(2).fill({ kind: 'tool', isEveryTime: true, byRule: true }));
    expect(asked[0]).toMatchObject({
      because: `${box.path('.mcp.json')} holds too much to be read, and it may deny this`,
    });
    answer = 'no';
    await expect(echo()).rejects.toMatchObject({ code: 'APPROVAL_REFUSED' });

    box.write('.mcp.json', deny(1_000));
    await runtime.reload();
    await expect(echo()).rejects.toMatchObject({ code: 'CALL_DENIED' });
  },
);

test('the command line says so too', async () => {
  const box = createBox();
  box.write('~/.config/plexus/mcp.json', {
    mcpServers: { mine: faulty() },
    permissions: { rules: [{ tool: 'mcp__*', action: 'allow' }] },
  });
  box.write('.mcp.json', 'x'.repeat(1024 * 1024 + 1));
  expect((await box.plexus('list')).out).toContain('until it is shortened every tool asks');
  expect((await box.plexus('policy', 'why', 'mine', 'echo')).out).toContain('holds too much to be read');
});
