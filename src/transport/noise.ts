// Owns what a server writes where only messages belong: how much of it is borne, and how much of it is quoted.

import { limits } from '../model/limits.ts';
import { printable } from './printable.ts';

export class Noise {
  /** The beginning of it, on one line, for a failure to quote. */
  quote = '';
  #bytes = 0;

  /** Says whether it is too much by now: a peer that only makes noise would keep us reading for ever. */
  take(line: string): 'bearable' | 'flood' {
    // Each line costs something beside its length: a flood of short ones is a flood too.
    this.#bytes += line.length + limits.noiseLineCost;
    const room = limits.noiseQuoteChars - this.quote.length;
    if (room > 0) this.quote += ` ${printable(line).replace(/\s+/g, ' ')}`.slice(this.quote === '' ? 1 : 0, room);
    return this.#bytes > limits.noiseBytes ? 'flood' : 'bearable';
  }

  /** The reason with what may be behind it. */
  explain(reason: string): string {
    return this.quote === '' ? reason : `${reason}; it printed text that is not MCP: ${this.quote}`;
  }
}
