// Owns answering a server's elicitation requests at a terminal: the question names the server first, the person fills in a form
// field by field and reviews it before it is sent, and sees the address of a page only after agreeing. No page is opened.

import { type FormField, fillForm, optionsOf } from '../connection/elicitation/form.ts';
import type { ElicitAnswer, ElicitRequest } from '../connection/elicitation/request.ts';
import { isSecretField } from '../connection/elicitation/secrets.ts';
import type { JsonObject } from '../kernel/json.ts';
import { visible } from '../kernel/shell-word.ts';
import type { TextQuestion } from './command.ts';
import { indent } from './render/text.ts';
import { isYes } from './terminal.ts';

export type AskText = (question: TextQuestion) => Promise<string | undefined>;

/** How often a field is asked for: a terminal whose input has ended answers nothing at once, again and again. */
const TRIES = 5;
/** A longer list would push the question off the screen. */
const SHOWN_OPTIONS = 50;

/** One request at a time, to its last field, however many servers ask at once. */
export function answerOnTerminal(askText: AskText): (request: ElicitRequest) => Promise<ElicitAnswer> {
  let before: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answer = before.then(() =>
      request.signal.aborted ? { action: 'cancel' as const } : askPerson(request, askText),
    );
    before = answer.then(nothing, nothing);
    return answer;
  };
}

const nothing = () => undefined;

function askPerson(request: ElicitRequest, askText: AskText): Promise<ElicitAnswer> {
  const ask: Ask = (question, kind = {}) => askText({ question, isHidden: false, ...kind, signal: request.signal });
  return request.mode === 'url' ? visit(request, ask) : fillIn(request, ask);
}

type Ask = (
  question: string,
  kind?: Partial<Pick<TextQuestion, 'isHidden' | 'isDecision'>>,
) => Promise<string | undefined>;

/** Puts a bar before each line, so that a server's text cannot imitate that of Plexus. */
const quoted = (message: string) => indent(message, '  | ');

const agrees = async (ask: Ask, question: string) => isYes(await ask(`${question} [y/N]`, { isDecision: true }));

async function visit(
  { server, message, host, url, awaitsCompletion }: Extract<ElicitRequest, { mode: 'url' }>,
  ask: Ask,
): Promise<ElicitAnswer> {
  const fieldQuestion = `Server "${visible(server)}" asks you to visit a page of ${host}:\n${quoted(message)}`;
  const wanted = await agrees(ask, `${fieldQuestion}\nSee its address?`);
  if (!wanted) return { action: 'decline' };
  const done = awaitsCompletion ? 'press Enter when you are done there' : 'press Enter';
  await ask(`${url}\nOpen it in a browser if you trust ${host}, then ${done}:`, { isDecision: true });
  return { action: 'accept', ...(awaitsCompletion && { isDone: true }) };
}

async function fillIn(request: Extract<ElicitRequest, { mode: 'form' }>, ask: Ask): Promise<ElicitAnswer> {
  const { server, message, requestedSchema, asksForSecret } = request;
  const { properties, required = [] } = requestedSchema;
  const warning = asksForSecret ? '\nIt seems to ask for a secret. No server should ask for one in this way.' : '';
  const fieldQuestion = `Server "${visible(server)}" asks:\n${quoted(message)}${warning}`;
  if (!(await agrees(ask, `${fieldQuestion}\nAnswer it?`))) return { action: 'decline' };
  const content: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(properties)) {
    const answer = await askField({ name, field, isRequired: required.includes(name) }, ask);
    if (answer === undefined) return { action: 'cancel' };
    if (answer.value !== undefined) content[name] = answer.value;
  }
  const filled = fillForm(requestedSchema, content);
  if (!filled.ok) return { action: 'cancel' };
  const isNothing = Object.keys(properties).length === 0;
  const isSent =
    isNothing ||
    (await agrees(ask, `${review(filled.content, properties)}\nSend that to server "${visible(server)}"?`));
  return isSent ? { action: 'accept', content } : { action: 'decline' };
}

function review(content: JsonObject, properties: Readonly<Record<string, FormField>>): string {
  return Object.entries(properties)
    .map(([name, field]) => {
      const value = content[name];
      const shown =
        value === undefined ? '–' : isSecretField(name, field) ? '(hidden)' : visible(wordsFor(value, field));
      return `  ${visible(field.title ?? name)}: ${shown}`;
    })
    .join('\n');
}

