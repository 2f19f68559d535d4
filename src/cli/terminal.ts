// Owns talking to a person at a terminal: a question, and a line that shows what the command waits for.

import type { Context, Paint, TextQuestion } from './command.ts';
import { printable } from './render/text.ts';

export interface Screen {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
  /** Ctrl-C as a terminal in raw mode reports it: it is for the whole program. */
  readonly interrupt: () => void;
}

/** Anything but a clear yes is a no; so is the end of the input. */
export async function yesOrNo(question: string, screen: Screen): Promise<boolean> {
  const answer = await askText({ question: `${question} [y/N]`, isHidden: false }, screen);
  return isYes(answer);
}

export function isYes(answer: string | undefined): boolean {
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

/** `undefined`: the input has ended, or the person typed nothing and nothing was proposed. Ctrl-C interrupts the whole program, not only the question. */
export async function askText(textQuestion: TextQuestion, screen: Screen): Promise<string | undefined> {
  const [{ createInterface }, { Writable }] = await Promise.all([
    import('node:readline/promises'),
    import('node:stream'),
  ]);
  const { question, isHidden } = textQuestion;
  const { input, output } = screen;
  const signal = textQuestion.signal ? AbortSignal.any([screen.signal, textQuestion.signal]) : screen.signal;
  const prompt = `${printable(question)} `;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: isHidden ? silent : output, terminal: true });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  lines.on('SIGINT', () => screen.interrupt());
  if (isHidden) output.write(prompt);
  try {
    const typed = await Promise.race([lines.question(isHidden ? '' : prompt, { signal }), ended]);
    return typed === '' ? textQuestion.preset : typed;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    lines.close();
    if (isHidden || signal.aborted) output.write('\n');
  }
}

const SHOWN_AFTER_MS = 1_000;

export interface WaitingLine {
  readonly waitFor: Context['waitFor'];
  /** Hides the line while something else, such as a question, is on the screen. */
  readonly pauseFor: <Value>(work: Promise<Value>) => Promise<Value>;
}

/** Work that takes longer than a second gets a line, which is cleared when the work ends. */
export function createWaitingLine(screen: NodeJS.WritableStream | undefined, paint: Paint): WaitingLine {
  let clear = (): void => undefined;
  let pauses = 0;
  return {
    pauseFor(work) {
      clear();
      pauses++;
      return work.finally(() => pauses--);
    },
    async waitFor(what, work) {
      if (screen === undefined) return work;
      let shown = false;
      const timer = setTimeout(() => {
        if (pauses > 0) return;
        shown = true;
        screen.write(paint.dim(`${printable(what)} …`));
      }, SHOWN_AFTER_MS);
      clear = () => {
        clearTimeout(timer);
        if (shown) screen.write('\r\u001b[2K');
        shown = false;
      };
      return work.finally(clear);
    },
  };
}
