// Owns the proof of how `plexus connect` starts a gateway: again where it was killed meanwhile, never beside another one, and with a
// failure that is told.

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { joinGateway } from '../../../src/gateway/connect/join.ts';
import { startGateway } from '../../../src/gateway/connect/start.ts';
import { findGateway, GATEWAY_PROTOCOL, gatewayFiles } from '../../../src/gateway/instance.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { removeFolder } from '../../remove-folder.ts';
import { isRunning } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';

/** A program that counts its starts, is killed in the first ones, and then says that it is a gateway of this protocol. */
function scene({ killed = 0, protocol = GATEWAY_PROTOCOL } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'plexus-start-'));
  onTestFinished(() => removeFolder(home));
  const stateFolder = join(home, 'state');
  const { instance } = gatewayFiles(stateFolder);
  const starts = join(home, 'starts');
  const script = `
    const fs = require('fs');
    fs.appendFileSync(${JSON.stringify(starts)}, 'x');
    const started = fs.readFileSync(${JSON.stringify(starts)}, 'utf8').length;
    if (started <= ${killed}) process.kill(process.pid, 'SIGKILL');
    const found = { protocol: ${protocol}, pid: process.pid, process: '', startedAt: '', host: '127.0.0.1', port: 9, configuration: '' };
    fs.writeFileSync(${JSON.stringify(`${instance}.new`)}, JSON.stringify(found));
    fs.renameSync(${JSON.stringify(`${instance}.new`)}, ${JSON.stringify(instance)});
    setInterval(() => 0, 1e6);
  `;
  onTestFinished(async () => {
    const found = findGateway(stateFolder);
    if (found.kind === 'none') return;
    process.kill(found.instance.pid, 'SIGKILL');
    await waitFor(() => expect(isRunning(found.instance.pid)).toBe(false));
  });
  const program = { command: process.execPath, args: ['-e', script], home, env: {} };
  return {
    options: { stateFolder, program, platform: 'linux', clock: systemClock } as const,
    stateFolder,
    starts: () => readFileSync(starts, 'utf8').length,
  };
}

verifies('EXT-45', 'a gateway that is killed while it starts is started again, and its client is served', async () => {
  const { options, stateFolder, starts } = scene({ killed: 2 });
  // The others wait for the one that starts it.
  await Promise.all([startGateway(options), startGateway(options), startGateway(options)]);
  expect([findGateway(stateFolder).kind, starts()]).toEqual(['running', 3]);
});

test('a gateway that is killed at each start is given up, with what ended it', async () => {
  const { options, starts } = scene({ killed: 100 });
  await expect(startGateway(options)).rejects.toThrow('SIGKILL ended it');
  expect(starts()).toBe(5);
});

verifies(
  'EXT-45',
  'a newer gateway that comes up while a client waits is left alone, and told of at once',
  async () => {
    const { options, stateFolder } = scene({ protocol: GATEWAY_PROTOCOL + 1 });
    const joining = joinGateway({ ...options, path: '/mcp', workspace: '/', client: 'client-1', behind: '' });
    await expect(joining).rejects.toMatchObject({ code: 'GATEWAY_NEWER' });
    expect(findGateway(stateFolder).kind).toBe('newer');
  },
);

test('a lock that cannot be taken is told of, and ends nothing else', async () => {
  const { options, stateFolder } = scene();
  const { start } = gatewayFiles(stateFolder);
  mkdirSync(dirname(start), { recursive: true });
  writeFileSync(start, 'in the way');
  await expect(startGateway(options)).rejects.toMatchObject({ code: 'ENOTDIR' });
});
