// Owns one change of one text, in JSON or TOML: planned, written, and parsed again to verify it. Reads and writes no file.

import { RuntimeError } from '../../model/errors.ts';
import { type ConfigMap, isMap } from '../config-map.ts';
import { camelCase, snakeCase } from '../key-case.ts';
import { dialectOf } from '../read-document.ts';
import type { ParsedDocument } from '../sources/document.ts';
import { vocabularies } from '../vocabulary.ts';
import { type Change, contentAfter, findEntries, type Operation, planChange, saysTheSame } from './plan.ts';

export type EditedText =
  /** `entry`: as the new text has it; for a removed server, as it was. */
  | { readonly kind: 'edited'; readonly text: string; readonly entry: unknown; readonly before: unknown }
  /** `unchanged`: the text says so already. `present`: the server exists and should not be replaced. */
  | { readonly kind: 'unchanged' | 'present'; readonly entry: unknown }
  | { readonly kind: 'absent' };

/** The file's name decides its format. Throws for a text that cannot be parsed, and for an edit whose result would be wrong. */
export async function editText(file: string, written: string, change: Change): Promise<EditedText> {
  const planned = await planText(file, written, change);
  if (planned.kind !== 'edit') return planned;
  const { bom, text, format, content, operations, before } = planned;
  const edited = rewrite(file, text, { edit: format.edit, operations });
  const parsed = await format.parse(edited);
  const actual = parsed.ok ? (parsed.document.value ?? {}) : undefined;
  const entry = verify(file, { name: change.name, actual, expected: contentAfter(content, operations), operations });
  return { kind: 'edited', text: bom + edited, entry: entry ?? before, before };
}

interface PlannedEdit {
  readonly kind: 'edit';
  /** The byte order mark, which no parser should see. */
  readonly bom: string;
  readonly text: string;
  readonly format: EditFormat;
  readonly content: ConfigMap;
  readonly operations: readonly Operation[];
  readonly before: unknown;
}

/** Plans the edit without writing it. Most refusals happen here. */
export async function planText(
  file: string,
  written: string,
  change: Change,
): Promise<PlannedEdit | Exclude<EditedText, { kind: 'edited' }>> {
  const bom = written.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = written.slice(bom.length);
  const format = await loadFormat(file, text);
  const content = contentOf(file, await format.parse(text));
  const plan = planChange(content, spelled(change, format.spell), format.newGroup);
  if (plan.kind === 'absent') return plan;
  if (plan.kind === 'unfit') throw new RuntimeError('CONFIG_INVALID', { file, problem: plan.problem });
  if (plan.kind !== 'edit') return { kind: plan.kind, entry: plan.before };
  return { ...plan, bom, text, format, content };
}

interface EditFormat {
  /** The key that servers are put under in a file that has none yet. */
  readonly newGroup: string;
  readonly spell: (key: string) => string;
  readonly parse: (text: string) => ParsedDocument | Promise<ParsedDocument>;
  readonly edit: (text: string, operation: Operation) => string;
}

/** Loads a parser only when it is needed. */
async function loadFormat(file: string, text: string): Promise<EditFormat> {
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

/** Spells the keys as the format does; unknown keys are for another program and stay as they are. A key set to null is left out. */
function spelled(change: Change, spell: EditFormat['spell']): Change {
  if (change.kind !== 'put') return change;
  const entries = Object.entries(change.entry).filter(([, value]) => value !== null && value !== undefined);
  const isKnown = (key: string) => vocabularies.server.meanings.has(camelCase(key));
  const entry = Object.fromEntries(entries.map(([key, value]) => [isKnown(key) ? spell(key) : key, value]));
  const { inputs } = change;
  return { ...change, ...JSON.parse(JSON.stringify({ entry, ...(inputs && { inputs }) })) };
}

interface Rewriting {
  readonly edit: EditFormat['edit'];
  readonly operations: readonly Operation[];
}

function rewrite(file: string, text: string, { edit, operations }: Rewriting): string {
  try {
    return operations.reduce(edit, text);
  } catch (error) {
    // The parser for positions refuses a few rare texts that the parser for values accepts.
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

/** Returns the entry as the new text has it. */
function verify(file: string, { name, actual, expected, operations }: ExpectedOutcome): unknown {
  if (!isMap(actual) || !saysTheSame(actual, expected, operations)) {
    throw new RuntimeError('INTERNAL', {
      problem: `the edited ${file} would not say what it should; nothing was written`,
    });
  }
  const [entry] = findEntries(actual, name);
  const wanted = operations.some(({ kind }) => kind !== 'remove');
  if ((entry !== undefined) === wanted) return entry?.value;
  // A name such as "mcpServers" would be read as the key of a map of servers, not as a server.
  throw new RuntimeError('CONFIG_INVALID', { file, problem: `a server of this file cannot be called "${name}"` });
}
