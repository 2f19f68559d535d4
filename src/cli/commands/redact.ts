// Owns `plexus redact`: a text without the secrets in it, as Plexus would log it.

import { createRedactor, KnownSecrets } from '../../shaping/redact.ts';
import type { Command } from '../command.ts';
import { answerLines, readWhole } from '../given-texts.ts';
import { printable } from '../render/text.ts';

export const redact: Command = {
  usage: 'redact [FILE|-]\n       plexus redact [FILE|-] --jsonl',
  options: { jsonl: { type: 'boolean' } },
  help: { jsonl: 'read one { text } a line, and print one answer { text, found } a line' },
  examples: ['redact server.log', 'redact < server.log', 'redact --jsonl < texts.jsonl'],
  async run(context) {
    const { inspect } = createRedactor(new KnownSecrets());
    if (context.values['jsonl']) return answerLines(context, ({ text }) => inspect(text));
    const inspected = inspect(await readWhole(context));
    const { text, found } = inspected;
    if (found.length > 0)
      context.complain((paint) => paint.dim(`${found.length} ${found.length === 1 ? 'secret' : 'secrets'} replaced.`));
    // Into a file or a pipe it goes to the last byte; a screen must not be driven by it.
    return {
      data: inspected,
      text: () => printable(text),
      ...(!context.toTerminal && { bytes: Buffer.from(text) }),
    };
  },
};
