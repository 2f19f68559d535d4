// Owns the proof that a workspace’s server starts only when the user has approved exactly this definition, and that it may read
// exactly the variables granted with the approval.

import { describe, expect, test } from 'vitest';
import { isOwnScope } from '../../../src/config/scopes.ts';
import { createMemoryStore } from '../../../src/kernel/store.ts';
import type { InputRequest, Launch, Scope, ServerDefinition } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createSeal } from '../../../src/trust/account.ts';
import { launchIdentityOf, trustFingerprint } from '../../../src/trust/fingerprint.ts';
import { createTrustGate } from '../../../src/trust/gate.ts';
import { digestOf, storedPartsOf } from '../../../src/trust/launch-parts.ts';
import { verifies } from '../../verifies.ts';
import { defined, remote, stdio } from './definition.ts';

const identityIn = (cwd: string) => (definition: ServerDefinition) =>
  launchIdentityOf(definition, { cwd, pathEnv: undefined, platform: 'linux' });

function createTestGate(cwd = '/work') {
  const clock = createFakeClock(Date.UTC(2026, 0, 2));
  const store = createMemoryStore(clock);
  const gateIn = (folder: string) => createTrustGate({ store, clock, isOwnScope, identityOf: identityIn(folder) });
  return { gate: gateIn(cwd), gateIn, store, clock };
}

const HASH = /^[0-9a-f]{64}$/;
const own: readonly Scope[] = ['user', 'host', 'enterprise'];
const imported: readonly Scope[] = ['plugin', 'imported', 'local'];
const inProcess: Launch = { kind: 'in-process', serve: () => undefined };
const changed = defined({ ...stdio, args: ['other.js'] });
const asks = (...changes: string[]) => ({ kind: 'asks', changes, identity: expect.any(Object) });
const approved = (...grants: string[]) => ({ kind: 'approved', grants });
const restricted = { kind: 'restricted' };

