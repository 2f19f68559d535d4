// Owns the text that a server writes where only messages belong: how much of it is tolerated, and how much is quoted.

import { limits } from '../model/limits.ts';
import { printable } from './printable.ts';

export class Noise {
  /** The first part of the text on one line, for a failure to quote. */
  quote = '';
  #bytes = 0;

  /** `flood`: stop reading. A server that writes nothing but noise would keep the host reading for ever. */
  take(line: string): 'tolerable' | 'flood' {
    // Each line counts more than its length, so that many short lines are a flood as well.
    this.#bytes += line.length + limits.noiseLineCost;
    const room = limits.noiseQuoteChars - this.quote.length;
    if (room > 0) this.quote += ` ${printable(line).replace(/\s+/g, ' ')}`.slice(this.quote === '' ? 1 : 0, room);
    return this.#bytes > limits.noiseBytes ? 'flood' : 'tolerable';
  }

  /** The reason, followed by the noise that may explain it. */
  explain(reason: string): string {
    return this.quote === '' ? reason : `${reason}; it printed text that is not MCP: ${this.quote}`;
  }
}
