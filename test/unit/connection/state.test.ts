// Owns the proof that the state machine of a connection goes where the drawing in docs/lifecycle.md says, and nowhere else.

import { expect, test } from 'vitest';
import { type ConnectionInput, type ConnectionState, step } from '../../../src/connection/state.ts';
import { createBackoff } from '../../../src/kernel/backoff.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { verifies } from '../../verifies.ts';

const exact = createBackoff(limits.reconnect, () => 0.5);
const login = new RuntimeError('AUTH_REQUIRED', { server: 's' });
const outage = new RuntimeError('CONNECTION_LOST', { server: 's', reason: 'gone' });
const lost = (at: number, cause: RuntimeError = outage): ConnectionInput => ({ kind: 'lost', at, cause });

function walk(inputs: readonly ConnectionInput[]): { states: ConnectionState[]; effects: string[][] } {
  const states: ConnectionState[] = [];
  const effects: string[][] = [];
  let state: ConnectionState = { kind: 'idle' };
  for (const input of inputs) {
    const [next, ...todo] = step(state, input, exact);
    states.push(next);
    effects.push(todo.map(({ kind }) => kind));
    state = next;
  }
  return { states, effects };
}

const kinds = (inputs: readonly ConnectionInput[]) => walk(inputs).states.map(({ kind }) => kind);

verifies(['LIF-01', 'LIF-03'], 'each input leads from each state to exactly one other', () => {
  const journeys: Record<string, [readonly ConnectionInput[], readonly string[]]> = {
    'a server that comes up': [
      [{ kind: 'wake' }, { kind: 'opened', at: 1 }],
      ['connecting', 'ready'],
    ],
    'a login is not cured by waiting': [
      [{ kind: 'wake' }, lost(1, login), { kind: 'retry' }, { kind: 'unblock' }],
      ['connecting', 'blocked', 'blocked', 'connecting'],
    ],
    'an outage is': [
      [{ kind: 'wake' }, lost(1), { kind: 'retry' }, { kind: 'opened', at: 2 }],
      ['connecting', 'waiting', 'connecting', 'ready'],
    ],
    'an idle stop is not a loss': [
      [{ kind: 'wake' }, { kind: 'opened', at: 1 }, { kind: 'idle-stop' }, lost(2), { kind: 'wake' }],
      ['connecting', 'ready', 'idle', 'idle', 'connecting'],
    ],
    'closed is the end': [
      [{ kind: 'close' }, { kind: 'wake' }, { kind: 'reconnect' }, lost(1), { kind: 'opened', at: 2 }],
      ['closed', 'closed', 'closed', 'closed', 'closed'],
    ],
    'a wake while it connects changes nothing': [
      [{ kind: 'wake' }, { kind: 'wake' }, { kind: 'opened', at: 1 }, { kind: 'wake' }],
      ['connecting', 'connecting', 'ready', 'ready'],
    ],
    'a person may start again from anywhere': [
      [{ kind: 'wake' }, lost(1, login), { kind: 'reconnect' }, { kind: 'opened', at: 2 }, { kind: 'reconnect' }],
      ['connecting', 'blocked', 'connecting', 'ready', 'connecting'],
    ],
  };
  for (const [name, [inputs, expected]] of Object.entries(journeys)) expect(kinds(inputs), name).toEqual(expected);
});

test('the default schedule waits 500, 1000, 2000 and 4000 ms, then gives up until a person reconnects', () => {
  const inputs: ConnectionInput[] = [{ kind: 'wake' }];
  for (let attempt = 1; attempt <= 5; attempt++) inputs.push(lost(0), { kind: 'retry' });
  const { states } = walk(inputs);
  expect(states.flatMap((state) => (state.kind === 'waiting' ? state.retryAt : []))).toEqual([500, 1000, 2000, 4000]);
  expect(states.at(-1)).toEqual({ kind: 'failed', cause: outage });
});

test('a server that dies soon after each start uses its attempts up; a stable one starts with a full set', () => {
  const flap: ConnectionInput[] = [{ kind: 'wake' }];
  for (let life = 0; life < 5; life++) flap.push({ kind: 'opened', at: 0 }, lost(1_000), { kind: 'retry' });
  expect(walk(flap).states.at(-1)?.kind).toBe('failed');

  const stable: ConnectionInput[] = [{ kind: 'wake' }];
  for (let life = 0; life < 50; life++)
    stable.push({ kind: 'opened', at: 0 }, lost(limits.stableMs), { kind: 'retry' });
  expect(walk(stable).states.at(-1)).toEqual({ kind: 'connecting', attempt: 2 });
});

test('whatever is left behind is released on the way', () => {
  const { effects } = walk([
    { kind: 'wake' },
    { kind: 'opened', at: 1 },
    lost(2),
    { kind: 'retry' },
    { kind: 'close' },
  ]);
  expect(effects).toEqual([['open'], [], ['release', 'schedule-retry'], ['open'], ['release']]);
});
