// Owns how a person calls a prompt in a line: `/mcp__server__prompt`, then its arguments, by name or in their order.

import { RuntimeError } from '../../model/errors.ts';
import { type ToolId, toolKey } from '../../model/names.ts';
import type { Prompt } from '../../model/offer.ts';
import { assignNames } from '../naming.ts';

/** The commands of all prompts, by who they are; unique, and the same in every run. */
export function commandsOf(prompts: readonly Prompt[]): ReadonlyMap<string, string> {
  const names = assignNames(prompts.map(idOf));
  return new Map([...names].map(([key, name]) => [key, `/${name}`]));
}

export const promptKey = (prompt: Pick<Prompt, 'server' | 'name'>): string => toolKey(idOf(prompt));

const idOf = ({ server, name }: Pick<Prompt, 'server' | 'name'>): ToolId => ({ server, tool: name });

/** The command and what follows it; nothing where the line is no command of ours. */
export function splitCommand(line: string): { readonly command: string; readonly rest: string } | undefined {
  const [, command, rest = ''] = /^\s*(\/mcp__\S+)\s*([\s\S]*)$/.exec(line) ?? [];
  return command === undefined ? undefined : { command, rest };
}

/**
 * `name=value` where the prompt declares that name, everything else in the declared order. What is left over belongs to the
 * last one: most people do not quote a sentence.
 */
export function parsePromptArguments(text: string, prompt: Prompt): Readonly<Record<string, string>> {
  const declared = prompt.arguments.map(({ name }) => name);
  const given = new Map<string, string>();
  const loose: string[] = [];
  for (const { value, equals } of wordsOf(text)) {
    const name = equals < 0 ? undefined : value.slice(0, equals);
    if (name !== undefined && declared.includes(name)) given.set(name, value.slice(equals + 1));
    else loose.push(value);
  }
  const open = declared.filter((name) => !given.has(name));
  if (loose.length > 0 && open.length === 0) {
    const problem = `"${loose[0]}" belongs to no argument; it takes ${declared.join(', ') || 'none'}`;
    throw new RuntimeError('ARGUMENTS_BAD', { ...idOf(prompt), problems: [problem] });
  }
  for (const [index, name] of open.entries()) {
    const values = index === open.length - 1 ? loose.slice(index) : loose.slice(index, index + 1);
    if (values.length > 0) given.set(name, values.join(' '));
  }
  return Object.fromEntries(given);
}

interface Word {
  readonly value: string;
  /** Where its first `=` outside quotes stands; -1 without one. */
  readonly equals: number;
}

/** Quotes count at the beginning of a word or of a value; an apostrophe within one is a letter. One left open goes to the end. */
function wordsOf(text: string): readonly Word[] {
  const words: Word[] = [];
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
