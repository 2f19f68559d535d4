// Owns talking to a person at a terminal: a question, and a word about what is being waited for.

import type { Context, Paint, TextQuestion } from './command.ts';
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

/** `undefined`: the input has ended, or nothing was typed. */
export async function askText({ question, isHidden }: TextQuestion, screen: Screen): Promise<string | undefined> {
  const [{ createInterface }, { Writable }] = await Promise.all([
    import('node:readline/promises'),
    import('node:stream'),
  ]);
  const { input, output, signal } = screen;
  output.write(`${printable(question)} `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: isHidden ? silent : output, terminal: true });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    return (await Promise.race([lines.question('', { signal }), ended])) || undefined;
  } finally {
    lines.close();
    if (isHidden) output.write('\n');
  }
}

const PATIENCE_MS = 1_000;

export interface WaitingLine {
  readonly waitFor: Context['waitFor'];
  /** Makes room for something else, such as a question. */
  readonly hush: () => void;
}

/** Nothing is said about what is quick; what takes longer than a second gets a line that goes away again. */
export function createWaitingLine(screen: NodeJS.WriteStream | undefined, paint: Paint): WaitingLine {
  let hush = (): void => undefined;
  return {
    hush: () => hush(),
    async waitFor(what, work) {
      if (screen === undefined) return work;
      let shown = false;
      const timer = setTimeout(() => {
        shown = true;
        screen.write(paint.dim(`${what} …`));
      }, PATIENCE_MS);
      hush = () => {
        clearTimeout(timer);
        if (shown) screen.write('\r\u001b[2K');
        shown = false;
      };
      return work.finally(hush);
    },
  };
}
