// Owns talking to a person at a terminal: a question, which only keys typed after it was shown can answer, and a line that shows what
// the command waits for.

import type { Interface } from 'node:readline/promises';
import { StringDecoder } from 'node:string_decoder';
import type { Context, Paint, TextQuestion } from './command.ts';
import { createKeyFilter, INTERRUPT, LINE_END, MARK_NO_PASTES, MARK_PASTES } from './key-filter.ts';
import { firstLine, printable, wrapQuestion } from './render/text.ts';
import { discardTypeAhead, type KeyboardInput } from './type-ahead.ts';

export interface Screen {
  readonly input: KeyboardInput;
  readonly output: NodeJS.WritableStream;
  /** The terminal understands sequences, so that it can be told to mark pasted text. */
  readonly marksPastes: boolean;
  /** How many characters fit into a line, where that is known. */
  readonly width?: number | undefined;
  readonly signal: AbortSignal;
  /** Ctrl-C as a terminal in raw mode reports it: it is for the whole program. */
  readonly interrupt: () => void;
}

/** Anything but a clear yes is a no; so is the end of the input. */
export async function yesOrNo(question: string, screen: Screen): Promise<boolean> {
  const answer = await askText({ question: `${question} [y/N]`, isHidden: false, isDecision: true }, screen);
  return isYes(answer);
}

export function isYes(answer: string | undefined): boolean {
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

/** `undefined`: the input has ended, or the person typed nothing and nothing was proposed. Ctrl-C interrupts the whole program, not only the question. */
export async function askText(textQuestion: TextQuestion, screen: Screen): Promise<string | undefined> {
  const [{ createInterface }, { PassThrough, Writable }] = await Promise.all([
    import('node:readline/promises'),
    import('node:stream'),
  ]);
  const { question, isHidden, isDecision = false, earlier } = textQuestion;
  const { input, output, marksPastes, width } = screen;
  const signal = textQuestion.signal ? AbortSignal.any([screen.signal, textQuestion.signal]) : screen.signal;
  const prompt = `${wrapQuestion(printable(question), width)} `;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const keys = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => input.setRawMode?.(isRaw) });
  const history = earlier?.map((text) => text.replaceAll('\n', LINE_END)) ?? [];
  const lines = createInterface({ input: keys, output: isHidden ? silent : output, terminal: true, history });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  lines.on('SIGINT', () => screen.interrupt());
  if (marksPastes) output.write(MARK_PASTES);
  // Text that is pasted the moment the question appears counts. For a decision, only keys that come after it was shown do.
  const isDiscarded = isDecision ? undefined : discardTypeAhead(input);
  if (isHidden) output.write(prompt);
  const answered = lines.question(isHidden ? '' : prompt, { signal });
  // From here on the question is on the screen.
  const stopReading = readKeys({ keys, lines, isDecision, isDiscarded, keepsLines: earlier !== undefined }, screen);
  try {
    const typed = await Promise.race([answered, ended]);
    if (typed === '') return textQuestion.preset;
    return earlier === undefined ? typed : typed?.replaceAll(LINE_END, '\n');
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    stopReading();
    lines.close();
    if (marksPastes) output.write(MARK_NO_PASTES);
    if (isHidden || signal.aborted) output.write('\n');
  }
}

interface KeyTarget {
  readonly keys: NodeJS.WritableStream;
  readonly lines: Interface;
  readonly isDecision: boolean;
  readonly keepsLines: boolean;
  /** Whether what was typed ahead could be thrown away; absent where that is still to be done. */
  readonly isDiscarded: boolean | undefined;
}

/** How long keys do not count where the system cannot throw away what was typed before. */
const UNREAD_MS = 200;

function readKeys({ keys, lines, isDecision, keepsLines, isDiscarded }: KeyTarget, { input, output }: Screen) {
  const filter = createKeyFilter({ takesText: !isDecision, keepsLines });
  const decoder = new StringDecoder('utf8');
  let isTold = false;
  let counts = isDiscarded ?? discardTypeAhead(input);
  const timer = counts ? undefined : setTimeout(() => (counts = true), UNREAD_MS);
  const onData = (chunk: Buffer | string) => {
    const filtered = filter(typeof chunk === 'string' ? chunk : decoder.write(chunk));
    if (counts || filtered.keys === INTERRUPT) keys.write(filtered.keys);
    if (!filtered.isPaste || !isDecision) return;
    // The rest of the paste may still be on its way.
    discardTypeAhead(input);
    if (!isTold) output.write('\nPasted text does not answer this question. Type the answer.\n');
    isTold = true;
    lines.prompt(true);
  };
  const onEnd = () => keys.end();
  input.on('data', onData).on('end', onEnd);
  input.resume();
  return () => {
    clearTimeout(timer);
    input.off('data', onData).off('end', onEnd);
    input.pause();
  };
}

const SHOWN_AFTER_MS = 1_000;
const CLEAR_LINE = '\r\u001b[2K';
/** For a terminal that does not say how wide it is. */
const UNKNOWN_WIDTH = 80;

export interface WaitingLine {
  readonly waitFor: Context['waitFor'];
  readonly showStep: Context['showStep'];
  /** Hides the line while something else, such as a question, is on the screen. */
  readonly pauseFor: <Value>(work: Promise<Value>) => Promise<Value>;
}

/** Work that takes longer than a second gets a line, which is cleared when the work ends. */
export function createWaitingLine(screen: NodeJS.WritableStream | undefined, paint: Paint): WaitingLine {
  let clear = (): void => undefined;
  /** Replaces the text of the line, and shows it at once: the work has something to say. */
  let showStep: Context['showStep'] = () => undefined;
  let pauses = 0;
  return {
    showStep: (step) => showStep(step),
    pauseFor(work) {
      clear();
      pauses++;
      return work.finally(() => pauses--);
    },
    async waitFor(what, work) {
      if (screen === undefined) return work;
      let shown = false;
      const show = (text: string) => {
        if (pauses > 0) return;
        if (shown) screen.write(CLEAR_LINE);
        shown = true;
        // A longer line would wrap, and only its last part could be cleared.
        screen.write(paint.dim(firstLine(printable(text), paint.width ?? UNKNOWN_WIDTH)));
      };
      const timer = setTimeout(() => show(`${what} …`), SHOWN_AFTER_MS);
      clear = () => {
        clearTimeout(timer);
        if (shown) screen.write(CLEAR_LINE);
        shown = false;
      };
      showStep = (step) => {
        clearTimeout(timer);
        show(`${what} … ${step.replace(/\s+/g, ' ')}`);
      };
      return work.finally(() => {
        clear();
        showStep = () => undefined;
      });
    },
  };
}
