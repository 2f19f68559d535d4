// Owns the proof of how `gateway.json` is judged, and how a gateway of another version is ended on each system.

import { describe, expect, test } from 'vitest';
import { gatewayEnvironment } from '../../../src/gateway/connect/start.ts';
import { GATEWAY_PROTOCOL, type GatewayInstance, judge } from '../../../src/gateway/instance.ts';
import { stopWayFor } from '../../../src/gateway/stop.ts';
import { verifies } from '../../verifies.ts';

const instance: GatewayInstance = {
  ...{ protocol: GATEWAY_PROTOCOL, pid: 4_711, process: '', startedAt: '', host: '127.0.0.1', port: 9_000 },
  configuration: '/c',
};
const judged = (change: object, isAlive = true) =>
  judge(JSON.stringify({ ...instance, ...change }), () => isAlive).kind;

verifies('EXT-45', 'the protocol number decides: equal is joined, older is replaced, newer is refused', () => {
  expect(judged({})).toBe('running');
  expect(judged({ protocol: GATEWAY_PROTOCOL - 1 })).toBe('older');
  expect(judged({ protocol: GATEWAY_PROTOCOL + 1 })).toBe('newer');
  // A later version may write anything besides the process and the number.
  expect(judged({ protocol: GATEWAY_PROTOCOL + 1, port: { pipe: 'x' }, host: null })).toBe('newer');
});

test('the file of a dead process counts for nothing, whatever its version', () => {
  for (const protocol of [0, GATEWAY_PROTOCOL, 99]) expect(judged({ protocol }, false)).toBe('none');
});

test.each([
  '',
  '{',
  '[]',
  'null',
  '{"pid":1}',
  '{"protocol":1,"pid":-5,"port":1}',
  '{"protocol":1,"pid":"1","port":1}',
])('a file that says %j counts for nothing', (text) => expect(judge(text, () => true)).toEqual({ kind: 'none' }));

describe('ending a gateway', () => {
  test('by a signal, and on Windows by a request', () => {
    expect(stopWayFor(instance, 'linux')).toEqual({ kind: 'signal', pid: 4_711 });
    expect(stopWayFor(instance, 'win32')).toEqual({ kind: 'request', url: 'http://127.0.0.1:9000/stop' });
    expect(stopWayFor({ ...instance, host: '::1' }, 'win32')).toEqual({
      kind: 'request',
      url: 'http://[::1]:9000/stop',
    });
  });
});

test('a gateway gets the safe variables and the folders of Plexus, and no value of one client', () => {
  const env = { PATH: '/bin', XDG_STATE_HOME: '/s', API_KEY: 'secret', NODE_OPTIONS: '-r x', PLEXUS_GATEWAY: 'm' };
  const program = { command: 'node', args: [], home: '/h', env };
  expect(gatewayEnvironment(program, 'linux')).toEqual({ PATH: '/bin', XDG_STATE_HOME: '/s', PLEXUS_GATEWAY: 'm' });
  expect(gatewayEnvironment({ ...program, env: { Path: 'C:\\', AppData: 'C:\\A', KEY: 'x' } }, 'win32')).toEqual({
    Path: 'C:\\',
    AppData: 'C:\\A',
  });
});
