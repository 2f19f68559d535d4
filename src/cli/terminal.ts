// Owns talking to a person at a terminal: a question, and a word about what is being waited for.

import type { Context, Paint, TextQuestion } from './command.ts';
import { printable } from './render/text.ts';

export interface Screen {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
  /** Ctrl-C as a terminal in raw mode reports it: it is for the whole program. */
  readonly interrupt: () => void;
}

/** Anything but a clear yes is a no, the end of the input included. */
export async function yesOrNo(question: string, screen: Screen): Promise<boolean> {
  const answer = await askText({ question: `${question} [y/N]`, isHidden: false }, screen);
  return isYes(answer);
}

export function isYes(answer: string | undefined): boolean {
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

/** `undefined`: the input has ended, or nothing was typed. Ctrl-C is for the whole program, not for the question. */
export async function askText(asked: TextQuestion, screen: Screen): Promise<string | undefined> {
  const [{ createInterface }, { Writable }] = await Promise.all([
    import('node:readline/promises'),
    import('node:stream'),
  ]);
  const { question, isHidden } = asked;
  const { input, output } = screen;
  const signal = asked.signal ? AbortSignal.any([screen.signal, asked.signal]) : screen.signal;
  const prompt = `${printable(question)} `;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: isHidden ? silent : output, terminal: true });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  lines.on('SIGINT', () => screen.interrupt());
  if (isHidden) output.write(prompt);
  try {
    return (await Promise.race([lines.question(isHidden ? '' : prompt, { signal }), ended])) || undefined;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    lines.close();
    if (isHidden || signal.aborted) output.write('\n');
  }
}

const PATIENCE_MS = 1_000;

export interface WaitingLine {
  readonly waitFor: Context['waitFor'];
  /** Makes room for something else, such as a question, for as long as that takes. */
  readonly hushFor: <Value>(work: Promise<Value>) => Promise<Value>;
}

/** Nothing is said about what is quick; what takes longer than a second gets a line that goes away again. */
export function createWaitingLine(screen: NodeJS.WritableStream | undefined, paint: Paint): WaitingLine {
  let clear = (): void => undefined;
  let others = 0;
  return {
    hushFor(work) {
      clear();
      others++;
      return work.finally(() => others--);
    },
    async waitFor(what, work) {
      if (screen === undefined) return work;
      let shown = false;
      const timer = setTimeout(() => {
        if (others > 0) return;
        shown = true;
        screen.write(paint.dim(`${printable(what)} …`));
      }, PATIENCE_MS);
      clear = () => {
        clearTimeout(timer);
        if (shown) screen.write('\r\u001b[2K');
        shown = false;
      };
      return work.finally(clear);
    },
  };
}
