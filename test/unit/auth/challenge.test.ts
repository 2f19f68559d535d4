import { expect, test } from 'vitest';
import { challengeIn } from '../../../src/auth/challenge.ts';

const none = { resourceMetadata: undefined, scopes: undefined, error: undefined };

test.each([
  ['nothing', undefined, undefined],
  ['another scheme', 'Basic realm="x"', undefined],
  ['a scheme alone', 'Bearer', { ...none, scheme: 'Bearer' }],
  [
    'all that is used',
    'bearer realm="a, b", scope="read  write", error=invalid_token, resource_metadata="https://a.example/x"',
    { scheme: 'Bearer', resourceMetadata: 'https://a.example/x', scopes: ['read', 'write'], error: 'invalid_token' },
  ],
  ['an escaped quote', 'Bearer scope="a\\"b"', { ...none, scheme: 'Bearer', scopes: ['a"b'] }],
  [
    'a quoted text that looks like another challenge',
    'Bearer error_description="say, Basic please", scope="read"',
    { ...none, scheme: 'Bearer', scopes: ['read'] },
  ],
  ['several schemes', 'Basic realm="x", Bearer scope="read"', { ...none, scheme: 'Bearer', scopes: ['read'] }],
  [
    'a bound token first',
    'Bearer, DPoP algs="ES256", error="use_dpop_nonce"',
    { ...none, scheme: 'DPoP', error: 'use_dpop_nonce' },
  ],
  [
    'an address that writes to the terminal',
    'Bearer resource_metadata="https://a\u009b2J"',
    { ...none, scheme: 'Bearer' },
  ],
  ['the header twice', ['Basic x="y"', 'Bearer scope="b"'], { ...none, scheme: 'Bearer', scopes: ['b'] }],
] as const)('a challenge with %s is read', (_, header, expected) => {
  expect(challengeIn(header)).toEqual(expected);
});
