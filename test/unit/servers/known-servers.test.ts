// Owns the proof of when the servers can be told without a runtime: none of them has to be asked.
// That it tells the same as a runtime is proved in `test/e2e/known-servers.test.ts`.

import { expect } from 'vitest';
import { readKnownServers } from '../../../src/servers/known-servers.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, environment, USER } from '../config/folder.ts';

async function readWith(file: string) {
  const cwd = await createFolder({ [USER]: file });
  return readKnownServers({
    environment: { ...environment(cwd), platform: 'linux' },
    options: { startup: { whenCached: 'leave' }, interactive: false },
    handlers: {},
    signal: new AbortController().signal,
  });
}

verifies('EXT-44', 'servers that would not start are told without a runtime', async () => {
  const { known, errors } = await readWith(
    '[mcp_servers.off]\ncommand = "x"\nenabled = false\n[mcp_servers.later]\ncommand = "x"\nlifecycle = "manual"\n',
  );
  expect(known?.servers.map(({ name, state }) => [name, state])).toEqual([
    ['later', 'idle'],
    ['off', 'disabled'],
  ]);
  expect(errors).toEqual([]);
});

verifies('EXT-44', 'a server whose tools are not known has to be asked', async () => {
  expect(await readWith('[mcp_servers.now]\ncommand = "x"\n')).toEqual({ errors: [] });
});
