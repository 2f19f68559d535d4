// Owns how the page about one tool looks. Its texts are the server's: they are escaped, and wrapped to the terminal.

import { visible } from '../../kernel/shell-word.ts';
import { describeHints } from '../../trust/call-facts.ts';
import type { Paint } from '../command.ts';
import type { ShownParameter, ToolPage } from '../tool-page.ts';
import { firstLine, indent, printable, prose } from './text.ts';

/** Without a terminal, prose is still wrapped: a description is often one line of a thousand characters. */
const WIDTH_WITHOUT_TERMINAL = 100;

export function toolPageText(page: ToolPage, paint: Paint): string {
  const { tool, server, title, description, signature, annotations, example, reduced = [] } = page;
  const wrap = wrapFor(paint);
  const about = `${title === undefined ? '' : `(${title}) `}of server ${server}`;
  const blocks = [
    `${paint.bold(visible(tool))} ${paint.dim(visible(about))}`,
    wrap(description.trim()),
    `${paint.bold('Signature')}\n${wrapHanging(signature, '  ', paint)}`,
    `${paint.bold('Parameters')}\n${parametersText(page, paint)}`,
    Object.keys(annotations).length === 0 ? '' : wrap(`It states: ${describeHints(annotations)}.`),
    reduced.length === 0 ? '' : wrap(`Models see it reduced: ${reduced.join('; ')}.`),
    // One line whatever its length: a command that is broken in two would run its first half.
    `${paint.bold('Call it')}\n  ${printable(example)}`,
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

const wrapFor =
  ({ width = WIDTH_WITHOUT_TERMINAL }: Paint) =>
  (text: string, by = '') =>
    prose(indent(printable(text), by), { width });

const HANG = '    ';

/** Further lines stand below the first one's end, so that the names at its beginning are easy to find. */
function wrapHanging(text: string, by: string, { width = WIDTH_WITHOUT_TERMINAL }: Paint): string {
  return prose(indent(printable(text), by), { width: width - HANG.length }).replaceAll('\n', `\n${HANG}`);
}

function parametersText({ parameters, takesOthers }: ToolPage, paint: Paint): string {
  const lines = [
    ...parameters.map((each) => parameterText(each, paint)),
    ...(takesOthers ? ['  It also takes parameters that it does not name.'] : []),
  ];
  return lines.length === 0 ? '  none' : lines.join('\n');
}

function parameterText(parameter: ShownParameter, paint: Paint): string {
  const { name, type, required, default: preset, description = '' } = parameter;
  const wrap = wrapFor(paint);
  const facts = [type, ...(required ? ['required'] : []), ...(preset === undefined ? [] : [defaultText(preset)])];
  const shown = visible(name);
  const first = wrapHanging(`${shown}  ${facts.join(', ')}`, '  ', paint).replace(shown, () => paint.bold(shown));
  return description.trim() === '' ? first : `${first}\n${wrap(description.trim(), '      ')}`;
}

const LONGEST_DEFAULT = 80;

function defaultText(value: unknown): string {
  const text = JSON.stringify(value);
  return `default ${text.length > LONGEST_DEFAULT ? `${text.slice(0, LONGEST_DEFAULT)}…` : text}`;
}

export interface ToolSignature {
  readonly name: string;
  readonly signature: string;
  readonly description: string;
}

/** The signature of each tool, and below it the first line of its description. */
export function signaturesText(tools: readonly ToolSignature[], paint: Paint): string {
  const { width = WIDTH_WITHOUT_TERMINAL } = paint;
  return tools
    .map(({ name, signature, description }) => {
      const [shown, line] = [printable(name), printable(firstLine(description, width - HANG.length))];
      const text = wrapHanging(signature, '', paint).replace(shown, () => paint.bold(shown));
      return line === '' ? text : `${text}\n${HANG}${paint.dim(line)}`;
    })
    .join('\n');
}
