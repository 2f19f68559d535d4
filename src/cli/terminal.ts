// Owns talking to a person at a terminal: a question, and a word about what is being waited for.

import type { Context, Paint } from './command.ts';
import { printable } from './render/text.ts';

export interface Screen {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

/** Anything but a clear yes is a no, the end of the input included. */
export async function yesOrNo(question: string, { input, output, signal }: Screen): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input, output });
  try {
    return /^y(es)?$/i.test((await lines.question(`${printable(question)} [y/N] `, { signal })).trim());
  } finally {
    lines.close();
  }
}

const PATIENCE_MS = 1_000;

/** Nothing is said about what is quick; what takes longer than a second gets a line that goes away again. */
export function createWaitFor(screen: NodeJS.WriteStream | undefined, paint: Paint): Context['waitFor'] {
  return async (what, work) => {
    if (screen === undefined) return work;
    let shown = false;
    const timer = setTimeout(() => {
      shown = true;
      screen.write(paint.dim(`${what} …`));
    }, PATIENCE_MS);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
      if (shown) screen.write('\r\u001b[2K');
    }
  };
}
