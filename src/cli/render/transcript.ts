// Owns how a conversation is drawn: the model's text on stdout as it comes; beside it, on stderr, each call and the beginning of its
// result on a line, and what went wrong.

import type { AgentEvent } from '../../agent/agent.ts';
import { unwrap } from '../../shaping/boundary.ts';
import type { Context, Paint } from '../command.ts';
import { firstLine, printable } from './text.ts';

export interface DrawnCall {
  readonly name: string;
  readonly arguments: string;
  /** As the model reads it; absent until it has come. */
  readonly text?: string;
}

type Draw = (paint: Paint) => string;

export interface Transcript {
  /** All calls so far: the number before a call is its place here, from 1. */
  readonly calls: readonly DrawnCall[];
  readonly show: (event: AgentEvent) => void;
  /** A block of lines for the person, on stdout. */
  readonly say: (text: Draw) => void;
  /** The same on stderr. */
  readonly note: (text: Draw) => void;
  /** Ends the line that the model's text is in. */
  readonly endLine: () => void;
  /** The same function: its question begins on a line of its own, and notes wait until it is answered. */
  readonly beside: <Asked extends unknown[], Answer>(
    ask: (...asked: Asked) => Promise<Answer>,
  ) => (...asked: Asked) => Promise<Answer>;
}

/** Half of a character, which the next piece completes. */
const UNFINISHED = /[\ud800-\udbff]$/;

/** For a terminal that does not say how wide it is. */
const UNKNOWN_WIDTH = 100;

export function createTranscript({
  print,
  warn,
  toTerminal,
}: Pick<Context, 'print' | 'warn' | 'toTerminal'>): Transcript {
  const calls: DrawnCall[] = [];
  const begun = new Map<string, { readonly place: number; readonly asked: number }>();
  let isMidLine = false;
  let held = '';
  const write = (text: string) => {
    if (text === '') return;
    print(() => (toTerminal ? printable(text) : text));
    isMidLine = !text.endsWith('\n');
  };
  const endLine = () => {
    write(held);
    held = '';
    if (isMidLine) print(() => '\n');
    isMidLine = false;
  };
  let questions = 0;
  /** How many questions there were in all. */
  let asked = 0;
  const waiting: Draw[] = [];
  const note = (text: Draw) => {
    waiting.push(text);
    if (questions > 0) return;
    endLine();
    for (const each of waiting.splice(0)) warn(each);
  };
  const mishap = (event: AgentEvent) => {
    const words = mishapWords(event);
    if (words !== undefined) note((paint) => paint.yellow(printable(words)));
  };
  const line = (paint: Paint, text: string) => paint.dim(firstLine(text, paint.width ?? UNKNOWN_WIDTH));
  const show = (event: AgentEvent): void => {
    switch (event.type) {
      case 'text.received': {
        const text = held + event.text;
        [held = ''] = UNFINISHED.exec(text) ?? [];
        write(text.slice(0, text.length - held.length));
        break;
      }
      case 'call.requested': {
        const { callId, name, arguments: args } = event;
        const place = calls.push({ name, arguments: args });
        begun.set(callId, { place: place - 1, asked });
        note((paint) => line(paint, printable(`[${place}] ${name} ${args.replace(/\s+/g, ' ')}`)));
        break;
      }
      case 'call.answered': {
        const { callId, name, text, isError, tookMs } = event;
        const { place, asked: before } = begun.get(callId) ?? { place: 0, asked };
        calls[place] = { name, arguments: calls[place]?.arguments ?? '', text };
        const mark = isError ? 'failed' : 'done';
        // The time in which a person read a question is not the tool's.
        const time = tookMs < 1_000 || asked > before ? '' : ` after ${(tookMs / 1_000).toFixed(1)} s`;
        note((paint) => line(paint, printable(`[${place + 1}] ${mark}${time}: ${folded(text)}`)));
        break;
      }
      default:
        mishap(event);
    }
  };
  return {
    calls,
    show,
    note,
    endLine,
    say(text) {
      endLine();
      print((paint) => `${text(paint)}\n`);
    },
    beside:
      (ask) =>
      async (...words) => {
        endLine();
        questions++;
        asked++;
        try {
          return await ask(...words);
        } finally {
          questions--;
          if (questions === 0) for (const each of waiting.splice(0)) warn(each);
        }
      },
  };
}

/** `undefined`: all went as it should. */
function mishapWords(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'step.interrupted':
      return `The answer broke off: ${event.reason}.${event.isRepeated ? ' Asking again.' : ''}`;
    case 'model.delayed':
      return `The model is asked again in ${Math.ceil(event.waitMs / 1_000)} s: ${event.reason}.`;
    case 'context.reduced':
      return `Old results were taken out, because the model's window is full: ${event.results}.`;
    case 'conversation.unsaved':
      return `The conversation cannot be kept: ${event.reason}`;
    default:
      return undefined;
  }
}

/** The sentence of a failure, or the first line that says something and how many there are. */
function folded(text: string): string {
  const [, happened] = /^what happened: (.*)$/m.exec(text) ?? [];
  if (happened !== undefined) return happened;
  const lines = unwrap(text)
    .split('\n')
    .filter((each) => each.trim() !== '');
  const [first = 'nothing', ...more] = lines;
  return more.length === 0 ? first : `(${lines.length} lines) ${first}`;
}
