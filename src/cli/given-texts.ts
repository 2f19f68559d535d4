// Owns the texts that a command is given: a file or standard input as a whole, or one `{ text, surface? }` a line, answered
// as it comes.

import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { isObject, parseJson } from '../kernel/json.ts';
import { type CommandResult, type Context, UsageError } from './command.ts';
import { lineText } from './render/json.ts';

export interface GivenText {
  readonly text: string;
  readonly surface: string | undefined;
}

/** What it is about a line that makes no answer to it possible. */
export class BrokenLine extends Error {
  override readonly name = 'BrokenLine';
}

/** The file that the words name; standard input without any. */
export function fileIn({ positionals: [file = '-', extra] }: Context): string {
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`);
  return file;
}

export async function readWhole(context: Context): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of piecesOf(fileIn(context), context)) pieces.push(piece);
  return pieces.join('');
}

/** One document for each line, in their order. A line that cannot be read has its own, and the exit code tells. */
export function answerLines(context: Context, answer: (given: GivenText) => unknown): CommandResult {
  const file = fileIn(context);
  let broken = 0;
  const answered = (line: string, at: number) => {
    try {
      return lineText(answer(parseLine(line)));
    } catch (error) {
      if (!(error instanceof BrokenLine)) throw error;
      broken++;
      const message = `Line ${at} ${error.message}.`;
      return lineText({ error: { code: 'USAGE', message, remedy: 'fix-call' } });
    }
  };
  return {
    data: undefined,
    text: () => '',
    bytes: new Uint8Array(),
    more: async function* () {
      let count = 0;
      for await (const lines of linesOf(piecesOf(file, context))) {
        const all = lines.map((line) => ({ line, at: ++count })).filter(({ line }) => line.trim() !== '');
        if (all.length > 0) yield all.map(({ line, at }) => answered(line, at)).join('\n');
      }
      if (broken > 0)
        context.complain((paint) =>
          paint.yellow(`${broken} of ${count} lines could not be read; their answers say why.`),
        );
    },
    get exitCode() {
      return broken > 0 ? 1 : 0;
    },
  };
}

function parseLine(line: string): GivenText {
  const parsed = parseJson(line);
  if (!parsed.ok) throw new BrokenLine('is not valid JSON');
  const { value } = parsed;
  if (!isObject(value) || typeof value['text'] !== 'string') throw new BrokenLine('has no "text" that is a text');
  const { text, surface } = value;
  if (surface !== undefined && surface !== null && typeof surface !== 'string')
    throw new BrokenLine('has a "surface" that is not a text');
  return { text, surface: surface ?? undefined };
}

async function* piecesOf(file: string, { cwd, signal, stdin }: Context): AsyncGenerator<string> {
  const path = resolve(cwd, file);
  const stream: Readable = file === '-' ? stdin : createReadStream(path);
  stream.setEncoding('utf8');
  try {
    for await (const piece of addAbortSignal(signal, stream)) yield piece;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (signal.aborted || code === undefined) throw error;
    throw new UsageError(`${file === '-' ? 'standard input' : path} cannot be read (${code})`);
  }
}

/** The lines that each piece completes. Nothing but a line feed ends one: JSON may hold the other separators as they are. */
async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const piece of pieces) {
    const end = piece.lastIndexOf('\n');
    if (end >= 0) yield (rest + piece.slice(0, end)).split('\n');
    rest = end < 0 ? rest + piece : piece.slice(end + 1);
  }
  if (rest !== '') yield [rest];
}
