// Owns the proof of who a request is taken for.

import { expect, test } from 'vitest';
import { CLIENT_HEADER, identify, originOf, WORKSPACE_HEADER } from '../../../src/gateway/access.ts';
import { verifies } from '../../verifies.ts';

const connect = { id: 'connect', details: { mayNameWorkspace: true } };
const folder = (path: string) => ({ headers: { [WORKSPACE_HEADER]: encodeURIComponent(path) } });

test('without a header, requests of one token are one caller', () => {
  const token = { id: 'own' };
  expect(identify(token, { headers: {} })).toBe(identify(token, { headers: {} }));
});

verifies('EXT-32', 'a workspace counts only with the token of connect', () => {
  expect(identify({ id: 'own' }, folder('/work/a'))).toBe('Only connect may name a workspace');
  const [one, other] = ['/work/a', '/work/b c'].map((path) => identify(connect, folder(path)));
  if (typeof one !== 'object' || typeof other !== 'object') throw new Error('refused');
  expect([originOf(one).workspace, originOf(other).workspace]).toEqual(['/work/a', '/work/b c']);
  expect(one.id).not.toBe(other.id);
});

test.each(['work', '', '/a\0b', '%'])('a workspace that is no absolute folder is refused: %j', (path) => {
  const header = path === '%' ? { headers: { [WORKSPACE_HEADER]: '%' } } : folder(path);
  expect(identify(connect, header)).toContain('must be an absolute folder');
});

test('an id of a client makes it one client, and must be one', () => {
  const known = identify(connect, { headers: { [CLIENT_HEADER]: 'abcdefgh-1' } });
  expect(typeof known === 'object' && originOf(known).client).toBe('abcdefgh-1');
  expect(identify(connect, { headers: { [CLIENT_HEADER]: 'x y' } })).toBe(`The header ${CLIENT_HEADER} is not valid`);
});
