import { expect, test } from 'vitest';
import { loggedInText, loggedOutText, loginListText, previewText } from '../../../../src/cli/render/logins.ts';
import { plain } from '../../../../src/cli/render/text.ts';
import { verifies } from '../../../verifies.ts';

const info = {
  serverUrl: 'https://mcp.example/mcp',
  issuer: 'https://login.example',
  account: 'work',
  scopes: ['read'],
};

verifies('AUT-01', 'a person reads server, issuer and rights before the page, and nothing hidden in them', () => {
  const preview = {
    server: info.serverUrl,
    issuer: 'https://login.example/\u202eevil',
    scopes: [],
    page: 'https://login.example/page',
  };
  const text = previewText('web', { ...preview, paste: 'ports-taken' }, false, plain);
  expect(text.split('\n')).toEqual([
    'Login to web. Check that this is what you mean:',
    '  server:  https://mcp.example/mcp',
    '  issuer:  https://login.example/\\u202eevil',
    '  scopes:  none named; the issuer decides',
    'Other programs have the ports on which the answer would arrive, so it has to be pasted.',
    'Open this page in a browser:',
    '  https://login.example/page',
  ]);
});

test('a login, its end and the list of all are told', () => {
  const here = { accountHere: '', paint: plain };
  expect(loggedInText('web', { ...info, account: '' }, here)).not.toContain('In this folder');
  expect(loggedInText('web', { ...info, formerIssuer: 'https://old.example' }, here)).toBe(
    [
      'Logged in to "web" with the account "work", by https://login.example.',
      'In this folder "web" uses the login without a name; oauth.account in its entry chooses another.',
      'Rights: read',
      'Its authorization server is another one than last time (https://old.example); that login was replaced.',
    ].join('\n'),
  );
  expect(loggedOutText('web', [])).toBe(
    'There was no such login to "web"; nothing was changed. See all logins and their accounts with: plexus login --list',
  );
  expect(loginListText([], 0, plain)).toContain('No login is stored');
  const list = loginListText(
    [
      { ...info, expiresAt: 1 },
      { ...info, needsLogin: 'refused' },
    ],
    2,
    plain,
  );
  expect(list).toContain('is renewed when used');
  expect(list).toContain('needs a new login');
});
