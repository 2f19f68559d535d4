// Owns the step from a path to a document: read safely, parsed in its dialect, or the diagnostic that says why not.

import { extname } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.ts';
import { type FileText, readText } from './read-text.ts';
import type { Document, ParsedDocument } from './sources/document.ts';

export type ReadDocument =
  | {
      readonly kind: 'document';
      readonly document: Document;
      readonly text: string;
      /** The same for every path that leads to the file. */
      readonly identity: string;
      /** The file is broken now, and this is what it said before. */
      readonly outdated?: Diagnostic;
    }
  | {
      readonly kind: 'absent' | 'unreadable';
      readonly problem: string;
      readonly cause?: unknown;
      readonly diagnostic: Diagnostic;
    }
  | { readonly kind: 'broken'; readonly diagnostic: Diagnostic };

export async function readDocument(file: string): Promise<ReadDocument> {
  const read = await readText(file);
  if (read.kind === 'not-text') return { kind: 'broken', diagnostic: notText(file, read) };
  if (read.kind !== 'text') return { ...read, diagnostic: unreadable(file, read.problem) };
  if (/\.ya?ml$/i.test(file)) return { kind: 'broken', diagnostic: notText(file, yaml) };
  const parsed = await parseFile(file, read.text);
  return parsed.ok
    ? { kind: 'document', document: parsed.document, text: read.text, identity: read.identity }
    : { kind: 'broken', diagnostic: broken(file, parsed) };
}

export type Remembered = Map<string, Extract<ReadDocument, { kind: 'document' }>>;

/** For a reader that lives on: a file that someone is just editing says what it said before, until it can be read again. */
export async function readRemembering(file: string, remembered: Remembered | undefined): Promise<ReadDocument> {
  const now = await readDocument(file);
  if (now.kind === 'document') remembered?.set(file, now);
  if (now.kind === 'absent') remembered?.delete(file);
  const former = now.kind === 'document' ? undefined : remembered?.get(file);
  if (former === undefined || now.kind === 'document') return now;
  const remedy = 'Correct that line; until then what the file said before counts.';
  return { ...former, outdated: { ...now.diagnostic, remedy } };
}

let json: Promise<typeof import('./sources/json.ts')> | undefined;
let toml: Promise<typeof import('./sources/toml.ts')> | undefined;

/** Loaded by need: most people write one dialect. Kept, since asking for a module again costs as much as reading a small file. */
async function parseFile(file: string, text: string): Promise<ParsedDocument> {
  if (dialectOf(file, text) === 'json') {
    json ??= import('./sources/json.ts');
    return (await json).parseJson(text);
  }
  toml ??= import('./sources/toml.ts');
  return (await toml).parseToml(text);
}

/** A file without a telling name is known by how it begins. */
export function dialectOf(file: string, text: string): 'json' | 'toml' {
  const extension = extname(file).toLowerCase();
  if (extension === '.toml') return 'toml';
  return /^\.(jsonc?|json5|code-workspace)$/.test(extension) ||
    (/^[\s\uFEFF]*[{[]/.test(text) && !/^[\s\uFEFF]*\[[^\]{}"]*\]/.test(text))
    ? 'json'
    : 'toml';
}

function broken(file: string, { problem }: Extract<ParsedDocument, { ok: false }>): Diagnostic {
  const { message, excerpt, line, column } = problem;
  return {
    severity: 'error',
    code: 'CONFIG_INVALID',
    message: excerpt === '' ? message : `${message}, at: ${excerpt}`,
    remedy: 'Correct that line; until then nothing in the file counts.',
    ...{ file, line, column },
  };
}

const yaml = {
  kind: 'not-text',
  problem: 'the file is YAML, which is not read; write the same as TOML or JSON',
  remedy: 'Write the same as TOML or JSON.',
} as const;

function notText(file: string, { problem, remedy, position }: Extract<FileText, { kind: 'not-text' }>): Diagnostic {
  return { severity: 'error', code: 'CONFIG_INVALID', message: problem, remedy, file, ...position };
}

function unreadable(file: string, problem: string): Diagnostic {
  return {
    severity: 'error',
    code: 'CONFIG_UNREADABLE',
    message: `the file cannot be read: ${problem}`,
    remedy: 'Make it a file that you may read, or remove it.',
    file,
  };
}
