// Owns the proof that a loop with an adapter that forgets to close its runtime leaves nothing behind, however its program ends.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { FAULTY } from '../servers/faulty.ts';
import { eventually, isRunning, pidsOnce, temporaryFile } from '../servers/processes.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Two steps of a model by hand, and no `close()`. */
const loop = `
  import { createRuntime } from 'plexus';
  import { aiTools } from 'plexus/ai-sdk';
  import { responsesTools } from 'plexus/openai';
  const [, faulty, pidFile, last] = process.argv;
  const mcp = await createRuntime({
    discover: false,
    interactive: false,
    servers: { s: { command: process.execPath, args: [faulty, '--pid-file', pidFile] } },
    permissions: [{ tool: 'mcp__*', action: 'allow' }],
  });
  await mcp.ready({ orThrow: true });
  const { tools } = aiTools(mcp);
  await tools.mcp__s__echo.execute({ text: 'one' }, { toolCallId: 'c1', messages: [] });
  const call = { type: 'function_call', call_id: 'c2', name: 'mcp__s__echo', arguments: '{"text":"two"}' };
  console.log((await responsesTools(mcp).run([call]))[0].output);
  if (last === 'exit') process.exit(0);
  if (last === 'throw') throw new Error('the loop broke');
  if (last === 'dispose') await mcp[Symbol.asyncDispose]();
`;

test.each(['exit', 'throw', 'dispose', 'SIGTERM'])('a program that ends by %s', async (last) => {
  const pidFile = temporaryFile('pids');
  const child = spawn(process.execPath, ['--input-type=module', '-e', loop, FAULTY, pidFile, last], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [said] = await once(child.stdout, 'data');
  expect(String(said)).toContain('two');
  const [server = 0] = await pidsOnce(pidFile, 1);
  if (last === 'SIGTERM') child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  await eventually(() => !isRunning(server));
});
