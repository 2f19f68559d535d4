// Owns the proof of how an address pattern is matched part by part. What lists make of it is proved in `lists.test.ts`.

import { expect, test } from 'vitest';
import { coversAddress, parseAddress, parseAddressPattern } from '../../../src/config/address-pattern.ts';

test('an address is parsed into its parts, with the port of its scheme and both spellings of its path', () => {
  expect(parseAddress('https://A.Example../Mcp//%78?Y=1')).toEqual({
    protocol: 'https',
    host: 'a.example.',
    broadHost: 'a.example',
    port: '443',
    path: '/Mcp//x?Y=1',
    broadPaths: ['/mcp//x?y=1', '/mcp/x?y=1'],
  });
  expect(parseAddress('ws://a.example')?.port).toBe('80');
  expect(parseAddress('no address')).toBeUndefined();
});

test('a host is compared by itself, so that lines about other hosts are ruled out before their paths are read', () => {
  const address = parseAddress('https://a.example/x');
  const hosts = ['https://a.example/y', 'https://*.example/x', 'https://b.example/x'].map((pattern) => {
    const { hasWildcardHost, coversHost, covers } = parseAddressPattern(pattern, 'allow');
    return address && [hasWildcardHost, coversHost(address), covers(address)];
  });
  expect(hosts).toEqual([
    [false, true, false],
    [true, true, true],
    [false, false, false],
  ]);
});

test('a launch is covered as a deny list would cover it', () => {
  const launch = { kind: 'http', url: 'http://a.example:8080//X/y', headers: {} } as const;
  expect(coversAddress('https://a.example/x', launch)).toBe(true);
  expect(coversAddress('https://a.example/z', launch)).toBe(false);
  expect(coversAddress('https://a.example', { ...launch, url: 'a.example' })).toBe(false);
});
