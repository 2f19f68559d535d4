// Owns `plexus redact`: a text without the secrets in it, as Plexus would log it.

import { createRedactor, KnownSecrets } from '../../shaping/redact.ts';
import type { Command } from '../command.ts';
import { answerLines, readInput } from '../input-texts.ts';
import { printable } from '../render/text.ts';

export const redact: Command = {
  usage: 'redact [FILE|-]\n  plexus redact [FILE|-] --jsonl',
  options: { jsonl: { type: 'boolean' } },
  help: { jsonl: 'read one JSON { text } per line, and print one { text, found } per line' },
  examples: ['redact server.log', 'redact < server.log', 'redact --jsonl < texts.jsonl'],
  async run(context) {
    const { inspect } = createRedactor(new KnownSecrets());
    if (context.values['jsonl']) return answerLines(context, ({ text }) => inspect(text));
    const inspected = inspect(await readInput(context));
    const { text, found } = inspected;
    if (found.length > 0)
      context.warn((paint) => paint.dim(`${found.length} ${found.length === 1 ? 'secret' : 'secrets'} replaced.`));
    // Byte for byte into a file or pipe; on a terminal control characters are escaped.
    return {
      data: inspected,
      text: () => printable(text),
      ...(!context.toTerminal && { bytes: Buffer.from(text) }),
    };
  },
};
