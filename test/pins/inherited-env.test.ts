// Owns the exact names a child process inherits: a name joins this list on purpose or not at all.

import { expect } from 'vitest';
import { childEnvironment } from '../../src/transport/environment.ts';
import { verifies } from '../verifies.ts';

const SAFE = [
  'ALL_PROXY',
  'CURL_CA_BUNDLE',
  'HOME',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'LANG',
  'LC_ALL',
  'LOGNAME',
  'NODE_EXTRA_CA_CERTS',
  'NO_PROXY',
  'PATH',
  'PLEXUS_GATEWAY',
  'REQUESTS_CA_BUNDLE',
  'SHELL',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  'TEMP',
  'TERM',
  'TMP',
  'TMPDIR',
  'TZ',
  'USER',
  'all_proxy',
  'http_proxy',
  'https_proxy',
  'no_proxy',
];

const WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATHEXT',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];

/** Every name there could be: answers `true` to all and shows which are taken. */
function inheritedOn(platform: NodeJS.Platform): string[] {
  const decoys = [
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEY',
    'AWS_SECRET_ACCESS_KEY',
    'GITHUB_TOKEN',
    'NODE_OPTIONS',
    'PWD',
  ];
  const host = Object.fromEntries(
    [...SAFE, ...WINDOWS, ...decoys, 'LD_PRELOAD', 'PLEXUS_PROCESS'].map((n) => [n, 'x']),
  );
  return Object.keys(childEnvironment({ host, inherit: 'safe', entry: {}, platform })).sort();
}

verifies('CFG-20', 'exactly these names are inherited', () => {
  expect(inheritedOn('linux')).toEqual(SAFE);
  expect(inheritedOn('darwin')).toEqual(SAFE);
});

verifies('CFG-20', 'exactly these names are inherited on Windows', () => {
  const oncePerLetterCase = SAFE.filter((name) => name !== name.toLowerCase() || !SAFE.includes(name.toUpperCase()));
  const names = inheritedOn('win32').map((name) => name.toUpperCase());
  expect(names.sort()).toEqual([...oncePerLetterCase, ...WINDOWS].sort());
});
