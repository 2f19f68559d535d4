// Owns whether a uri fits a template of RFC 6570. Templates come from untrusted servers: one pass, and no regular expression
// made of them that could run for long.

import { limits } from '../../model/limits.ts';

/** A piece of text, or a hole: it takes either one path segment or anything. */
type TemplatePart = { readonly text: string } | { readonly hole: 'segment' | 'anything' };

/** The operators of RFC 6570 whose value may reach beyond one path segment. */
const OPERATORS = '+#./;?&';

/** Takes the first occurrence of each piece of text: enough for templates that people write. */
export function matchesTemplate(template: string, uri: string): boolean {
  if (template.length > limits.templateChars || uri.length > limits.templateChars) return false;
  const parts = partsOf(template);
  if (parts === undefined || !parts.some((part) => 'hole' in part)) return false;
  let at = 0;
  let hole: 'segment' | 'anything' | undefined;
  for (const [index, part] of parts.entries()) {
    if ('hole' in part) {
      // Two holes side by side count as one, as wide as the wider one.
      hole = hole === 'anything' ? hole : part.hole;
      continue;
    }
    const isLast = index === parts.length - 1;
    const found = placeOf(part.text, uri, { at, hole, isLast });
    if (found < 0 || (hole !== undefined && !fits(uri.slice(at, found), hole))) return false;
    at = found + part.text.length;
    hole = undefined;
  }
  return hole === undefined ? at === uri.length : fits(uri.slice(at), hole);
}

function placeOf(
  text: string,
  uri: string,
  { at, hole, isLast }: { readonly at: number; readonly hole: string | undefined; readonly isLast: boolean },
): number {
  if (hole === undefined) return uri.startsWith(text, at) ? at : -1;
  if (!isLast) return uri.indexOf(text, hole === 'segment' ? at + 1 : at);
  const end = uri.length - text.length;
  return end >= at && uri.endsWith(text) ? end : -1;
}

function fits(value: string, hole: 'segment' | 'anything'): boolean {
  return hole === 'anything' || (value !== '' && !/[/?#]/.test(value));
}

/** `undefined` if the text is no valid template. */
function partsOf(template: string): readonly TemplatePart[] | undefined {
  const parts: TemplatePart[] = [];
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf('{', at);
    const end = open < 0 ? template.length : open;
    if (end > at) parts.push({ text: template.slice(at, end) });
    if (open < 0) break;
    const close = template.indexOf('}', open);
    if (close < 0) return undefined;
    const inside = template.slice(open + 1, close);
    if (inside === '') return undefined;
    const isSimple = !OPERATORS.includes(inside.charAt(0)) && !/[*,]/.test(inside);
    parts.push({ hole: isSimple ? 'segment' : 'anything' });
    at = close + 1;
  }
  return parts;
}
