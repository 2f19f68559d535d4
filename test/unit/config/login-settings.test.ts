// Owns the proof that every spelling of a login's settings is read, that no secret stands in a file, and that a file of others
// cannot weaken a login.

import { expect, test } from 'vitest';
import { defineServer } from '../../../src/config/define.ts';
import { loginSecrets, loginTexts } from '../../../src/config/login-settings.ts';
import type { RemoteLaunch, Scope } from '../../../src/model/server.ts';

function define(entry: object, scope: Scope = 'user') {
  const value = { url: 'https://mcp.example.com', ...entry };
  const provenance = { scope, key: ['mcpServers', 'web'], file: '/f' } as const;
  const { definition, problems } = defineServer({ name: 'web', provenance, value }, { defaults: {}, mayLoosen: false });
  return {
    oauth: (definition?.launch as RemoteLaunch | undefined)?.oauth,
    problems: problems.map(({ message }) => message),
  };
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
const SECRET = '${SECRET}';

const spellings: Record<string, [entry: object, oauth: unknown]> = {
  'of Claude Code': [
    { oauth: { clientId: 'a', callbackPort: 3118, authServerMetadataUrl: 'https://m', scopes: 'x y' } },
    { clientId: 'a', callbackPort: 3118, metadataUrl: 'https://m', scopes: ['x', 'y'] },
  ],
  'of Codex': [
    { scopes: ['x'], oauth_resource: 'https://r', oauth: { client_id: 'a' } },
    { clientId: 'a', scopes: ['x'], resource: 'https://r' },
  ],
  'of opencode': [
    { oauth: { clientId: 'a', clientSecret: '{env:SECRET}', scope: 'x y', redirectUri: 'http://localhost:1/cb' } },
    { clientId: 'a', clientSecret: '{env:SECRET}', scopes: ['x', 'y'], redirectUri: 'http://localhost:1/cb' },
  ],
  'of VS Code': [{ oauth: { clientId: 'a' } }, { clientId: 'a' }],
  'of a machine': [
    { oauth: { grant: 'client_credentials', client_secret: SECRET } },
    { grant: 'client_credentials', clientSecret: SECRET },
  ],
  'that switches it off': [{ oauth: false }, false],
};
for (const [whose, [entry, oauth]] of Object.entries(spellings))
  test(`a login in the spelling ${whose} is read`, () => {
    expect(define(entry)).toEqual({ oauth, problems: [] });
  });

test('a secret is a reference, or it is left out', () => {
  expect(define({ oauth: { clientSecret: 'literal', privateKey: '!cat key.pem' } })).toEqual({
    oauth: { privateKey: '!cat key.pem' },
    problems: ['"oauth.clientSecret" is the secret itself, which does not belong in a file, and is left out'],
  });
});

test('a file of others neither runs a command for a login nor weakens it', () => {
  const theirs = { clientId: 'a', privateKey: '!cat ~/.ssh/id', pkce: 'assume', allowPrivateNetwork: true };
  const { oauth, problems } = define({ oauth: theirs }, 'project');
  expect(oauth).toEqual({ clientId: 'a' });
  expect(problems).toHaveLength(3);
  expect(define({ oauth: { redirectUri: 'https://evil.example/cb' } }, 'project')).toEqual({
    oauth: undefined,
    problems: ['"oauth.redirectUri" leads to another machine, which only your own files may say'],
  });
  expect(define({ oauth: { redirectUri: 'http://127.0.0.1:1/cb' } }, 'project').problems).toEqual([]);
});

test('only texts can hold placeholders, and the account is none', () => {
  expect(loginTexts({ clientId: 'a', clientSecret: SECRET, scopes: ['x'], account: 'work', callbackPort: 1 })).toEqual([
    ['clientId', 'a'],
    ['clientSecret', SECRET],
  ]);
  expect([loginTexts(false), loginTexts(undefined), loginSecrets.length]).toEqual([[], [], 4]);
});
