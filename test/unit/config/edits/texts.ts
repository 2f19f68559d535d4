// Owns editing a text in a test: one line per change, the new text out.

import { editText } from '../../../../src/config/edits/edit-text.ts';
import type { Change } from '../../../../src/config/edits/plan.ts';

export type Verb =
  | readonly ['put', string, Record<string, unknown>]
  | readonly ['remove' | 'enable' | 'disable', string];

export function changeOf([verb, name, entry]: Verb): Change {
  if (verb === 'put') return { kind: 'put', name, entry: entry ?? {}, whenPresent: 'replace' };
  if (verb === 'remove') return { kind: 'remove', name };
  return { kind: 'enable', name, enabled: verb === 'enable' };
}

/** The text after all of the changes; a change that does nothing says so instead. */
export async function edit(file: string, text: string, ...verbs: readonly Verb[]): Promise<string> {
  let result = text;
  for (const verb of verbs) {
    const edited = await editText(file, result, changeOf(verb));
    if (edited.kind !== 'edited') return edited.kind;
    result = edited.text;
  }
  return result;
}
