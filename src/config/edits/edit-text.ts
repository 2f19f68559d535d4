// Owns one change of one text, in its dialect: planned, written, and read again before anybody gets to see it. Reads no file.

import { RuntimeError } from '../../model/errors.ts';
import type { ConfigMap } from '../config-map.ts';
import { isMap } from '../config-map.ts';
import { camelCase, snakeCase } from '../key-case.ts';
import { dialectOf } from '../read-document.ts';
import type { ParsedDocument } from '../sources/document.ts';
import { vocabularies } from '../vocabulary.ts';
import { type Change, contentAfter, findEntries, type Operation, planChange, saysTheSame } from './plan.ts';

export type EditedText =
  /** `entry`: as it is read now; for a removed one, as it was. */
  | { readonly kind: 'edited'; readonly text: string; readonly entry: unknown; readonly before: unknown }
  /** It was so already, or it is there and should not be replaced. */
  | { readonly kind: 'unchanged' | 'present'; readonly entry: unknown }
  | { readonly kind: 'absent' };

/** The name of the file tells its dialect. Refuses a text that cannot be read, and an edit that would not say what it should. */
export async function editText(file: string, written: string, change: Change): Promise<EditedText> {
  const planned = await planText(file, written, change);
  if (planned.kind !== 'edit') return planned;
  const { bom, text, dialect, content, operations, before } = planned;
  const edited = rewrite(file, text, { edit: dialect.edit, operations });
  const parsed = await dialect.parse(edited);
  const actual = parsed.ok ? (parsed.document.value ?? {}) : undefined;
  const entry = verify(file, { name: change.name, actual, expected: contentAfter(content, operations), operations });
  return { kind: 'edited', text: bom + edited, entry: entry ?? before, before };
}

interface PlannedEdit {
  readonly kind: 'edit';
  /** The byte order mark, which no parser should see. */
  readonly bom: string;
  readonly text: string;
  readonly dialect: Dialect;
  readonly content: ConfigMap;
  readonly operations: readonly Operation[];
  readonly before: unknown;
}

/** What would be done. Most of what is refused is refused here. */
export async function planText(
  file: string,
  written: string,
  change: Change,
): Promise<PlannedEdit | Exclude<EditedText, { kind: 'edited' }>> {
  const bom = written.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = written.slice(bom.length);
  const dialect = await loadDialect(file, text);
  const content = contentOf(file, await dialect.parse(text));
  const plan = planChange(content, spelled(change, dialect.spell), dialect.newGroup);
  if (plan.kind === 'absent') return plan;
  if (plan.kind === 'unfit') throw new RuntimeError('CONFIG_INVALID', { file, problem: plan.problem });
  if (plan.kind !== 'edit') return { kind: plan.kind, entry: plan.before };
  return { ...plan, bom, text, dialect, content };
}

interface Dialect {
  /** Under which key servers stand in a file that has none yet. */
  readonly newGroup: string;
  readonly spell: (key: string) => string;
  readonly parse: (text: string) => ParsedDocument | Promise<ParsedDocument>;
  readonly edit: (text: string, operation: Operation) => string;
}

/** Loaded by need. */
async function loadDialect(file: string, text: string): Promise<Dialect> {
  if (dialectOf(file, text) === 'json') {
    const [{ parseJson: parse }, { editJson: edit }] = await Promise.all([
      import('../sources/json.ts'),
      import('./json.ts'),
    ]);
    return { newGroup: 'mcpServers', spell: camelCase, parse, edit };
  }
  const [{ parseToml: parse }, { editToml: edit }] = await Promise.all([
    import('../sources/toml.ts'),
    import('./toml.ts'),
  ]);
  return { newGroup: 'mcp_servers', spell: (key) => snakeCase(camelCase(key)), parse, edit };
}

function contentOf(file: string, parsed: ParsedDocument): ConfigMap {
  if (!parsed.ok) {
    const { line, column, message, excerpt } = parsed.problem;
    const problem = `column ${column}: ${message}${excerpt === '' ? '' : `, at: ${excerpt}`}`;
    throw new RuntimeError('CONFIG_INVALID', { file, line, problem });
  }
  const { value = {} } = parsed.document;
  if (isMap(value)) return value;
  throw new RuntimeError('CONFIG_INVALID', { file, problem: 'it holds no map of settings' });
}

/** In the words of the dialect; what is not a setting of a server is for someone else, and stays. A key set to null says nothing. */
function spelled(change: Change, spell: Dialect['spell']): Change {
  if (change.kind !== 'put') return change;
  const entries = Object.entries(change.entry).filter(([, value]) => value !== null && value !== undefined);
  const isKnown = (key: string) => vocabularies.server.meanings.has(camelCase(key));
  const entry = Object.fromEntries(entries.map(([key, value]) => [isKnown(key) ? spell(key) : key, value]));
  return { ...change, entry: JSON.parse(JSON.stringify(entry)) };
}

interface Rewriting {
  readonly edit: Dialect['edit'];
  readonly operations: readonly Operation[];
}

function rewrite(file: string, text: string, { edit, operations }: Rewriting): string {
  try {
    return operations.reduce(edit, text);
  } catch (error) {
    // The parser that knows positions refuses a few rare things that the one that knows values takes.
    if (!(error instanceof SyntaxError)) throw error;
    const line = 'lineNumber' in error ? { line: Number(error.lineNumber) } : {};
    const problem = 'something is written there in a way that cannot be edited';
    throw new RuntimeError('CONFIG_INVALID', { file, ...line, problem }, { cause: error });
  }
}

interface ExpectedOutcome {
  readonly name: string;
  readonly actual: unknown;
  readonly expected: ConfigMap;
  readonly operations: readonly Operation[];
}

/** Gives the entry as it is read now. */
function verify(file: string, { name, actual, expected, operations }: ExpectedOutcome): unknown {
  if (!isMap(actual) || !saysTheSame(actual, expected, operations)) {
    throw new RuntimeError('INTERNAL', {
      problem: `the edited ${file} would not say what it should; nothing was written`,
    });
  }
  const [entry] = findEntries(actual, name);
  const wanted = operations.some(({ kind }) => kind !== 'remove');
  if ((entry !== undefined) === wanted) return entry?.value;
  // The key of a map that holds servers is no name: under it the entry would be read as such a map.
  throw new RuntimeError('CONFIG_INVALID', { file, problem: `a server of this file cannot be called "${name}"` });
}
