import { expect } from 'vitest';
import { type LoginFault, type LoginFaultKind, loginFaultSentences } from '../../../src/model/login-faults.ts';
import { verifies } from '../../verifies.ts';

const issuer = 'https://login.example';
const url = 'https://mcp.example/mcp';

const faults: { readonly [Kind in LoginFaultKind]: Extract<LoginFault, { kind: Kind }> } = {
  'no-login-offered': { kind: 'no-login-offered', url },
  'metadata-missing': { kind: 'metadata-missing', issuer },
  'metadata-broken': { kind: 'metadata-broken', address: issuer, problem: 'is not JSON' },
  'issuer-lies': { kind: 'issuer-lies', address: issuer, issuer: 'https://other.example' },
  'other-resource': { kind: 'other-resource', url, resource: 'https://other.example' },
  'insecure-address': { kind: 'insecure-address', what: 'its token endpoint', address: 'http://login.example' },
  'private-address': { kind: 'private-address', address: 'https://10.0.0.1' },
  'redirected-away': { kind: 'redirected-away', address: issuer, reason: 'it redirects again and again' },
  'pkce-missing': { kind: 'pkce-missing', issuer },
  'client-unknown': { kind: 'client-unknown', issuer },
  'registration-refused': { kind: 'registration-refused', issuer, reason: 'HTTP 403' },
  'setting-missing': { kind: 'setting-missing', grant: 'jwt_bearer', setting: 'assertion' },
  'setting-unusable': { kind: 'setting-unusable', setting: 'private_key', problem: 'is not a private key in PEM' },
  'ports-taken': { kind: 'ports-taken', addresses: ['http://127.0.0.1:1/callback'] },
  'page-refused': { kind: 'page-refused', address: 'javascript:1' },
  'page-too-long': { kind: 'page-too-long', chars: 100_000, scopes: 5_000 },
  'state-missing': { kind: 'state-missing' },
  'address-cut': { kind: 'address-cut' },
  'state-differs': { kind: 'state-differs' },
  'issuer-missing': { kind: 'issuer-missing', issuer },
  'issuer-differs': { kind: 'issuer-differs', issuer },
  'scopes-endless': { kind: 'scopes-endless', times: 5 },
  'metadata-elsewhere': {
    kind: 'metadata-elsewhere',
    address: 'https://repo.example/m',
    issuer: 'https://login.example.com',
  },
  'scopes-refused': { kind: 'scopes-refused', scopes: ['write'] },
  refused: { kind: 'refused', error: 'access_denied' },
  'code-missing': { kind: 'code-missing' },
  'address-needed': { kind: 'address-needed', issuer },
  'timed-out': { kind: 'timed-out', afterMs: 300_000, resource: url },
  cancelled: { kind: 'cancelled' },
  'nothing-pending': { kind: 'nothing-pending' },
  'token-unusable': { kind: 'token-unusable', address: issuer, problem: 'it has no access token' },
};

verifies('AUT-01', 'every cause of a failed login has a sentence of its own, and a step that helps', () => {
  const all = Object.values(faults).map((fault) => loginFaultSentences(fault, 'web'));
  expect(new Set(all.map(({ happened }) => happened)).size).toBe(all.length);
  for (const { happened, next } of all) {
    expect(`${happened} ${next}`).not.toMatch(/undefined|\[object/);
    expect(happened).toMatch(/^\S.*[^.]$/);
    expect(next).toMatch(/^[A-Z]/);
  }
});
