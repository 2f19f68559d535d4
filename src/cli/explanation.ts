// Owns how a server's explanation looks: each setting with its place, then what its entry beat. Literal secrets are not shown.

import { variablesOf } from '../config/expand.ts';
import type { ExplainedClaim, ExplainedServer, ExplainedSetting } from '../config/explain.ts';
import { placeOf } from '../model/diagnostic.ts';
import type { Paint } from './command.ts';
import { indent, printable, table } from './render/text.ts';

/** The same, fit to be shown: a literal value whose name says that it is a secret is hidden. */
export function presentable(explained: ExplainedServer): ExplainedServer {
  return {
    ...explained,
    settings: explained.settings.map(hideSecrets),
    beaten: explained.beaten.map((each) => ({ ...each, settings: each.settings.map(hideSecrets) })),
  };
}

const HIDDEN = '(hidden)';
const telling = /TOKEN|SECRET|PASSW|KEY|AUTH|CREDENTIAL|COOKIE/i;

function hideSecrets(setting: ExplainedSetting): ExplainedSetting {
  const { key, value } = setting;
  if ((key === 'env' || key === 'headers') && typeof value === 'object' && value !== null)
    return {
      ...setting,
      value: Object.fromEntries(Object.entries(value).map(([name, each]) => [name, hide(name, each)])),
    };
  if (key === 'url' && typeof value === 'string') return { ...setting, value: hideInUrl(value) };
  if (key === 'args' && Array.isArray(value))
    return { ...setting, value: value.map((arg, at) => hideArgument(String(arg), String(value[at - 1] ?? ''))) };
  return setting;
}

const hide = (name: string, value: unknown) =>
  telling.test(name) && variablesOf(String(value)).length === 0 ? HIDDEN : value;

const hideInUrl = (url: string) =>
  url
    .replace(/(?<=\/\/[^/@:]*:)[^/@]*(?=@)/, HIDDEN)
    .replace(/([?&]([^=&#]*)=)([^&#]*)/g, (whole, start, name, value) =>
      telling.test(name) && variablesOf(value).length === 0 ? `${start}${HIDDEN}` : whole,
    );

function hideArgument(arg: string, before: string): string {
  if (variablesOf(arg).length > 0) return arg;
  const [, option = ''] = /^(--?[\w-]+=)/.exec(arg) ?? [];
  if (telling.test(option)) return `${option}${HIDDEN}`;
  return before.startsWith('-') && telling.test(before) && !arg.startsWith('-') ? HIDDEN : arg;
}

export function explanationText(explained: ExplainedServer, paint: Paint): string {
  const { name, provenance, refusal, problem, beaten } = explained;
  const from = provenance.provider === undefined ? provenance.scope : `${provenance.scope}, ${provenance.provider}`;
  const head = `${paint.bold(printable(name))}  ${from}${provenance.file ? `  ${paint.dim(printable(placeOf(provenance)))}` : ''}`;
  const parts = [
    head,
    refusal === undefined ? undefined : paint.yellow(indent(printable(`It is not in use: ${refusal}.`))),
    problem === undefined ? undefined : paint.red(indent(printable(`It is not valid: ${problem}.`))),
    explained.settings.length === 0 ? undefined : indent(settingsTable(explained.settings, paint)),
    beaten.length === 0
      ? 'No other file defines it.'
      : ['It beats:', ...beaten.map((each) => indent(beatenText(each, paint)))].join('\n'),
  ];
  return parts.filter((part) => part !== undefined).join('\n');
}

export function settingsTable(settings: readonly ExplainedSetting[], paint: Paint): string {
  const rows = settings.map(({ key, value, from, file, line }) => [
    { text: key },
    { text: typeof value === 'string' ? value : JSON.stringify(value) },
    { text: from === 'file' ? placeOf({ ...(file && { file }), ...(line && { line }) }) : from, paint: paint.dim },
  ]);
  return table(['SETTING', 'VALUE', 'FROM'], rows, paint);
}

function beatenText(
  { provenance, settings, because, problem }: ExplainedClaim & { because: string },
  paint: Paint,
): string {
  const said = settings.filter(({ from }) => from === 'file' || from === 'code');
  const values = said.map(({ key, value }) => `${key} = ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const where = provenance.file ? `${provenance.scope}  ${placeOf(provenance)}` : `${provenance.scope}, in code`;
  const what = problem === undefined ? values.join(', ') : `not valid: ${problem}`;
  return `${printable(where)}  ${paint.dim(printable(`because ${because}`))}\n${indent(printable(what))}`;
}
