// Owns whether a uri may have come from a template of RFC 6570. Written for strangers' templates: one pass, no expressions
// that could take their time.

import { limits } from '../../model/limits.ts';

/** A piece of text, or a hole: one that stays within its segment, or one that takes anything. */
type Part = { readonly text: string } | { readonly hole: 'segment' | 'anything' };

/** What the operators beyond the simplest may stand for. */
const OPERATORS = '+#./;?&';

/** Each piece of text is taken where it comes first: enough for templates that people write. */
export function matchesTemplate(template: string, uri: string): boolean {
  if (template.length > limits.templateChars || uri.length > limits.templateChars) return false;
  const parts = partsOf(template);
  if (parts === undefined || !parts.some((part) => 'hole' in part)) return false;
  let at = 0;
  let hole: 'segment' | 'anything' | undefined;
  for (const [index, part] of parts.entries()) {
    if ('hole' in part) {
      // Two holes side by side are one, and take what the wider one takes.
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

/** Nothing where it is no template at all. */
function partsOf(template: string): readonly Part[] | undefined {
  const parts: Part[] = [];
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
