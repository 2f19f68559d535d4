// Owns the proof of which proxy an address is reached through.

import { expect } from 'vitest';
import { proxyFor } from '../../../src/transport/proxy-choice.ts';
import { verifies } from '../../verifies.ts';

const PROXY = 'http://proxy.example:3128';
const everywhere = { HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY };

type Row = readonly [url: string, env: Record<string, string>, proxy: string | undefined];

function choices(rows: readonly Row[], own?: string) {
  return rows.map(([url, env]) => proxyFor(url, { env, proxy: own }));
}

function check(rows: readonly Row[], own?: string): void {
  expect(choices(rows, own)).toEqual(rows.map(([, , proxy]) => proxy));
}

verifies('EXT-20', 'the environment names a proxy for each kind of address, small letters first', () => {
  check([
    ['http://a.example/', {}, undefined],
    ['http://a.example/', { HTTP_PROXY: PROXY }, PROXY],
    ['ws://a.example/', { HTTP_PROXY: PROXY }, PROXY],
    ['https://a.example/', { HTTP_PROXY: PROXY }, undefined],
    ['https://a.example/', { HTTPS_PROXY: PROXY }, PROXY],
    ['wss://a.example/', { https_proxy: PROXY }, PROXY],
    ['wss://a.example/', { https_proxy: PROXY, HTTPS_PROXY: 'http://other' }, PROXY],
    ['wss://a.example/', { https_proxy: '', HTTPS_PROXY: PROXY }, undefined],
    ['https://a.example/', { ALL_PROXY: PROXY }, PROXY],
    ['https://a.example/', { ALL_PROXY: 'http://other', HTTPS_PROXY: PROXY }, PROXY],
    ['https://a.example/', { HTTPS_PROXY: 'proxy.example:3128' }, PROXY],
  ]);
});

verifies('EXT-20', 'this machine is never reached through a proxy of the environment', () => {
  const hosts = [
    'localhost',
    'app.localhost',
    'LOCALHOST.',
    '127.0.0.1',
    '127.9.9.9',
    '[::1]',
    '0.0.0.0',
    '[::ffff:127.0.0.1]',
  ];
  check(hosts.map((host) => [`http://${host}:8080/`, everywhere, undefined]));
  check([['http://localhost.example/', everywhere, PROXY]]);
});

verifies('EXT-20', 'NO_PROXY names hosts, all below them, ports, addresses and ranges', () => {
  const without = (list: string) => ({ ...everywhere, NO_PROXY: list });
  check([
    ['https://a.example/', without('*'), undefined],
    ['https://a.example/', without('a.example'), undefined],
    ['https://A.Example./', without('a.EXAMPLE'), undefined],
    ['https://b.a.example/', without('a.example'), undefined],
    ['https://b.a.example/', without('.a.example'), undefined],
    ['https://b.a.example/', without('*.a.example'), undefined],
    ['https://ba.example/', without('a.example'), PROXY],
    ['https://a.example/', without('other.example , a.example'), undefined],
    ['https://a.example/', without('other.example a.example'), undefined],
    ['https://a.example/', without('a.example:443'), undefined],
    ['https://a.example/', without('a.example:8443'), PROXY],
    ['https://a.example:8443/', without('a.example:8443'), undefined],
    ['http://10.1.2.3/', without('10.1.2.3'), undefined],
    ['http://10.1.2.3/', without('10.0.0.0/8'), undefined],
    ['http://11.1.2.3/', without('10.0.0.0/8'), PROXY],
    ['http://10.1.2.3/', without('10.0.0.0/99,10.0.0.0/x'), PROXY],
    ['http://10.1.2.3/', without('2.3'), PROXY],
    ['http://[fd00::1]/', without('fd00::1'), undefined],
    ['http://[fd00::1]:81/', without('[fd00::1]:81'), undefined],
    ['http://[fd00::1]/', without('fd00::/8'), undefined],
    ['http://[fd00::1]/', without('10.0.0.0/8'), PROXY],
    ['https://a.example/', without(' , '), PROXY],
  ]);
});

verifies('EXT-20', 'the proxy of an entry wins over all of it, and `off` means none', () => {
  check(
    [
      ['https://a.example/', { ...everywhere, NO_PROXY: '*' }, 'http://own:1'],
      ['http://localhost/', {}, 'http://own:1'],
    ],
    'http://own:1',
  );
  check([['https://a.example/', {}, 'http://own:1']], 'own:1');
  check([['https://a.example/', everywhere, undefined]], 'off');
});