interface FieldQuestion {
  readonly name: string;
  readonly field: FormField;
  readonly isRequired: boolean;
}

/** `undefined`: the person gave up. A `value` of `undefined`: the person left the field out. */
async function askField(fieldQuestion: FieldQuestion, ask: Ask): Promise<{ readonly value: unknown } | undefined> {
  const { name, field, isRequired } = fieldQuestion;
  const isHidden = isSecretField(name, field);
  let problem = '';
  for (let left = TRIES; left > 0; left--) {
    const typed = await ask(problem + questionOf(fieldQuestion), { isHidden });
    if (typed === undefined && (!isRequired || field.default !== undefined)) return { value: undefined };
    const value = typed === undefined ? undefined : parse(field, typed);
    const filled = fillForm({ type: 'object', properties: { [name]: field }, required: [name] }, { [name]: value });
    if (filled.ok) return { value };
    // The problem may quote what the person typed.
    problem = `${isHidden ? 'That does not fit' : visible(filled.problems.join('; '))}.\n`;
  }
  return undefined;
}

function questionOf({ name, field, isRequired }: FieldQuestion): string {
  const { title = name, description, default: preset } = field;
  const options = optionsOf(field);
  const list = options?.slice(0, SHOWN_OPTIONS).map(({ const: value, title: shown = value }, at) => {
    return `\n  ${at + 1}  ${visible(shown === value ? value : `${shown} (${value})`)}`;
  });
  const more = (options?.length ?? 0) - SHOWN_OPTIONS;
  return [
    visible(title),
    description === undefined ? '' : ` – ${visible(description)}`,
    ` (${[kindOf(field), ...(isRequired ? [] : ['optional'])].join(', ')})`,
    ...(list ?? []),
    more > 0 ? `\n  … and ${more} more` : '',
    // Beside the last option, the default would read as a part of it.
    options === undefined ? '' : '\nYour choice',
    preset === undefined ? '' : ` [${visible(wordsFor(preset, field))}]`,
    ':',
  ].join('');
}

/** The titles that the person chose from, not the server's values. */
function wordsFor(value: unknown, field: FormField): string {
  const titles = new Map(optionsOf(field)?.map(({ const: each, title = each }) => [each, title]));
  return [value]
    .flat()
    .map((each) => titles.get(String(each)) ?? String(each))
    .join(', ');
}

const formats = {
  email: 'an e-mail address',
  uri: 'an address',
  date: 'a date, as 2026-07-28',
  'date-time': 'a time, as 2026-07-28T12:00:00Z',
  password: 'hidden text',
};

function kindOf(field: FormField): string {
  switch (field.type) {
    case 'boolean':
      return 'y/n';
    case 'array':
      return 'choose some, separated by commas';
    case 'number':
    case 'integer': {
      const { minimum, maximum } = field;
      const from = minimum === undefined ? '' : ` from ${minimum}`;
      const to = maximum === undefined ? '' : ` up to ${maximum}`;
      return `${field.type === 'integer' ? 'a whole number' : 'a number'}${from}${to}`;
    }
    case 'string':
      if (optionsOf(field)) return 'choose one';
      return 'format' in field && field.format ? formats[field.format] : 'text';
  }
}

/** Text that does not fit the field's type stays as the person typed it; the form's check then rejects it. */
function parse(field: FormField, typed: string): unknown {
  const text = typed.trim();
  switch (field.type) {
    case 'boolean':
      return /^(y|yes|true)$/i.test(text) ? true : /^(n|no|false)$/i.test(text) ? false : typed;
    case 'number':
    case 'integer':
      return Number.isFinite(Number(text)) ? Number(text) : typed;
    case 'array':
      return text.split(',').map((each) => optionFor(field, each.trim()));
    case 'string':
      return optionsOf(field) ? optionFor(field, text) : typed;
  }
}

/** Finds an option by its value, its title or its number in the list, in this order: a value may itself be a number. */
function optionFor(field: FormField, text: string): string {
  const options = optionsOf(field) ?? [];
  const byValue = options.find((option) => option.const === text);
  const byTitle = options.find((option) => (option.title ?? option.const).toLowerCase() === text.toLowerCase());
  const byNumber = /^\d{1,3}$/.test(text) ? options[Number(text) - 1] : undefined;
  return (byValue ?? byTitle ?? byNumber)?.const ?? text;
}
