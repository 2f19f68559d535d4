// Owns how a server's explanation looks: each setting with its place, then the entries it overrides. Literal secrets are hidden.

import type { ExplainedClaim, ExplainedServer, ExplainedSetting } from '../config/explain.ts';
import { hideSecrets } from '../config/literal-secrets.ts';
import { placeOf } from '../model/diagnostic.ts';
import type { Paint } from './command.ts';
import { indent, printable, table } from './render/text.ts';

export function withSecretsHidden(explained: ExplainedServer): ExplainedServer {
  return {
    ...explained,
    settings: hidden(explained.settings),
    beaten: explained.beaten.map((each) => ({ ...each, settings: hidden(each.settings) })),
  };
}

function hidden(settings: readonly ExplainedSetting[]): readonly ExplainedSetting[] {
  const shown: Readonly<Record<string, unknown>> = {
    ...hideSecrets(Object.fromEntries(settings.map(({ key, value }) => [key, value]))),
  };
  return settings.map((each) => (Object.hasOwn(shown, each.key) ? { ...each, value: shown[each.key] } : each));
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
      : ['It overrides:', ...beaten.map((each) => indent(beatenText(each, paint)))].join('\n'),
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
  const written = settings.filter(({ from }) => from === 'file' || from === 'code');
  const values = written.map(
    ({ key, value }) => `${key} = ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const where = provenance.file ? `${provenance.scope}  ${placeOf(provenance)}` : `${provenance.scope}, in code`;
  const what = problem === undefined ? values.join(', ') : `not valid: ${problem}`;
  return `${printable(where)}  ${paint.dim(printable(`because ${because}`))}\n${indent(printable(what))}`;
}
