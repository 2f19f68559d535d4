// Owns the fault of a disk that takes nothing any more: what would be remembered is forgotten, and nothing else suffers.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { createMemoryStore, RuntimeError, type Store } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createFileStore } from '../../src/store/file.ts';
import { removeFolder } from '../remove-folder.ts';
import { verifies } from '../verifies.ts';
import { faultCase } from './harness.ts';
import { transports } from './peer.ts';

/** As a store on a full disk: what is there can be read, nothing can be written. */
function createFullStore(): Store {
  const full = async (): Promise<never> => {
    throw new RuntimeError('STORE_UNWRITABLE', { folder: '/full', reason: 'no space left on device (ENOSPC)' });
  };
  return { ...createMemoryStore(systemClock), set: full, delete: full, compareAndSet: full, lock: full };
}

/** A real one, whose folder cannot be made: there is a file in its place. */
function createBlockedStore(): Store {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-disk-'));
  onTestFinished(() => removeFolder(folder));
  writeFileSync(join(folder, 'file'), '');
  return createFileStore(join(folder, 'file', 'store'), systemClock);
}

describe('with a full disk', () => {
  for (const transport of transports) {
    for (const [what, create] of Object.entries({ full: createFullStore, blocked: createBlockedStore })) {
      verifies('ERR-08', `a server over ${transport} is opened, listed and called (${what})`, async () => {
        const store = create();
        await faultCase({ transport, options: { store } }, async (scene) => {
          expect(await scene.write()).toBe('answered');
          await scene.kill();
          await scene.revive();
        })();
      });
    }
  }

  verifies('ERR-08', 'a server whose transport has to be found out is opened all the same', async () => {
    await faultCase(
      { transport: 'http', settings: { transport: 'auto' }, options: { store: createFullStore() } },
      async (scene) => expect(await scene.write()).toBe('answered'),
    )();
  });
});
