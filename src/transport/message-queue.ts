// Owns the order of one connection's messages while a long one is parsed in slices: what arrives behind it waits. Short messages
// never enter here unless a long one is before them.

import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import { type ParsedJson, parseJson } from '../kernel/json.ts';
import { parseInSlices } from '../kernel/sliced-json.ts';
import { inSlices, type Slices, STEP_UNITS } from '../kernel/slices.ts';
import { limits } from '../model/limits.ts';
import { asciiText } from './pieces.ts';

/** `text` is what was parsed. */
type OnParsed = (parsed: ParsedJson, text: string) => void;

export const isLong = (size: number): boolean => size > limits.slicedMessageBytes;

export class MessageQueue {
  #isBusy = false;
  #isStopped = false;
  #waiting: (() => void)[] = [];
  #idle: Deferred<void> | undefined;

  /** A long message is being parsed, or messages wait behind one. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Resolves when all that has arrived was delivered; `undefined` if it was already. Read no more until then. */
  whenIdle(): Promise<void> | undefined {
    if (!this.#isBusy) return undefined;
    this.#idle ??= createDeferred<void>();
    return this.#idle.promise;
  }

  /** Runs at once, or behind all that has arrived before. */
  run(work: () => void): void {
    if (this.#isBusy) this.#waiting.push(work);
    else work();
  }

  /** Calls back at once for a short message with none before it. */
  parse(message: string | Buffer, onParsed: OnParsed): void {
    if (this.#isBusy) this.#waiting.push(() => this.parse(message, onParsed));
    else if (isLong(message.length)) void this.#parseLong(message, onParsed);
    else {
      const text = message.toString();
      onParsed(parseJson(text), text);
    }
  }

  /** Nothing is delivered any more. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting = [];
  }

  async #parseLong(message: string | Buffer, onParsed: OnParsed): Promise<void> {
    this.#isBusy = true;
    const { parsed, text } = await inSlices(this.#readLong(message));
    this.#isBusy = false;
    if (!this.#isStopped) onParsed(parsed, text);
    this.#goOn();
  }

  *#readLong(message: string | Buffer): Slices<{ readonly parsed: ParsedJson; readonly text: string }> {
    const text = typeof message === 'string' ? message : (asciiText(message) ?? (yield* decode(message)));
    const work = parseInSlices(text);
    for (let step = work.next(); !this.#isStopped; step = work.next()) {
      if (step.done) return { parsed: step.value, text };
      yield step.value;
    }
    return { parsed: { ok: false, problem: 'it was closed' }, text };
  }

  #goOn(): void {
    if (this.#isBusy) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [at, work] of waiting.entries()) {
      work();
      if (!this.#isBusy) continue;
      // Another long message: the work itself has put aside what stands right behind it.
      this.#waiting = [...this.#waiting, ...waiting.slice(at + 1)];
      return;
    }
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}

/** No piece ends within a character. */
function* decode(bytes: Buffer): Slices<string> {
  const pieces: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    const to = beforeCharacter(bytes, Math.min(from + STEP_UNITS, bytes.length));
    pieces.push(bytes.toString('utf8', from, to));
    yield to - from;
    from = to;
  }
  return pieces.join('');
}

const LONGEST_CHARACTER = 4;

function beforeCharacter(bytes: Buffer, at: number): number {
  for (let place = at; place > at - LONGEST_CHARACTER && place < bytes.length; place--)
    if (((bytes[place] as number) & 0xc0) !== 0x80) return place;
  return at;
}
