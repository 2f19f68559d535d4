// Owns `plexus approve` and `plexus revoke`: a person's word on a server that a file in the workspace defines.

import { homedir } from 'node:os';
import { systemClock } from '../../kernel/clock.ts';
import { nearest } from '../../kernel/nearest.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { commandLine, type ServerDefinition } from '../../model/server.ts';
import type { Gate } from '../../trust/gate.ts';
import { type Command, type Context, UsageError } from '../command.ts';
import { printable } from '../render/text.ts';

export const approve: Command = {
  usage: 'approve NAME',
  options: {},
  async run(context) {
    const { gate, definition } = await find(context);
    const { name, launch } = definition;
    const already = (await gate.judge(definition)) === 'trusted';
    if (!already) await gate.approve(definition);
    const command = commandLine(launch);
    return {
      data: { name, command, approved: true, already },
      text: () =>
        printable(already ? `"${name}" is trusted already.` : `"${name}" may start from now on. It runs: ${command}`),
    };
  },
};

export const revoke: Command = {
  usage: 'revoke NAME',
  options: {},
  async run(context) {
    const { gate, definition } = await find(context);
    const { name } = definition;
    await gate.revoke(name);
    return {
      data: { name, approved: false },
      text: () => printable(`"${name}" will not start any more before it is approved again.`),
    };
  },
};

async function find(context: Context): Promise<{ gate: Gate; definition: ServerDefinition }> {
  const [server, extra] = context.positionals;
  if (server === undefined || extra !== undefined) throw new UsageError('name one server');
  const [{ loadConfig }, { createTrust }, { createFileStore }, { stateFolder }] = await Promise.all([
    import('../../config/load.ts'),
    import('../../opening.ts'),
    import('../../store/file.ts'),
    import('../../config/scopes.ts'),
  ]);
  const around = { cwd: context.cwd, env: context.env, home: homedir(), platform: process.platform };
  const { config: configFile } = context.runtimeOptions;
  const { definitions } = await loadConfig({
    ...around,
    discover: true,
    ...(configFile !== undefined && { configFile }),
  });
  const definition = definitions.find(({ name }) => name === server);
  if (definition === undefined) {
    const names = definitions.map(({ name }) => name);
    throw new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions) });
  }
  return { gate: createTrust(around, createFileStore(stateFolder(around), systemClock), systemClock), definition };
}
