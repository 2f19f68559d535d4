// Owns the proof that a literal secret is found wherever an entry may hold one, that two never share an id, and that a
// shown entry reveals none.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about

import { describe, expect, test } from 'vitest';
import { hideSecrets, replaceSecrets, type SecretPlaces, secretsIn } from '../../../src/config/literal-secrets.ts';
import { isSecretName } from '../../../src/model/secret-shapes.ts';
import { verifies } from '../../verifies.ts';

const valuesIn = (entry: SecretPlaces) => replaceSecrets('it', entry).secrets.map(({ at, value }) => [at, value]);
const argument = (...args: readonly string[]) => valuesIn({ args }).map(([, value]) => value);
const shape = `ghp_${'0123456789abcdef'}`;

describe('a literal secret', () => {
  verifies('EXT-26', 'is found in an argument: after an option, in one, and in an address', () => {
    expect(argument('postgresql://u:longpassword1@h/db')).toEqual(['longpassword1']);
    expect(argument('--db=mongodb+srv://u:pw@h,i/db')).toEqual(['pw']);
    expect(argument('redis://:pw@h:6379/0')).toEqual(['pw']);
    expect(argument('jdbc:postgresql://u:p@ss@h/db')).toEqual(['p@ss']);
    expect(argument('--pat', 'abcdefgh', '--pat', shape)).toEqual(['abcdefgh', shape]);
    expect(argument('-e', 'GITHUB_PAT=abcdefgh', '--env=API_KEY=ijklmnop')).toEqual(['abcdefgh', 'ijklmnop']);
    expect(argument('--header', 'Authorization: Bearer abcdefgh', shape)).toEqual(['abcdefgh', shape]);
  });

  verifies('EXT-26', 'is found in a variable, in a header and in the address of the server', () => {
    const env = { DATABASE_URL: 'postgres://me:pw@h/d', GITHUB_PAT: 'abcdefgh', TOKEN_URL: 'https://h/token' };
    const headers = { Authorization: 'Bearer abcdefgh', 'X-From': `https://${shape}@h/` };
    const url = `https://h/s/${shape}/mcp?token=abcdefgh&page=abcdefgh#access_token=ijklmnop`;
    expect(valuesIn({ env, headers, url })).toEqual([
      ['env.DATABASE_URL', 'pw'],
      ['env.GITHUB_PAT', 'abcdefgh'],
      ['headers.Authorization', 'abcdefgh'],
      ['headers.X-From', shape],
      ['url', shape],
      ['url', 'abcdefgh'],
      ['url', 'ijklmnop'],
    ]);
    expect(hideSecrets({ proxy: 'http://me:pw@proxy.example' })).toEqual({ proxy: 'http://me:(hidden)@proxy.example' });
    expect(replaceSecrets('it', { url }).entry).toEqual({
      url: 'https://h/s/${input:it-key}/mcp?token=${input:it-token}&page=abcdefgh#access_token=${input:it-access_token}',
    });
  });

  verifies(
    'TRU-08',
    'is hidden under every name that announces one, in JSON, in a path, and where it looks generated',
    () => {
      const token = 'q7Xk2Lp9Zt4Vb8Nw';
      const args = [
        ...['--passphrase', 'abc', '--bearer', 'abc', '--signature=abc', '--pass', 'abc', '-p', 'abc', '-p=abc'],
        ...['connect.sid=abc', '{"apiKey": "abc", "level": "info"}', token, `--thing=${token}`],
      ];
      const shown = [
        ...['--passphrase', '(hidden)', '--bearer', '(hidden)', '--signature=(hidden)', '--pass', '(hidden)'],
        ...['-p', '(hidden)', '-p=(hidden)', 'connect.sid=(hidden)', '{"apiKey": "(hidden)", "level": "info"}'],
        ...['(hidden)', '--thing=(hidden)'],
      ];
      const url = `https://h/s/${token}/mcp?a=${token}&project=${token}`;
      expect(hideSecrets({ args, url })).toEqual({
        args: shown,
        url: `https://h/s/(hidden)/mcp?a=(hidden)&project=${token}`,
      });
      // An import keeps what may be a port, an id or a hash; the redactor does not learn what stands behind `-p`.
      expect(argument('-p', 'abcdefgh', token, `https://h/s/${token}`)).toEqual([]);
      expect(Object.values(secretsIn({ args: ['-p', 'abcdefgh', token] }))).toEqual([token]);
      const plain = [
        '-p',
        '8080',
        '-p',
        './x',
        '--project-id',
        token,
        'index-BsF3k9xQ7t2.js',
        '@a/b@1.2.3',
        'sha256:0a1b',
      ];
      expect(hideSecrets({ args: plain })).toEqual({ args: plain });
    },
  );

  verifies('TRU-08', 'is hidden whole after its option, as the password of a login, and in a list of settings', () => {
    const given: Record<string, string> = {
      '--token 1234:abcdef': '--token (hidden)',
      '--auth bob:abcdef': '--auth (hidden)',
      '--pat a=b': '--pat (hidden)',
      '-p ab:cd': '-p (hidden)',
      '-u bob:abcdef': '-u bob:(hidden)',
      '--user=bob:abcdef': '--user=bob:(hidden)',
      '/pwd:abcdef': '/pwd:(hidden)',
      'Server=h;Password=abcdef;Port=1': 'Server=h;Password=(hidden);Port=1',
      '-p 8080:80': '-p 8080:80',
      '-p 127.0.0.1:8080:80/tcp': '-p 127.0.0.1:8080:80/tcp',
      '-u 1000:1000': '-u 1000:1000',
      '--user node': '--user node',
      '-v /a:/b': '-v /a:/b',
    };
    const shown = Object.keys(given).map((args) => hideSecrets({ args: args.split(' ') }).args?.join(' '));
    expect(shown).toEqual(Object.values(given));
  });

  test('is not what has a placeholder, documentation, a path, a switch, a number of tokens or an author', () => {
    const env = { API_KEY: '${KEY}', TOKEN: '{file:~/.key}', SECRET: '!op read x', PASSWORD: '<your password>' };
    const more = {
      KEY: '/run/key',
      AUTH: 'true',
      MAX_TOKENS: '100000',
      GIT_AUTHOR_NAME: 'Somebody',
      X_TOKEN: '$TOKEN',
    };
    const url = 'https://sk-something-long.example:8080/a@b?token=${input:x}';
    expect(
      valuesIn({ env: { ...env, ...more }, url, args: ['postgres://u:${PW}@h/db', 'https://h/x', 'a:b'] }),
    ).toEqual([]);
  });

  test('never has the id of another one, whatever their servers are called', () => {
    const headers = { Authorization: 'Bearer abcdefgh' };
    const used = new Set(['my-server-Authorization', 'my-server-Authorization-2']);
    const idsFor = (server: string, entry: SecretPlaces) =>
      replaceSecrets(server, entry, (id) => used.has(id)).secrets.map(({ id }) => id);
    expect(idsFor('my server', { headers })).toEqual(['my-server-Authorization-3']);
    expect(idsFor('it', { args: ['--token', 'abcdefgh', '--token', 'ijklmnop', '--token-2=qrstuvwx'] })).toEqual([
      'it-token',
      'it-token-2',
      'it-token-2-2',
    ]);
    expect(idsFor('日本', { headers })).toEqual(['Authorization']);
  });
});

