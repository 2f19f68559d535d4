// Owns `plexus read`: one resource, as escaped text on a terminal, byte for byte into a pipe or file.

import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fullness, isSystemError, reasonOf } from '../../kernel/replace-file.ts';
import { RuntimeError } from '../../model/errors.ts';
import type { ResourceContents, ResourcePart } from '../../model/resource.ts';
import { type Command, type CommandResult, type Context, UsageError } from '../command.ts';
import { rejectExtra } from '../positionals.ts';
import { printable, shellWord } from '../render/text.ts';
import { withConnectedServers } from '../with-connected-servers.ts';

export const read: Command = {
  usage: 'read URI [--server NAME] [--out FILE]',
  options: { server: { type: 'string' }, out: { type: 'string' } },
  help: {
    'server NAME': 'the server to read it from, if several have the uri',
    'out FILE': 'write it to a file, byte for byte',
  },
  examples: ['read note://today', 'read file:///logo.png --out logo.png'],
  async run(context) {
    const [uri, extra] = context.positionals;
    if (uri === undefined) throw new UsageError('give the uri of a resource');
    rejectExtra(extra);
    const { server, out } = context.values;
    const named = typeof server === 'string' ? server : undefined;
    return withConnectedServers(context, named, async (runtime) => {
      const work = runtime.resources.read(uri, { server: named, signal: context.signal });
      const found = await context.waitFor(`reading ${uri}`, work);
      const { problems } = found;
      if (problems.length > 0) context.warn((paint) => paint.yellow(problems.map(printable).join('\n')));
      return typeof out === 'string' ? writeToFile(found, out, context) : printContents(found, context);
    });
  },
};

function printContents(found: ResourceContents, { toTerminal }: Context): CommandResult {
  const text = () => found.contents.map((part) => screenText(part)).join('\n');
  return { data: found, text, ...(!toTerminal && { bytes: bytesOf(found) }) };
}

/** Binary content is not printed on a terminal: it is unreadable and may hold control sequences. */
function screenText(part: ResourcePart): string {
  if ('text' in part) return printable(part.text);
  const { uri, mimeType = 'no stated type', blob } = part;
  const size = Buffer.byteLength(blob, 'base64');
  return printable(`${size} bytes (${mimeType}). Save them with: plexus read ${shellWord(uri)} --out FILE`);
}

async function writeToFile(found: ResourceContents, out: string, { cwd }: Context): Promise<CommandResult> {
  const file = resolve(cwd, out);
  const bytes = bytesOf(found);
  try {
    await writeFile(file, bytes);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const problem = error.code === 'ENOENT' ? 'its folder does not exist' : reasonOf(error);
    throw new RuntimeError('OUTPUT_UNWRITABLE', { file, problem, ...fullness(error) }, { cause: error });
  }
  const { server, uri } = found;
  return {
    data: { server, uri, file, bytes: bytes.length },
    text: () => `${bytes.length} bytes written to ${printable(file)}`,
  };
}

const bytesOf = ({ contents }: ResourceContents): Buffer =>
  Buffer.concat(contents.map((part) => ('text' in part ? Buffer.from(part.text) : Buffer.from(part.blob, 'base64'))));
