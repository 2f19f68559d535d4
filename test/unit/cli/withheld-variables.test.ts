// Owns the proof of which words of a server's stderr count as the name of a variable.

import { expect, test } from 'vitest';
import { mentionedVariables } from '../../../src/cli/withheld-variables.ts';

test('only whole words in the spelling of variables count, as far as the person has set them', () => {
  const env = { API_KEY: 'x', MY_API_KEY: 'x', PATH: '/', OTHER_KEY: undefined, constructor: 'x' };
  expect(mentionedVariables(['set API_KEY, API_KEY or OTHER_KEY', 'NOT_MY_API_KEYS api_key PATH'], env)).toEqual([
    'API_KEY',
  ]);
  expect(mentionedVariables(['export MY_API_KEY="…"'], env)).toEqual(['MY_API_KEY']);
});
