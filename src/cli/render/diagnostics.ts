// Owns how errors and warnings of the configuration are shown to a person.

import { type Diagnostic, placeOf } from '../../model/diagnostic.ts';
import type { Paint } from '../command.ts';
import { printable } from './text.ts';

export function diagnosticsText(diagnostics: readonly Diagnostic[], paint: Paint): string {
  return diagnostics
    .map((each) => {
      const mark = each.severity === 'error' ? paint.red('error') : paint.yellow('warning');
      const place = placeOf(each);
      return `${mark}${place ? ` ${paint.bold(printable(place))}` : ''}\n  ${printable(each.message)}\n  ${paint.dim(printable(each.remedy))}`;
    })
    .join('\n');
}
