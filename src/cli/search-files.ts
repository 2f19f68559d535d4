// Owns reading tools and judged queries from files for `plexus search`: JSON or JSON Lines, plain or gzipped. An invalid row is left
// out with a warning.

import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { JudgedQuery } from '../catalog/search/evaluate.ts';
import type { Findable } from '../catalog/search/tool-index.ts';
import { isObject, type JsonObject, parseJson } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import { type Context, UsageError } from './command.ts';

export interface FileItems<Item> {
  readonly items: readonly Item[];
  /** One sentence for each row that was left out. */
  readonly warnings: readonly string[];
}

export interface SearchableTool extends Findable {
  /** The tool's name as the file writes it. */
  readonly label: string;
}

interface FileRow {
  /** Names the row in warnings, such as `Line 3`. */
  readonly place: string;
  readonly value: unknown;
}

/** Accepts tools as JSON Lines or an array, the answer of `tools/list` or `plexus tools --json`, or servers with their tools. */
export async function readTools(file: string, context: Context): Promise<FileItems<SearchableTool>> {
  const rows = rowsOf(await readText(file, context), file);
  const seen = new Set<string>();
  return collect(
    rows.items.flatMap((row) => toolRowsOf(row)),
    rows.warnings,
    (row) => {
      const tool = toolOf(row);
      if (typeof tool === 'string') return tool;
      if (seen.has(tool.key)) return `an earlier row has the same id "${tool.key}"`;
      seen.add(tool.key);
      return tool;
    },
  );
}

/** Rows `{ id, query, gold, goldGroups? }`. */
export async function readQueries(file: string, context: Context): Promise<FileItems<JudgedQuery>> {
  const { items, warnings } = rowsOf(await readText(file, context), file);
  return collect(items, warnings, queryOf);
}

function collect<Item extends object>(
  rows: readonly FileRow[],
  before: readonly string[],
  read: (row: FileRow) => Item | string,
): FileItems<Item> {
  const items: Item[] = [];
  const warnings = [...before];
  for (const row of rows) {
    const item = read(row);
    if (typeof item === 'string') warnings.push(`${row.place} was left out: ${item}.`);
    else items.push(item);
  }
  return { items, warnings };
}

/** A row is a tool, or a server with its list of tools. */
function toolRowsOf(row: FileRow): readonly FileRow[] {
  const { value } = row;
  if (!isObject(value) || !Array.isArray(value['tools']) || typeof value['name'] === 'string') return [row];
  const { server } = value;
  return value['tools'].map((tool, at) => ({
    place: `${row.place}, tool ${at + 1}`,
    value: isObject(tool) && typeof server === 'string' ? { server, ...tool } : tool,
  }));
}

function toolOf({ value }: FileRow): SearchableTool | string {
  if (!isObject(value)) return 'it is not a JSON object';
  const { id, server = '', name, tool = name, title, description = '', inputSchema, annotations } = value;
  if (typeof name !== 'string' || name === '' || typeof tool !== 'string') return 'it has no "name"';
  if (typeof server !== 'string') return '"server" is not a text';
  // `plexus tools --json` prints both names of a tool; only the qualified one is unique.
  const unique = tool === name && server !== '' ? `${server}::${name}` : name;
  return {
    key: typeof id === 'string' && id !== '' ? id : unique,
    server,
    name: tool,
    label: name,
    ...(typeof title === 'string' && { title }),
    description: typeof description === 'string' ? description : '',
    inputSchema: isObject(inputSchema) ? inputSchema : {},
    ...(isObject(annotations) && { annotations }),
  };
}

function queryOf({ value, place }: FileRow): JudgedQuery | string {
  if (!isObject(value)) return 'it is not a JSON object';
  const { id, query } = value;
  if (typeof query !== 'string' || query.trim() === '') return 'it has no "query"';
  const groups = groupsOf(value);
  if (groups === undefined) return 'it needs "gold" with the ids of the right tools';
  return { id: typeof id === 'string' || typeof id === 'number' ? String(id) : place, query, groups };
}

function groupsOf({ gold, goldGroups }: JsonObject): JudgedQuery['groups'] | undefined {
  const groups: readonly unknown[] = Array.isArray(goldGroups)
    ? goldGroups
    : Array.isArray(gold)
      ? gold.map((each) => [each])
      : [];
  const isGroup = (group: unknown): group is string[] =>
    Array.isArray(group) && group.length > 0 && group.every((each) => typeof each === 'string');
  return groups.length > 0 && groups.every(isGroup) ? groups : undefined;
}

/** One JSON document, or JSON Lines. */
function rowsOf(text: string, file: string): FileItems<FileRow> {
  if (text.trim() === '') throw new UsageError(`${nameOf(file)} is empty`);
  const document = parseJson(text);
  if (document.ok && Array.isArray(document.value)) {
    return { items: document.value.map((value, at) => ({ place: `Entry ${at + 1}`, value })), warnings: [] };
  }
  if (document.ok && isObject(document.value))
    return { items: [{ place: 'The document', value: document.value }], warnings: [] };
  const items: FileRow[] = [];
  const warnings: string[] = [];
  text.split('\n').forEach((line, at) => {
    if (line.trim() === '') return;
    const parsed = parseJson(line);
    if (parsed.ok) items.push({ place: `Line ${at + 1}`, value: parsed.value });
    else
      warnings.push(`Line ${at + 1} was left out: it is not valid JSON (${parsed.problem.slice(0, PROBLEM_CHARS)}).`);
  });
  if (items.some(({ value }) => isObject(value))) return { items, warnings };
  throw new UsageError(`${nameOf(file)} is neither JSON nor one JSON object a line`);
}

const PROBLEM_CHARS = 100;
const nameOf = (file: string) => (file === '-' ? 'standard input' : file);
const unzip = promisify(gunzip);

async function readText(file: string, context: Context): Promise<string> {
  const bytes =
    file === '-' ? await buffer(addAbortSignal(context.signal, context.stdin)) : await readBytes(file, context);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString('utf8');
  try {
    return (await unzip(bytes, { maxOutputLength: limits.toolFileBytes })).toString('utf8');
  } catch (error) {
    const isTooLarge = codeOf(error) === 'ERR_BUFFER_TOO_LARGE';
    throw new UsageError(`${nameOf(file)} ${isTooLarge ? tooLarge : 'looks gzipped, but cannot be unpacked'}`);
  }
}

const tooLarge = `holds more than ${limits.toolFileBytes / 1024 / 1024} MiB; split it into smaller files`;

async function readBytes(file: string, { cwd }: Context): Promise<Buffer> {
  const path = resolve(cwd, file);
  try {
    if ((await stat(path)).size <= limits.toolFileBytes) return await readFile(path);
  } catch (error) {
    throw new UsageError(`${path} cannot be read (${codeOf(error)})`);
  }
  throw new UsageError(`${path} ${tooLarge}`);
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? 'unknown reason';
