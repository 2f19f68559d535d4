// Owns what loses the secrets that are known, beside the text of a result: what servers say of their tools, which is shown and
// kept, and a result as data, for whoever shows more of it than its text.

import type { ShapeSettings } from './call/shape.ts';
import type { Listing } from './catalog/listing.ts';
import type { Redactor } from './shaping/redact.ts';
import { redactDescriptions, redactTexts } from './shaping/secrets/data.ts';

export interface Redacting {
  readonly listing: (listing: Listing) => Listing;
  readonly result: <Value>(value: Value) => Value;
}

export function createRedacting(
  redactor: Pick<Redactor, 'known' | 'value' | 'reach'>,
  settings: () => Pick<ShapeSettings, 'redact'>,
): Redacting {
  const isNothingKnown = () => redactor.reach === 0;
  return {
    listing: (listing) => (isNothingKnown() ? listing : redactDescriptions(listing, redactor.known)),
    result: (value) => {
      const { redact } = settings();
      if (redact === 'patterns') return redactor.value(value);
      return redact === 'off' || isNothingKnown() ? value : redactTexts(value, redactor.known);
    },
  };
}
