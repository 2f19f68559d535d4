// Owns the proof that every tool that differs from the lock is noticed, and that a broken lock does not count as none.

import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../src/model/errors.ts';
import { pinOf } from '../../../src/trust/tool-pin.ts';
import { createToolPins, type LoadedLock } from '../../../src/trust/tool-pins.ts';
import { verifies } from '../../verifies.ts';
import { tool } from './tools.ts';

const file = '/work/plexus.lock';
const lock = new Map([['files', new Map([['read_file', pinOf(tool())]])]]);
const id = { server: 'files', tool: 'read_file' };
const other = tool({ title: 'Read' });
const pinsOf = (loaded: LoadedLock) => createToolPins(loaded);
const locked = pinsOf({ kind: 'lock', file, lock });

describe('pins', () => {
  verifies('EXT-05', 'distinguish an unchanged tool from a new or a changed one', () => {
    expect(locked.check(id, tool())).toEqual({ kind: 'pinned' });
    expect(locked.check({ ...id, tool: 'write' }, tool({ name: 'write' }))).toEqual({ kind: 'new' });
    expect(locked.check(id, other)).toEqual({ kind: 'changed', changes: ['title: removed "a file"'] });
    expect(locked.check(id, other), 'and again').toEqual({ kind: 'changed', changes: ['title: removed "a file"'] });
    expect(locked.check({ ...id, server: 'web' }, other), 'of another server').toEqual({ kind: 'none' });
    expect(pinsOf({ kind: 'absent', file }).check(id, tool())).toEqual({ kind: 'none' });
  });

  verifies('EXT-05', 'say how a tool differs; when frozen, a tool that is not in the lock differs too', () => {
    const absent = pinsOf({ kind: 'absent', file });
    const strange = { ...id, server: 'web' };
    for (const isFrozen of [false, true]) {
      expect(locked.drift(id, tool(), isFrozen)).toBeUndefined();
      expect(locked.drift(id, other, isFrozen)).toEqual(['title: removed "a file"']);
      expect(locked.drift({ ...id, tool: 'new' }, tool({ name: 'new' }), isFrozen)).toEqual([
        'it is not in plexus.lock, which holds its server',
      ]);
    }
    expect([locked.drift(strange, tool()), absent.drift(id, tool())]).toEqual([undefined, undefined]);
    expect(locked.drift(strange, tool(), true)).toEqual(['plexus.lock does not hold its server']);
    expect(absent.drift(id, tool(), true)).toEqual(['there is no /work/plexus.lock']);
  });

  test('that cannot be read pin nothing, and let nothing pass as pinned', () => {
    const error = new RuntimeError('LOCK_INVALID', { file, problem: 'it is not a map' });
    const broken = pinsOf({ kind: 'broken', file, error });
    const changes = ['/work/plexus.lock cannot be read, so this tool cannot be compared with it'];
    expect(broken.check(id, tool())).toEqual({ kind: 'changed', changes });
    expect(broken.drift({ server: 'any', tool: 'x' }, tool({ name: 'x' }))).toEqual(changes);
  });
});
