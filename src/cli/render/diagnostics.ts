// Owns how errors and warnings of the configuration are shown to a person.

import { type Diagnostic, placeOf } from '../../model/diagnostic.ts';
import type { Paint } from '../command.ts';
import { indent, printable, prose } from './text.ts';

export function diagnosticsText(diagnostics: readonly Diagnostic[], paint: Paint): string {
  return diagnostics
    .map((each) => {
      const mark = each.severity === 'error' ? paint.red('error') : paint.yellow('warning');
      const place = placeOf(each);
      const lines = [printable(each.message), paint.dim(printable(each.remedy))];
      return `${mark}${place ? ` ${paint.bold(printable(place))}` : ''}\n${prose(indent(lines.join('\n')), paint)}`;
    })
    .join('\n');
}
