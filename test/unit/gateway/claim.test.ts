// Owns the proof that one state folder has one gateway.

import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { claimGateway } from '../../../src/gateway/claim.ts';
import { findGateway, gatewayFiles } from '../../../src/gateway/instance.ts';
import { removeFolder } from '../../remove-folder.ts';
import { verifies } from '../../verifies.ts';

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-claim-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

const address = { host: '127.0.0.1', port: 4_711, configuration: '/c' };

verifies('EXT-45', 'a second gateway on a state folder is refused, until the first has ended', async () => {
  const stateFolder = createFolder();
  const first = await claimGateway({ stateFolder });
  // It waits until the first one can be reached, or has failed.
  const second = claimGateway({ stateFolder });
  await first.announce(address);
  await expect(second).rejects.toMatchObject({ code: 'GATEWAY_RUNNING', data: { pid: process.pid, port: 4_711 } });
  expect(findGateway(stateFolder)).toMatchObject({ kind: 'running', instance: { ...address, protocol: 1 } });
  await first.release();
  expect(findGateway(stateFolder)).toEqual({ kind: 'none' });
  const third = await claimGateway({ stateFolder });
  expect(third.mark).toBe(first.mark);
  await third.release();
});

test('a gateway that failed before it listened leaves the folder free', async () => {
  const stateFolder = createFolder();
  await (await claimGateway({ stateFolder })).release();
  await (await claimGateway({ stateFolder })).release();
});

test('a running gateway of any version is left alone, and the file of a dead one is replaced', async () => {
  const stateFolder = createFolder();
  await (await claimGateway({ stateFolder })).release();
  const { instance } = gatewayFiles(stateFolder);
  const newer = JSON.stringify({ protocol: 99, pid: process.pid });
  writeFileSync(instance, newer);
  await expect(claimGateway({ stateFolder })).rejects.toMatchObject({
    code: 'GATEWAY_NEWER',
    data: { pid: process.pid },
  });
  expect(readFileSync(instance, 'utf8')).toBe(newer);
  writeFileSync(instance, JSON.stringify({ protocol: 0, pid: process.pid, port: 4_711 }));
  await expect(claimGateway({ stateFolder })).rejects.toMatchObject({ code: 'GATEWAY_RUNNING' });
  writeFileSync(instance, JSON.stringify({ protocol: 99, pid: 2 ** 30 }));
  const claim = await claimGateway({ stateFolder });
  await claim.announce(address);
  expect(JSON.parse(readFileSync(instance, 'utf8'))).toMatchObject({ pid: process.pid, ...address });
  await claim.release();
});

test('its files are for their owner only, and its tokens differ', async () => {
  const stateFolder = createFolder();
  const claim = await claimGateway({ stateFolder });
  await claim.announce(address);
  const { folder, instance, connectToken, adminToken } = gatewayFiles(stateFolder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const file of [instance, connectToken, adminToken]) expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(new Set([claim.connectToken, claim.adminToken, claim.mark]).size).toBe(3);
  await claim.release();
});

test('a folder that nothing can be stored in is told of as one', async () => {
  const stateFolder = join(createFolder(), 'file');
  writeFileSync(stateFolder, '');
  const refused = { code: 'STORE_UNWRITABLE', data: { folder: stateFolder } };
  await expect(claimGateway({ stateFolder })).rejects.toMatchObject(refused);
  const other = createFolder();
  const claim = await claimGateway({ stateFolder: other });
  mkdirSync(gatewayFiles(other).instance);
  await expect(claim.announce(address)).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' });
  await claim.release();
});
