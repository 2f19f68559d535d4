// Owns which of the bytes that a terminal sends count as typed by a person who has read the question, as pure functions. A pasted
// text never answers: an Enter in it does nothing, and a question about yes or no takes none of it.
// biome-ignore-all lint/suspicious/noControlCharactersInRegex: keys and marks of a terminal are control characters

export interface FilteredKeys {
  /** Passed on as typed. */
  readonly keys: string;
  /** Something was left out because it did not come key by key. */
  readonly isPaste: boolean;
}

export type KeyFilter = (chunk: string) => FilteredKeys;

/** Terminals put these around pasted text once they are told to. */
const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
export const MARK_PASTES = '\u001b[?2004h';
export const MARK_NO_PASTES = '\u001b[?2004l';

/** Ctrl-C. */
export const INTERRUPT = '\u0003';

/** Stands for a line end in a line that is typed. */
export const LINE_END = '⏎';

export interface KeyFilterOptions {
  /** Pasted text becomes part of the answer, and the person ends the line. */
  readonly takesText: boolean;
  /** Pasted line ends stay, as `LINE_END`; otherwise spaces take their place. */
  readonly keepsLines?: boolean;
}

export function createKeyFilter({ takesText, keepsLines = false }: KeyFilterOptions): KeyFilter {
  let isInPaste = false;
  let unread = '';
  let endsLine = false;
  const asText = (block: string) => {
    const lines = (endsLine ? '\n' : '') + withoutControls(block);
    endsLine = lines.endsWith('\n');
    const ended = lines.replace(/\n+$/, '');
    return keepsLines ? ended.replaceAll('\n', LINE_END) : ended.replace(/\n+/g, ' ');
  };
  return (chunk) => {
    // Ctrl-C ends the program, which is never a yes.
    if (chunk.includes(INTERRUPT)) return { keys: INTERRUPT, isPaste: false };
    const received = unread + chunk;
    unread = markBegunIn(received);
    const text = received.slice(0, received.length - unread.length);
    const wasInPaste = isInPaste;
    isInPaste = isInsidePaste(text, wasInPaste);
    if (!wasInPaste && !isInPaste && isOneKey(text)) {
      endsLine = false;
      return { keys: text, isPaste: false };
    }
    const block = text.replaceAll(PASTE_START, '').replaceAll(PASTE_END, '');
    if (takesText) return { keys: asText(block), isPaste: /[\r\n]/.test(block) };
    return { keys: '', isPaste: block !== '' };
  };
}

/** The last mark decides. */
function isInsidePaste(text: string, isInside: boolean): boolean {
  const [start, end] = [text.lastIndexOf(PASTE_START), text.lastIndexOf(PASTE_END)];
  return start === end ? isInside : start > end;
}

/** A terminal may send a mark in two parts. No key ends as its first three characters do. */
function markBegunIn(text: string): string {
  const begun = /\u001b\[2(?:0[01]?)?$/.exec(text);
  return begun?.[0] ?? '';
}

/** A character, Enter, or a key such as an arrow, which terminals send as a sequence. */
const isOneKey = (text: string) =>
  text !== PASTE_END && /^(?:.|\r\n|\u001b\[[\d;?]*[@-Z^-~]|\u001bO[@-~])?$/su.test(text);

/** Sequences and control characters would be obeyed by the line that the person edits. */
const withoutControls = (text: string) =>
  text
    .replace(/\u001b(?:\[[\d;?]*[@-~])?/g, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' ');
