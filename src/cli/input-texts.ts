// Owns the texts that `scan` and `redact` read: a file or standard input as one text, or one JSON row `{ text, surface? }` a line,
// answered line by line.

import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { isObject, parseJson } from '../kernel/json.ts';
import { type CommandResult, type Context, UsageError } from './command.ts';
import { rejectExtra } from './positionals.ts';
import { lineText } from './render/json.ts';

export interface InputText {
  readonly text: string;
  readonly surface: string | undefined;
}

/** Why a line cannot be answered. The message continues "Line 3 …". */
export class InvalidLine extends Error {
  override readonly name = 'BrokenLine';
}

/** The file that the command line names; `-`, which is standard input, without one. At a terminal the person is told to type. */
function inputFile({ positionals: [file = '-', extra], stdin, warn }: Context): string {
  rejectExtra(extra);
  if (file === '-' && stdin.isTTY) warn((paint) => paint.dim(TYPE_IT));
  return file;
}

const END = process.platform === 'win32' ? 'Ctrl-Z and Enter' : 'Ctrl-D';
const TYPE_IT = `Reading standard input: type or paste the text, then press ${END} on an empty line. Or name a file.`;

export async function readInput(context: Context): Promise<string> {
  const chunks: string[] = [];
  for await (const chunk of chunksOf(inputFile(context), context)) chunks.push(chunk);
  return chunks.join('');
}

/** Prints one document for each line, in order. An invalid line gets an error document, and the exit code becomes 1. */
export function answerLines(context: Context, answer: (given: InputText) => unknown): CommandResult {
  const file = inputFile(context);
  let broken = 0;
  const answered = (line: string, at: number) => {
    try {
      return lineText(answer(parseLine(line)));
    } catch (error) {
      if (!(error instanceof InvalidLine)) throw error;
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
      for await (const lines of linesOf(chunksOf(file, context))) {
        const all = lines.map((line) => ({ line, at: ++count })).filter(({ line }) => line.trim() !== '');
        if (all.length > 0) yield all.map(({ line, at }) => answered(line, at)).join('\n');
      }
      if (broken > 0)
        context.warn((paint) => paint.yellow(`${broken} of ${count} lines could not be read; see their answers.`));
    },
    get exitCode() {
      return broken > 0 ? 1 : 0;
    },
  };
}

function parseLine(line: string): InputText {
  const parsed = parseJson(line);
  if (!parsed.ok) throw new InvalidLine('is not valid JSON');
  const { value } = parsed;
  if (!isObject(value) || typeof value['text'] !== 'string') throw new InvalidLine('has no "text" that is a text');
  const { text, surface } = value;
  if (surface !== undefined && surface !== null && typeof surface !== 'string')
    throw new InvalidLine('has a "surface" that is not a text');
  return { text, surface: surface ?? undefined };
}

async function* chunksOf(file: string, { cwd, signal, stdin }: Context): AsyncGenerator<string> {
  const path = resolve(cwd, file);
  const stream: Readable = file === '-' ? stdin : createReadStream(path);
  stream.setEncoding('utf8');
  try {
    for await (const chunk of addAbortSignal(signal, stream)) yield chunk;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (signal.aborted || code === undefined) throw error;
    throw new UsageError(`${file === '-' ? 'standard input' : path} cannot be read (${code})`);
  }
}

/** The lines that each chunk completes. Only a line feed ends a line: JSON may hold the other separators unescaped. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf('\n');
    if (end >= 0) yield (rest + chunk.slice(0, end)).split('\n');
    rest = end < 0 ? rest + chunk : chunk.slice(end + 1);
  }
  if (rest !== '') yield [rest];
}
