// Owns the proof that an address of this machine or of the network around it is recognised however it is written.

import { describe, expect } from 'vitest';
import { embeddedIPv4, isLocalAddress, isLocalHost } from '../../../src/kernel/local-address.ts';
import { verifies } from '../../verifies.ts';

/** As a connection sees it: the host of the parsed URL. */
const hostOf = (written: string) => new URL(`http://${written}/`).hostname;

const local: Record<string, readonly string[]> = {
  'this machine': ['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]'],
  'other spellings': [
    '127.1',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '0x7f000001',
    '017700000001',
    '127.0.0.1.',
    '１２７.0.0.1',
  ],
  'private networks': [
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '[fc00::1]',
    '[fd12:3456::1]',
    '[fec0::1]',
  ],
  links: ['169.254.169.254', '[fe80::1]', '[febf::1]'],
  'shared and reserved blocks': [
    '100.64.0.1',
    '100.127.255.255',
    '192.0.0.8',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '[ff02::1]',
    '[100::1]',
  ],
  'IPv4 within IPv6': [
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[::ffff:0:10.0.0.1]', '[64:ff9b::192.168.0.1]'],
    ...['[64:ff9b:1::8.8.8.8]', '[2002:7f00:1::]', '[2002:a00::1]', '[2001:0:4136:e378:8000:63bf:f5ff:fffe]'],
  ],
  names: [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'localhost.localdomain',
    'localhost4.localdomain4',
    'printer.local',
    'db.internal',
    'nas.lan',
    'router.home.arpa',
    'router',
  ],
};

const open = [
  ...[
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '192.167.1.1',
    '192.169.1.1',
    '100.63.0.1',
    '100.128.0.1',
    '169.253.0.1',
  ],
  ...[
    '223.255.255.255',
    '[2606:4700::1111]',
    '[::ffff:8.8.8.8]',
    '[64:ff9b::8.8.8.8]',
    '[2002:808:808::1]',
    '[2001:4860:4860::8888]',
  ],
  ...[
    'example.com',
    'a.example.com.',
    'localhost.example.com',
    'notlocalhost.com',
    'internal.example.com',
    'local.dev',
    'cafe.fade',
  ],
];

describe('an address', () => {
  for (const [kind, written] of Object.entries(local)) {
    verifies('TRU-02', `of ${kind} is local`, () => {
      expect(written.filter((each) => !isLocalHost(hostOf(each)))).toEqual([]);
    });
  }

  verifies('TRU-02', 'of the public internet is not', () => {
    expect(open.filter((each) => isLocalHost(hostOf(each)))).toEqual([]);
  });

  verifies('TRU-02', 'that no URL has spelled out yet counts by what the system makes of it', () => {
    expect(['127.1', '0x7f.1', '2130706433', '0177.0.0.1', '10.1'].filter((each) => !isLocalHost(each))).toEqual([]);
    expect(['8.8.2056', '134744072'].filter((each) => isLocalHost(each))).toEqual([]);
  });

  verifies('TRU-02', 'of a socket counts without its zone, and a text that is none counts as local', () => {
    expect(['fe80::1%eth0', '::ffff:127.0.0.1', '10.0.0.1', '', 'x'].map(isLocalAddress)).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(['::ffff:8.8.8.8', '2606:4700::1111%1', '8.8.8.8'].map(isLocalAddress)).toEqual([false, false, false]);
  });

  verifies('TRU-02', 'tells the IPv4 address it stands for', () => {
    expect(['::ffff:1.2.3.4', '2002:102:304::', '::1', '2606:4700::1', 'x'].map(embeddedIPv4)).toEqual([
      '1.2.3.4',
      '1.2.3.4',
      '0.0.0.1',
      undefined,
      undefined,
    ]);
  });
});