describe('the gate', () => {
  verifies('TRU-01', 'asks before a process from the workspace, and lets the user’s own servers start', async () => {
    const { gate } = createTestGate();
    expect(await gate.judge(defined())).toEqual(asks());
    for (const scope of own) expect(await gate.judge(defined(stdio, scope))).toEqual({ kind: 'own' });
    for (const scope of imported) {
      const { provenance, ...rest } = defined(stdio, scope);
      expect(await gate.judge({ ...rest, provenance: { ...provenance, inWorkspace: true } })).toEqual(asks());
    }
  });

  verifies('TRU-01', 'lets a plugin’s or imported server start, with none of the user’s variables', async () => {
    const { gate } = createTestGate();
    for (const scope of imported) expect(await gate.judge(defined(stdio, scope))).toEqual(restricted);
  });

  verifies('TRU-02', 'lets a remote server of the workspace be used, with none of the user’s variables', async () => {
    const { gate } = createTestGate();
    for (const launch of [remote, { ...remote, kind: 'sse' as const }, inProcess]) {
      expect(await gate.judge(defined(launch))).toEqual(restricted);
    }
    for (const scope of own) expect(await gate.judge(defined(remote, scope))).toEqual({ kind: 'own' });
  });

  verifies(
    'TRU-02',
    'asks before a remote server of the workspace that is local, by its address or as it turned out',
    async () => {
      const clock = createFakeClock();
      const isLocal = ({ launch }: ServerDefinition) => launch.kind === 'http' && launch.url.includes('127.0.0.1');
      const gate = createTrustGate({
        store: createMemoryStore(clock),
        clock,
        isOwnScope,
        isLocal,
        identityOf: identityIn('/'),
      });
      const near = { ...remote, url: 'http://127.0.0.1/mcp' };
      const asksLocally = { ...asks(), isLocal: true };
      expect(await gate.judge(defined(near))).toEqual(asksLocally);
      expect(await gate.judge(defined(remote))).toEqual(restricted);
      expect(await gate.judge(defined(remote), { isLocal: true })).toEqual(asksLocally);
      for (const scope of [...own, ...imported]) {
        expect(await gate.judge(defined(near, scope))).not.toMatchObject({ kind: 'asks' });
      }
      await gate.approve(defined(near));
      expect(await gate.judge(defined(near))).toEqual(approved());
    },
  );

  verifies(['TRU-01', 'EXT-04'], 'remembers an approval of exactly what was approved', async () => {
    const { gate } = createTestGate();
    await gate.approve(defined());
    expect(await gate.judge(defined())).toEqual(approved());
    expect(await gate.judge(changed)).toEqual(asks('argument 1 was server.js and is other.js'));
    expect(await gate.judge({ ...defined(), name: 'renamed' })).toEqual(asks());
    expect(await gate.judge(defined())).toEqual(approved());
  });

  verifies('EXT-04', 'asks again when any part of what would run has changed, and says which', async () => {
    const { gate } = createTestGate();
    await gate.approve(defined({ ...stdio, env: { A: 's3', B: 'b' } }));
    const cases: [launch: Launch, change: string][] = [
      [{ ...stdio, env: { A: 's4', B: 'b' } }, 'variable A has another value'],
      [{ ...stdio, env: { A: 's3' } }, 'variable B was removed'],
      [{ ...stdio, env: { A: 's3', B: 'b', C: '' } }, 'variable C was added'],
      [{ ...stdio, env: { A: 's3', B: 'b' }, cwd: '/' }, 'folder was /work and is /'],
      [{ ...stdio, env: { A: 's3', B: 'b' }, args: [] }, 'argument 1 was removed: server.js'],
      [{ ...stdio, env: { A: 's3', B: 'b' }, inheritEnv: 'all' }, 'inheritEnv was "safe" and is "all"'],
    ];
    for (const [launch, change] of cases) expect(await gate.judge(defined(launch))).toEqual(asks(change));
  });

  verifies('EXT-04', 'takes the grants from a remote server that has changed', async () => {
    const { gate } = createTestGate();
    await gate.approve(defined(remote), ['TOKEN']);
    expect(await gate.judge(defined(remote))).toEqual(approved('TOKEN'));
    for (const change of [{ url: 'https://b.example/mcp' }, { headers: { A: 'b' } }, { bearerTokenEnvVar: 'B' }]) {
      expect(await gate.judge(defined({ ...remote, ...change }))).toEqual(restricted);
    }
  });

  verifies(['TRU-02', 'EXT-04'], 'takes the copy of a remote entry in another file for another server', async () => {
    const { gate } = createTestGate();
    const copy = { ...defined(remote), provenance: { ...defined().provenance, file: '/copy/.mcp.json' } };
    await gate.approve(defined(remote), ['TOKEN']);
    expect(await gate.judge(copy)).toEqual(restricted);
    await gate.approve(copy, []);
    expect([await gate.judge(defined(remote)), await gate.judge(copy)]).toEqual([approved('TOKEN'), approved()]);
    expect(await gate.revoke('files', copy)).toBe(true);
    expect([await gate.judge(defined(remote)), await gate.judge(copy)]).toEqual([approved('TOKEN'), restricted]);
  });

  verifies('EXT-04', 'asks again when the file says something else of an input that the entry reads', async () => {
    const { gate } = createTestGate();
    const reading = (change: Partial<InputRequest> = {}): ServerDefinition => ({
      ...defined({ ...stdio, args: [`\${input:x}`] }),
      inputs: [{ id: 'x', password: false, default: 'a', options: ['a', 'b'], ...change }],
    });
    await gate.approve(reading());
    expect(await gate.judge(reading({ description: 'in other words' }))).toEqual(approved());
    const cases: [changed: ServerDefinition, ...changes: string[]][] = [
      [reading({ default: 'c' }), 'default of input x was a and is c'],
      [reading({ default: undefined }), 'default of input x was removed: a'],
      [reading({ options: ['a'] }), 'options of input x was ["a","b"] and is ["a"]'],
    ];
    for (const [each, ...changes] of cases) expect(await gate.judge(each)).toEqual(asks(...changes));
    const elsewhere = { ...reading(), provenance: { ...defined().provenance, file: '/copy/.mcp.json' } };
    expect(await gate.judge(elsewhere)).toEqual(asks());
  });

  verifies('TRU-06', 'stores which variables were granted, and the last approval counts', async () => {
    const { gate } = createTestGate();
    await gate.approve(defined(), ['A', 'B']);
    expect(await gate.judge(defined())).toEqual(approved('A', 'B'));
    await gate.approve(defined(), ['B']);
    expect(await gate.judge(defined())).toEqual(approved('B'));
    await gate.approve(defined());
    expect(await gate.judge(defined())).toEqual(approved());
  });

  test('stores each approval once, newest last, and no secret of it', async () => {
    const { gate, store } = createTestGate();
    const secretive = defined({ ...stdio, args: ['--pwd', 's3cret'], env: { KEY: 's3cret' } });
    for (const definition of [defined(), secretive, defined()]) await gate.approve(definition, ['A']);
    const approval = { name: 'files', grants: ['A'], file: '/work/.mcp.json', approvedAt: '2026-01-02T00:00:00.000Z' };
    const seal = createSeal(store);
    const stored = async (definition: ServerDefinition) => {
      const identity = await identityIn('/work')(definition);
      const fingerprint = await seal(trustFingerprint(identity));
      return { ...approval, parts: await storedPartsOf(identity, seal), fingerprint };
    };
    expect(await gate.approvals('files')).toEqual([await stored(secretive), await stored(defined())]);
    expect(await store.get('approvals/files')).not.toContain('s3cret');
    const { version, items } = JSON.parse((await store.get('approvals/files')) ?? '');
    expect([version, items[0].parts['argument 2']]).toEqual([
      2,
      { text: '(hidden)', seal: expect.stringMatching(HASH) },
    ]);
  });

  verifies('TRU-08', 'stores nothing from which a secret could be guessed', async () => {
    const { gate, store } = createTestGate();
    await gate.approve(defined({ ...stdio, args: ['--pwd', '1234'] }));
    const stored = (await store.get('approvals/files')) ?? '';
    const guesses = [
      digestOf('1234'),
      trustFingerprint(await identityIn('/work')(defined({ ...stdio, args: ['--pwd', '1234'] }))),
    ];
    expect(guesses.filter((guess) => stored.includes(guess))).toEqual([]);
  });

  test('makes no key before anything was approved', async () => {
    const { gate, store } = createTestGate();
    await gate.judge(defined());
    expect(await store.get('account-key')).toBe(undefined);
  });

  test('keeps the approvals of two workspaces apart, also for servers of the same name', async () => {
    const { gateIn } = createTestGate();
    const [one, two] = [gateIn('/one'), gateIn('/two')];
    const inTwo = { ...defined(), provenance: { ...defined().provenance, file: '/two/.mcp.json' } };
    await one.approve(defined(), ['A']);
    expect(await two.judge(inTwo)).toEqual(asks());
    await two.approve(inTwo, ['B']);
    expect([await one.judge(defined()), await two.judge(inTwo)]).toEqual([approved('A'), approved('B')]);
    const changedInOne = { ...changed, provenance: defined().provenance };
    expect(await one.judge(changedInOne)).toEqual(asks('argument 1 was server.js and is other.js'));
  });

  test('compares a changed entry with the latest approval of the same file', async () => {
    const { gate } = createTestGate();
    const elsewhere = { ...changed, provenance: { ...changed.provenance, file: '/work/.plexus/mcp.json' } };
    await gate.approve(defined({ ...stdio, args: ['1.js'] }));
    await gate.approve(defined({ ...stdio, args: ['2.js'] }));
    await gate.approve(elsewhere);
    expect(await gate.judge(defined())).toEqual(asks('argument 1 was 2.js and is server.js'));
  });

  test('loses none of many approvals given at once', async () => {
    const { gate } = createTestGate();
    const many = Array.from({ length: 20 }, (_, at) => defined({ ...stdio, args: [`${at}.js`] }));
    await Promise.all(many.map((definition) => gate.approve(definition)));
    for (const definition of many) expect(await gate.judge(definition)).toEqual(approved());
  });

  test('keeps the latest hundred approvals of a name', async () => {
    const { gate } = createTestGate();
    const many = Array.from({ length: 101 }, (_, at) => defined({ ...stdio, args: [`${at}.js`] }));
    for (const definition of many) await gate.approve(definition);
    const judged = await Promise.all(many.map((definition) => gate.judge(definition)));
    expect(judged.map(({ kind }) => kind)).toEqual(['asks', ...Array.from({ length: 100 }, () => 'approved')]);
  });

  test('forgets every approval of a name, and of no other', async () => {
    const { gate } = createTestGate();
    const other = { ...defined(), name: 'other' };
    for (const definition of [defined(), changed, other]) await gate.approve(definition, ['A']);
    await gate.revoke('files');
    await gate.revoke('never approved');
    expect(await gate.approvals('files')).toEqual([]);
    expect(await Promise.all([defined(), changed, other].map((each) => gate.judge(each)))).toEqual([
      asks(),
      asks(),
      approved('A'),
    ]);
  });

  test('revoking deletes every approval that lets the server start, whichever file it was given in', async () => {
    const { gate } = createTestGate();
    const inFile = (file: string) => ({ ...defined(), provenance: { ...defined().provenance, file } });
    await gate.approve(inFile('/work/one.json'), ['A']);
    expect(await gate.judge(inFile('/work/two.json'))).toEqual(approved('A'));
    expect(await gate.revoke('files', inFile('/work/two.json'))).toBe(true);
    expect(await gate.judge(inFile('/work/two.json'))).toEqual(asks());
    expect(await gate.revoke('files', inFile('/work/two.json'))).toBe(false);
  });

  const nonsense = [
    ...['', 'null', '{}', '[1, {"fingerprint": 5}]', '[{'],
    '[{"fingerprint":"a","essence":{"kind":5},"grants":[]}]',
    '[{"fingerprint":"a","essence":{},"grants":[5]}]',
    '[{"fingerprint":"a","essence":[],"grants":[]}]',
    '[{"fingerprint":"a","essence":{}}]',
    '{"version":2}',
    '{"version":2,"items":[{"fingerprint":"a","grants":[],"parts":{"kind":"stdio"}}]}',
    '{"version":3,"items":[]}',
  ];
  test.each(nonsense)('takes %j for no approval', async (stored) => {
    const { gate, store } = createTestGate();
    await store.set('approvals/files', stored);
    expect(await gate.judge(defined())).toEqual(asks());
    await gate.approve(defined());
    expect(await gate.judge(defined())).toEqual(approved());
  });
});
