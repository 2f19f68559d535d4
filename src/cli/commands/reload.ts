// Owns `plexus reload`: makes the running gateway read the configuration again, and with --hard start every server anew.

import { RuntimeError } from '../../model/errors.ts';
import { type Command, type Paint, UsageError } from '../command.ts';
import { askGateway, sayUsed } from '../gateway-use.ts';
import { diagnosticsText } from '../render/diagnostics.ts';
import { printable } from '../render/text.ts';

const NO_GATEWAY =
  'No gateway runs with this configuration. Commands read the files each time, so there is nothing to reload.';

export const reload: Command = {
  usage: 'reload [--hard]',
  options: { hard: { type: 'boolean' } },
  help: { hard: 'end every server of this folder, calls included, start it anew and list its tools again' },
  examples: ['reload', 'reload --hard'],
  async run(context) {
    const { positionals, values, signal } = context;
    if (positionals.length > 0) throw new UsageError('it takes no name; for one server: plexus reconnect NAME');
    // Without --hard the question is the reload: the gateway reads its files before it answers.
    const asked = await askGateway(context);
    if (asked === undefined) return { data: { servers: [], diagnostics: [] }, text: () => NO_GATEWAY };
    const { gateway } = asked;
    sayUsed(context, gateway);
    const asking = asked.ask(values['hard'] ? { afresh: true } : { settled: true });
    const report = await context.waitFor('reloading the servers', asking);
    signal.throwIfAborted();
    if (report === undefined) throw new RuntimeError('GATEWAY_UNREACHABLE', { reason: 'it ended while it reloaded' });
    const { servers, diagnostics } = report;
    const states = servers.map(({ name, state }) => `${name} ${state}`).join(', ') || 'no servers';
    const text = (paint: Paint) =>
      [printable(`Reloaded: ${states}.`), diagnosticsText(diagnostics, paint)].join('\n').trimEnd();
    return { data: { servers, diagnostics, gateway }, text };
  },
};
