// Owns `plexus read`: one resource, as text on a screen, to the last byte everywhere else.

import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isSystemError, reasonOf } from '../../kernel/replace-file.ts';
import { RuntimeError } from '../../model/errors.ts';
import type { ResourceContents, ResourcePart } from '../../model/resource.ts';
import { type Command, type CommandResult, type Context, UsageError } from '../command.ts';
import { printable, shellWord } from '../render/text.ts';
import { withOffers } from '../with-offers.ts';

export const read: Command = {
  usage: 'read URI [--server NAME] [--out FILE]',
  options: { server: { type: 'string' }, out: { type: 'string' } },
  help: {
    'server NAME': 'the server that has it, where the uri alone does not tell',
    'out FILE': 'write it to a file, as it is',
  },
  examples: ['read note://today', 'read file:///logo.png --out logo.png'],
  async run(context) {
    const [uri, extra] = context.positionals;
    if (uri === undefined) throw new UsageError('name the uri of a resource');
    if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`);
    const { server, out } = context.values;
    const named = typeof server === 'string' ? server : undefined;
    return withOffers(context, named, async (runtime) => {
      const work = runtime.resources.read(uri, { server: named, signal: context.signal });
      const found = await context.waitFor(`reading ${uri}`, work);
      const { problems } = found;
      if (problems.length > 0) context.complain((paint) => paint.yellow(problems.map(printable).join('\n')));
      return typeof out === 'string' ? written(found, out, context) : shown(found, context);
    });
  },
};

function shown(found: ResourceContents, { toTerminal }: Context): CommandResult {
  const text = () => found.contents.map((part) => screenText(part)).join('\n');
  return { data: found, text, ...(!toTerminal && { bytes: bytesOf(found) }) };
}

/** Bytes on a screen are of use to nobody, and may drive it. */
function screenText(part: ResourcePart): string {
  if ('text' in part) return printable(part.text);
  const { uri, mimeType = 'no stated type', blob } = part;
  const size = Buffer.byteLength(blob, 'base64');
  return printable(`${size} bytes (${mimeType}). Keep them with: plexus read ${shellWord(uri)} --out FILE`);
}

async function written(found: ResourceContents, out: string, { cwd }: Context): Promise<CommandResult> {
  const file = resolve(cwd, out);
  const bytes = bytesOf(found);
  try {
    await writeFile(file, bytes);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const problem = error.code === 'ENOENT' ? 'its folder does not exist' : reasonOf(error);
    throw new RuntimeError('OUTPUT_UNWRITABLE', { file, problem }, { cause: error });
  }
  const { server, uri } = found;
  return {
    data: { server, uri, file, bytes: bytes.length },
    text: () => `${bytes.length} bytes written to ${printable(file)}`,
  };
}

const bytesOf = ({ contents }: ResourceContents): Buffer =>
  Buffer.concat(contents.map((part) => ('text' in part ? Buffer.from(part.text) : Buffer.from(part.blob, 'base64'))));
