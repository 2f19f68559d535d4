// Owns the proof that the sentences about flagged texts can be counted again.

import { expect, test } from 'vitest';
import { countFlaggedTexts, type FlaggedText, flaggedTextSentences } from '../../../src/catalog/flagged-sentences.ts';
import { limits } from '../../../src/model/limits.ts';

const flagged = (tool?: string): FlaggedText => ({
  surface: tool === undefined ? 'instructions' : 'tool_description',
  ...(tool !== undefined && { tool }),
  signals: [{ name: 'overrides-instructions', at: 0, excerpt: '' }],
});

test.each([1, 2, limits.flaggedTexts.told, limits.flaggedTexts.told + 7])(
  '%i texts are counted, others stay',
  (count) => {
    const texts = [flagged(), ...Array.from({ length: count - 1 }, (_, at) => flagged(`tool ${at}"\nof it`))];
    const others = ['the variable X is not set, so it is empty', 'and 3 more'];
    expect(countFlaggedTexts([...others, ...flaggedTextSentences(texts)])).toEqual({ count, others });
  },
);
