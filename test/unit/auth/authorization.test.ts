import { expect, test } from 'vitest';
import { codeInPasted, pageUrl, resourceFor, scopesFor, stepUpScopes } from '../../../src/auth/authorization.ts';
import { isFor, serverPlaces } from '../../../src/auth/discovery.ts';
import { defaultMetadata } from '../../../src/auth/metadata.ts';
import { verifies } from '../../verifies.ts';

const server = defaultMetadata('https://login.example');
const found = { challenge: undefined, resource: undefined, server };
const resource = { resource: 'https://mcp.example', authorizationServers: [], scopes: ['listed'], requiresDpop: false };

test('the login page keeps what its address already asks', () => {
  const request = {
    clientId: 'c',
    redirectUri: 'http://127.0.0.1:1/callback',
    challenge: 'x',
    state: 's',
    scopes: [],
    resource: '',
  };
  const url = new URL(pageUrl('https://login.example/page?tenant=a&client_id=theirs', request));
  expect(Object.fromEntries(url.searchParams)).toEqual({
    tenant: 'a',
    client_id: 'c',
    response_type: 'code',
    redirect_uri: 'http://127.0.0.1:1/callback',
    code_challenge: 'x',
    code_challenge_method: 'S256',
    state: 's',
  });
});

verifies('AUT-01', 'a step-up asks for the old scopes and the missing ones, and for nothing where none is new', () => {
  expect(stepUpScopes(['a', 'b'], ['b', 'c'])).toEqual(['a', 'b', 'c']);
  expect(stepUpScopes(['a', 'b'], ['b'])).toBeUndefined();
  expect(stepUpScopes([], [])).toBeUndefined();
});

test('offline access is asked for where it is listed, and never alone', () => {
  const offered = { ...found, server: { ...server, scopes: ['offline_access'] } };
  expect(scopesFor({}, offered)).toEqual([]);
  expect(scopesFor({ asked: ['a'] }, offered)).toEqual(['a', 'offline_access']);
  expect(scopesFor({ asked: ['a'] }, found)).toEqual(['a']);
});

verifies('AUT-01', 'the resource is sent as it is spelled, and not to Entra', () => {
  const entra = { ...server, issuer: 'https://login.microsoftonline.com/t/v2.0' };
  expect(resourceFor(undefined, { ...found, resource })).toBe('https://mcp.example');
  expect(resourceFor('auto', { ...found, resource, server: entra })).toBe('https://mcp.example');
  expect(resourceFor(undefined, { ...found, resource, server: entra })).toBe('');
  expect(resourceFor('off', { ...found, resource })).toBe('');
  expect(resourceFor('urn:mine', { ...found, resource, server: entra })).toBe('urn:mine');
  expect(resourceFor(undefined, found)).toBe('');
});

test.each([
  ['https://a.example/mcp', 'https://a.example/mcp', true],
  ['https://a.example', 'https://a.example/mcp', true],
  ['https://a.example/mcp/', 'https://a.example/mcp', true],
  ['https://a.example/m', 'https://a.example/mcp', false],
  ['https://a.example/mcp/sub', 'https://a.example/mcp', false],
  ['http://a.example/mcp', 'https://a.example/mcp', false],
  ['https://b.example/mcp', 'https://a.example/mcp', false],
  ['nonsense', 'https://a.example/mcp', false],
])('%s is the resource of %s: %s', (named, url, expected) => {
  expect(isFor(named, url)).toBe(expected);
});

test('an issuer with a path has its metadata at three places', () => {
  expect(serverPlaces('https://a.example/t/')).toEqual([
    'https://a.example/.well-known/oauth-authorization-server/t',
    'https://a.example/.well-known/openid-configuration/t',
    'https://a.example/t/.well-known/openid-configuration',
  ]);
});

verifies('AUT-01', 'a code alone is enough only where the server does not name itself', () => {
  const expected = { server: 'web', state: 's', issuer: 'https://login.example', namesItself: false };
  expect(codeInPasted(' abc \n', expected)).toBe('abc');
  expect(() => codeInPasted('', expected)).toThrow('has no code');
  expect(() => codeInPasted('two words', expected)).toThrow('has no code');
  expect(() => codeInPasted('abc', { ...expected, namesItself: true })).toThrow('Give the whole address');
  // As a shell hands it on that took the `&` for the end of the command.
  expect(() => codeInPasted('http://127.0.0.1:1/callback?code=abc', expected)).toThrow(
    'a part of the address is missing: it has no state. Give the whole address that the browser shows at the end, in quotes.',
  );
});
