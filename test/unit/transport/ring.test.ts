// Owns the proof that a ring holds the newest bytes and no others.

import fc from 'fast-check';
import { expect } from 'vitest';
import { Ring } from '../../../src/transport/ring.ts';
import { verifies } from '../../verifies.ts';

verifies('TRN-02', 'the last bytes are kept, whatever came before and in whichever pieces', () => {
  const anyPiece = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 3_000 });
  fc.assert(
    fc.property(fc.array(anyPiece), fc.integer({ min: 1, max: 4_096 }), (pieces, capacity) => {
      const ring = new Ring(capacity);
      for (const piece of pieces) ring.push(Buffer.from(piece));
      expect(ring.text()).toBe(pieces.join('').slice(-capacity));
    }),
  );
});
