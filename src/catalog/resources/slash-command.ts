// Owns slash commands for prompts: `/mcp__server__prompt`, then the arguments, by name or in their order.

import { RuntimeError } from '../../model/errors.ts';
import { type ToolId, toolKey } from '../../model/names.ts';
import type { Prompt } from '../../model/resource.ts';
import { assignNames } from '../naming.ts';

/** The commands of all prompts, by `promptKey`; unique, and the same in every run. */
export function commandsOf(prompts: readonly Prompt[]): ReadonlyMap<string, string> {
  const names = assignNames(prompts.map(idOf));
  return new Map([...names].map(([key, name]) => [key, `/${name}`]));
}

export const promptKey = (prompt: Pick<Prompt, 'server' | 'name'>): string => toolKey(idOf(prompt));

const idOf = ({ server, name }: Pick<Prompt, 'server' | 'name'>): ToolId => ({ server, tool: name });

/** The command and the text after it; `undefined` if the line is not such a command. */
export function splitCommand(line: string): { readonly command: string; readonly rest: string } | undefined {
  const [, command, rest = ''] = /^\s*(\/mcp__\S+)\s*([\s\S]*)$/.exec(line) ?? [];
  return command === undefined ? undefined : { command, rest };
}

/**
 * `name=value` if the prompt declares that name, everything else in the declared order. Words left over belong to the last
 * argument: most people do not quote a sentence.
 */
export function parsePromptArguments(text: string, prompt: Prompt): Readonly<Record<string, string>> {
  const declared = prompt.arguments.map(({ name }) => name);
  const values = new Map<string, string>();
  const unnamed: string[] = [];
  for (const { value, equals } of wordsOf(text)) {
    const name = equals < 0 ? undefined : value.slice(0, equals);
    if (name !== undefined && declared.includes(name)) values.set(name, value.slice(equals + 1));
    else unnamed.push(value);
  }
  const open = declared.filter((name) => !values.has(name));
  if (unnamed.length > 0 && open.length === 0) {
    const problem = `"${unnamed[0]}" belongs to no argument; it takes ${declared.join(', ') || 'none'}`;
    throw new RuntimeError('ARGUMENTS_BAD', { ...idOf(prompt), problems: [problem] });
  }
  for (const [index, name] of open.entries()) {
    const words = index === open.length - 1 ? unnamed.slice(index) : unnamed.slice(index, index + 1);
    if (words.length > 0) values.set(name, words.join(' '));
  }
  return Object.fromEntries(values);
}

interface CommandWord {
  readonly value: string;
  /** The index of the first `=` outside quotes; -1 without one. */
  readonly equals: number;
}

/** Quotes count at the beginning of a word or of a value; an apostrophe inside a word is a letter. An unclosed quote runs to the end. */
function wordsOf(text: string): readonly CommandWord[] {
  const words: CommandWord[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text.charAt(at))) {
      at++;
      continue;
    }
    const word = { value: '', equals: -1 };
    while (at < text.length && !/\s/.test(text.charAt(at))) {
      const character = text.charAt(at);
      const isOpening = word.value === '' || word.equals === word.value.length - 1;
      if (isOpening && (character === '"' || character === "'")) {
        const quoted = quotedAt(text, at);
        word.value += quoted.value;
        at = quoted.end;
        continue;
      }
      if (character === '=' && word.equals < 0) word.equals = word.value.length;
      word.value += character;
      at++;
    }
    words.push(word);
  }
  return words;
}

function quotedAt(text: string, start: number): { readonly value: string; readonly end: number } {
  const quote = text.charAt(start);
  let value = '';
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === quote) return { value, end: at + 1 };
    const isEscape = character === '\\' && quote === '"' && '"\\'.includes(text.charAt(at + 1) || ' ');
    value += isEscape ? text.charAt(++at) : character;
  }
  return { value, end: text.length };
}
