// Owns the step from a path to a document: reading the file safely and parsing it as JSON or TOML, or the diagnostic that says
// why that failed.

import { extname } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.ts';
import { limits } from '../model/limits.ts';
import { REFUSED, REMEDY } from './caps.ts';
import { type FileText, readText } from './read-text.ts';
import type { ConfigPlace } from './scopes.ts';
import type { Document, ParsedDocument } from './sources/document.ts';
import { parseJson } from './sources/json.ts';

export type ReadDocument =
  | {
      readonly kind: 'document';
      readonly document: Document;
      readonly text: string;
      /** The same for every path that leads to the file. */
      readonly identity: string;
      /** Set when the file is broken now and the document is the one that was read before. */
      readonly outdated?: Diagnostic;
    }
  | {
      readonly kind: 'absent' | 'unreadable';
      readonly problem: string;
      readonly cause?: unknown;
      readonly diagnostic: Diagnostic;
    }
  | {
      readonly kind: 'broken';
      readonly diagnostic: Diagnostic;
      /** A file of the workspace that is too large; it was not read. */
      readonly isCapped?: true;
    };

type ReadOptions = Pick<ConfigPlace, 'inWorkspace'>;

export async function readDocument(file: string, { inWorkspace }: ReadOptions = {}): Promise<ReadDocument> {
  const read = await readText(file, inWorkspace ? limits.workspaceFile.bytes : limits.configBytes);
  if (read.kind === 'not-text' && read.isTooLarge && inWorkspace)
    return { kind: 'broken', isCapped: true, diagnostic: capped(file, read.problem) };
  if (read.kind === 'not-text') return { kind: 'broken', diagnostic: notText(file, read) };
  if (read.kind !== 'text') return { ...read, diagnostic: unreadable(file, read.problem) };
  if (/\.ya?ml$/i.test(file)) return { kind: 'broken', diagnostic: notText(file, yaml) };
  const parsed = await parseFile(file, read.text);
  return parsed.ok
    ? { kind: 'document', document: parsed.document, text: read.text, identity: read.identity }
    : { kind: 'broken', diagnostic: broken(file, parsed) };
}

export type Remembered = Map<string, Extract<ReadDocument, { kind: 'document' }>>;

/** For a long-running reader: while a file is being edited and cannot be read, its last readable content counts. */
export async function readRemembering(
  file: string,
  remembered: Remembered | undefined,
  options: ReadOptions = {},
): Promise<ReadDocument> {
  const now = await readDocument(file, options);
  if (now.kind === 'document') remembered?.set(file, now);
  if (now.kind === 'absent' || (now.kind === 'broken' && now.isCapped)) remembered?.delete(file);
  const former = now.kind === 'document' ? undefined : remembered?.get(file);
  if (former === undefined || now.kind === 'document') return now;
  const remedy = 'Correct that line; until then the previous content of the file counts.';
  return { ...former, outdated: { ...now.diagnostic, remedy } };
}

/** The parser for TOML is loaded with the first such file: a host that gives its servers in code reads none. */
async function parseFile(file: string, text: string): Promise<ParsedDocument> {
  if (dialectOf(file, text) === 'json') return parseJson(text);
  const { parseToml } = await import('./sources/toml.ts');
  return parseToml(text);
}

/** A file without a known extension is recognised by its first characters. */
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
    file,
    line,
    column,
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

const capped = (file: string, problem: string): Diagnostic => ({
  severity: 'error',
  code: 'CONFIG_INVALID',
  message: `${problem}, ${REFUSED}`,
  remedy: REMEDY,
  file,
});

function unreadable(file: string, problem: string): Diagnostic {
  return {
    severity: 'error',
    code: 'CONFIG_UNREADABLE',
    message: `the file cannot be read: ${problem}`,
    remedy: 'Make it a file that you may read, or remove it.',
    file,
  };
}
