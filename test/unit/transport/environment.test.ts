// Owns the proof of what a child process gets to see of the host.

import { expect } from 'vitest';
import { childEnvironment } from '../../../src/transport/environment.ts';
import { verifies } from '../../verifies.ts';

const host = {
  PATH: '/bin',
  HOME: '/home/ada',
  https_proxy: 'http://proxy',
  ANTHROPIC_API_KEY: 'secret',
  GITHUB_TOKEN: 'secret',
  PLEXUS_HOME: '/p',
  UNSET: undefined,
};
const linux = { host, entry: {}, platform: 'linux' } as const;
const safe = { PATH: '/bin', HOME: '/home/ada', https_proxy: 'http://proxy' };

verifies('CFG-20', 'a child sees the safe variables and no key of the host', () => {
  expect(childEnvironment({ ...linux, inherit: 'safe' })).toEqual(safe);
});

verifies('CFG-20', 'a child sees what its entry names besides, or all', () => {
  expect(childEnvironment({ ...linux, inherit: ['GITHUB_TOKEN', 'UNSET', 'NOWHERE'] })).toEqual({
    ...safe,
    GITHUB_TOKEN: 'secret',
  });
  const { UNSET: _, ...everything } = host;
  expect(childEnvironment({ ...linux, inherit: 'all' })).toEqual(everything);
});

verifies('CFG-20', 'the variables of the entry win over those of the host', () => {
  const entry = { PATH: '/opt/bin', TOKEN: 'mine' };
  expect(childEnvironment({ ...linux, inherit: 'safe', entry })).toEqual({ ...safe, ...entry });
});

verifies('CFG-20', 'on Windows the core variables come too, and letter case makes no second variable', () => {
  const options = {
    host: { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', 'ProgramFiles(x86)': 'C:\\P', OPENAI_API_KEY: 'secret' },
    inherit: 'safe',
    entry: { PATH: 'D:\\bin' },
    platform: 'win32',
  } as const;
  expect(childEnvironment(options)).toEqual({
    PATH: 'D:\\bin',
    SystemRoot: 'C:\\Windows',
    'ProgramFiles(x86)': 'C:\\P',
  });
});

verifies('CFG-20', 'a name of Windows means nothing elsewhere', () => {
  expect(childEnvironment({ ...linux, host: { SystemRoot: 'x', path: 'y' }, inherit: 'safe' })).toEqual({});
});