test('what is shown hides every literal secret, however short, and leaves placeholders', () => {
  expect(
    hideSecrets({
      args: ['--token', 'abc', '--level=info', 'postgres://u:pw@h/d'],
      env: { API_KEY: 'my-key', OTHER_KEY: '${KEY}', LEVEL: 'info' },
      headers: { Cookie: 'a=b', Authorization: 'Bearer ${input:x}' },
      url: 'https://h/?key=abc&page=2',
    }),
  ).toEqual({
    args: ['--token', '(hidden)', '--level=info', 'postgres://u:(hidden)@h/d'],
    env: { API_KEY: '(hidden)', OTHER_KEY: '${KEY}', LEVEL: 'info' },
    headers: { Cookie: '(hidden)', Authorization: 'Bearer ${input:x}' },
    url: 'https://h/?key=(hidden)&page=2',
  });
});

test('a name tells by its words, in every spelling', () => {
  const telling = ['API_KEY', 'apiKey', 'X-Api-Key', 'ssh_key_data', 'masterkey', 'GITHUB_PAT', 'pat', 'DB_PASSWORD'];
  const harmless = ['LEVEL', 'PATH', 'author', 'KEYBOARD', 'compat', 'URL'];
  expect([telling.filter((name) => !isSecretName(name)), harmless.filter(isSecretName)]).toEqual([[], []]);
  expect(
    ['Authorization', 'AUTHORISATION', 'PROXY_AUTH', 'Cookie', 'session_id', 'clientSecret'].every(isSecretName),
  ).toBe(true);
});
