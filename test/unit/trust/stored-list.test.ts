// Owns the proof that approvals and grants of version 1 are read and rewritten without their secrets, that nobody is asked again
// who need not be, and that a folder which cannot be written to costs none of them.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMemoryStore, type Store } from '../../../src/kernel/store.ts';
import { createFileStore } from '../../../src/store/file.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import type { TrustEvent } from '../../../src/trust/events.ts';
import { createStoredList } from '../../../src/trust/stored-list.ts';
import { createTrust } from '../../../src/trust/trust.ts';
import { verifies } from '../../verifies.ts';
import { clearSecrets, oldDefinitions, oldEnvironment, tool } from './old-state.ts';

/** A copy of the state folder that version 1 wrote. */
function openOldState(change: (store: Store) => Store = (store) => store) {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(new URL('../../data/state-of-version-1', import.meta.url), folder, { recursive: true });
  const clock = createFakeClock(Date.UTC(2026, 0, 3));
  const events: TrustEvent[] = [];
  const errors: unknown[] = [];
  const trust = createTrust({
    environment: oldEnvironment,
    store: change(createFileStore(folder, clock)),
    clock,
    emit: (event) => events.push(event),
    onError: (error) => errors.push(error),
  });
  const textOf = () =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');
  return { ...trust, events, errors, textOf };
}

const { local, web, asking, mine } = oldDefinitions;
const inputs = [{ id: 'what', password: false, default: 'this' }];

describe('a state folder of version 1', () => {
  verifies(['TRU-01', 'TRU-08', 'EXT-04'], 'is read: only entries that read inputs ask again', async () => {
    const { gate, grants, errors } = openOldState();
    expect(await gate.judge(local)).toEqual({ kind: 'approved', grants: ['TEAM'] });
    expect(await gate.judge(web)).toEqual({ kind: 'approved', grants: ['SERVICE_TOKEN'] });
    expect(await gate.judge({ ...asking, inputs })).toMatchObject({
      kind: 'asks',
      changes: ['input what was added: asked for by /repo/.mcp.json', 'default of input what was added: this'],
    });
    for (const each of [local, web, mine]) expect(await grants.judge(each, tool)).toEqual({ kind: 'granted' });
    expect(await grants.judge({ ...asking, inputs }, tool)).toEqual({ kind: 'unknown' });
    expect(errors).toEqual([]);
  });

  verifies('TRU-02', 'binds a remote approval to the file of its own record', async () => {
    const { gate, grants } = openOldState();
    const copy = { ...web, provenance: { ...web.provenance, file: '/copy/.mcp.json' } };
    expect(await gate.judge(copy)).toEqual({ kind: 'restricted' });
    expect(await grants.judge(copy, tool)).toEqual({ kind: 'unknown' });
  });

  verifies('TRU-08', 'is rewritten at the first reading, without the secrets it held, and that is told', async () => {
    const { gate, grants, events, textOf } = openOldState();
    expect(clearSecrets.filter((secret) => !textOf().includes(secret))).toEqual([]);
    for (const each of [local, web, asking]) await gate.judge(each);
    for (const each of [local, web, asking, mine]) await grants.judge(each, tool);
    expect(clearSecrets.filter((secret) => textOf().includes(secret))).toEqual([]);
    expect(events.map(({ server, of, count }) => `${of} of ${server}: ${count}`)).toEqual([
      'server of local: 1',
      'server of web: 1',
      'server of asking: 1',
      'tools of local: 1',
      'tools of web: 1',
      'tools of asking: 1',
      'tools of mine: 1',
    ]);
    for (const each of [local, web, asking]) await gate.judge(each);
    expect([events.length, await grants.judge(local, tool)]).toEqual([7, { kind: 'granted' }]);
  });

  verifies('EXT-04', 'tells what has changed since, without the secrets it held', async () => {
    const { gate } = openOldState();
    const { launch } = local;
    if (launch.kind !== 'stdio') throw new Error('not a process');
    const args = ['serve', '--pwd', 'another', '--pat=another', 'plain', 'postgres://me:another@i/d'];
    expect(await gate.judge({ ...local, launch: { ...launch, args, env: { TEAM: 'red' } } })).toMatchObject({
      kind: 'asks',
      changes: [
        'argument 3 has another value',
        'argument 4 has another value',
        'argument 5 was (hidden) and is plain',
        'argument 6 was postgres://me:(hidden)@h/d and is postgres://me:(hidden)@i/d',
        'variable TEAM has another value',
        'variable LEVEL was removed',
      ],
    });
  });

  test('counts where it cannot be rewritten, and the reason is reported once', async () => {
    const failure = new Error('a read-only disk');
    const { gate, grants, errors, events } = openOldState((store) => ({
      ...store,
      compareAndSet: () => Promise.reject(failure),
    }));
    expect(await gate.judge(local)).toEqual({ kind: 'approved', grants: ['TEAM'] });
    expect(await grants.judge(local, tool)).toEqual({ kind: 'granted' });
    expect([errors, events]).toEqual([[failure], []]);
  });

  test('keeps its other approvals when one is added or withdrawn first', async () => {
    const { gate, grants } = openOldState();
    const elsewhere = { ...local, provenance: { ...local.provenance, file: '/other/.mcp.json' } };
    await gate.approve({ ...elsewhere, launch: { ...local.launch, cwd: '/other' } as typeof local.launch }, []);
    await grants.revoke('web', { tool: 'another' });
    expect(await gate.judge(local)).toEqual({ kind: 'approved', grants: ['TEAM'] });
    expect(await grants.judge(web, tool)).toEqual({ kind: 'granted' });
    expect(await gate.revoke('web', web)).toBe(true);
    expect(await gate.judge(web)).toEqual({ kind: 'restricted' });
  });
});

test('a list is written with its version, and one of a later version is not read', async () => {
  const isText = (value: unknown): value is string => typeof value === 'string';
  const store = createMemoryStore(createFakeClock());
  const ignore = () => undefined;
  const list = createStoredList({
    store,
    isItem: isText,
    isOld: isText,
    renew: async (old: string) => `${old}!`,
    onRewritten: ignore,
    onError: ignore,
  });
  expect(list.format(['a'])).toBe('{"version":2,"items":["a"]}');
  expect(await list.parse('{"version":2,"items":["a",5]}')).toEqual(['a']);
  expect(await list.parse('["a",5]')).toEqual(['a!']);
  for (const text of [undefined, '', '{', '5', '{"version":3,"items":["a"]}'])
    expect(await list.parse(text)).toEqual([]);
});
