// Owns `plexus approve` and `plexus revoke`: a person's word on a server that a file in the workspace defines.

import { systemClock } from '../../kernel/clock.ts';
import { nearest } from '../../kernel/nearest.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import { commandLine, type ServerDefinition } from '../../model/server.ts';
import type { Gate } from '../../trust/gate.ts';
import { type Command, type Context, UsageError } from '../command.ts';
import { loadConfigFor, surroundingsOf } from '../load-config.ts';
import { printable } from '../render/text.ts';

export const approve: Command = {
  usage: 'approve NAME',
  options: {},
  async run(context) {
    const name = nameIn(context);
    const { gate, definitions } = await openGate(context);
    const definition = definitions.find((each) => each.name === name);
    if (definition === undefined) throw unknownServer(name, definitions);
    const already = (await gate.judge(definition)) === 'trusted';
    if (!already) await gate.approve(definition);
    const command = commandLine(definition.launch);
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
    const name = nameIn(context);
    const { gate, definitions } = await openGate(context);
    const definition = definitions.find((each) => each.name === name);
    const had = (await gate.approvals(name)).length > 0;
    if (definition === undefined && !had) throw unknownServer(name, definitions);
    await gate.revoke(name);
    const text = had
      ? `The approval of "${name}" is taken back. What a file in a workspace defines under this name does not start any more.`
      : `There was no approval of "${name}" to take back.`;
    return { data: { name, approved: false, had }, text: () => printable(text) };
  },
};

function nameIn({ positionals: [name, extra] }: Context): ServerName {
  if (name === undefined || extra !== undefined) throw new UsageError('name one server');
  return name;
}

async function openGate(context: Context): Promise<{ gate: Gate; definitions: readonly ServerDefinition[] }> {
  const [{ createTrust }, { createFileStore }, { stateFolder }, { definitions }] = await Promise.all([
    import('../../opening.ts'),
    import('../../store/file.ts'),
    import('../../config/scopes.ts'),
    loadConfigFor(context),
  ]);
  const around = surroundingsOf(context);
  const store = createFileStore(stateFolder(around), systemClock);
  return { gate: createTrust(around, store, systemClock), definitions };
}

function unknownServer(server: ServerName, definitions: readonly ServerDefinition[]): RuntimeError {
  const names = definitions.map(({ name }) => name);
  return new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions) });
}
