// Owns the proof of what a refusal means, row by row: what a call that must not be repeated is told, and what all others are.

import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { type RefusalVerdict, type Refused, verdictOn } from '../../../src/transport/refusal.ts';
import { verifies } from '../../verifies.ts';

const error = (id: unknown, code = -32000) => ({ jsonrpc: '2.0', id, error: { code, message: 'no' } });
const asEvent = (message: object) => `event: message\ndata: ${JSON.stringify(message).replace(',', ',\ndata: ')}\n\n`;

const write: Refused = {
  status: 404,
  body: '',
  isWhole: true,
  retryAfter: undefined,
  id: 7,
  method: 'tools/call',
  repeatable: false,
  mustNotRepeat: true,
  isInSession: true,
  mayExpireBy400: true,
  retries: 0,
  now: 0,
};
const read: Refused = { ...write, method: 'tools/list', repeatable: true, mustNotRepeat: false };

const answer = (message: object, doubt = {}): RefusalVerdict =>
  ({ kind: 'answer', message, ...doubt }) as RefusalVerdict;
const doubt = { doubtsSession: true } as const;
const expired: RefusalVerdict = { kind: 'session-expired' };
const failure: RefusalVerdict = { kind: 'failure', waitMs: undefined };
const foreign: RefusalVerdict = { ...failure, mayBeHandled: true, ...doubt };
const page = '\n<!doctype html><title>Not found</title>';

type Row = readonly [what: string, change: Partial<Refused>, verdict: RefusalVerdict];

const ofWrites: readonly Row[] = [
  ['404 without a body', {}, expired],
  ['404 with a text', { body: 'Session not found' }, expired],
  ['404 with an error that names no request', { body: JSON.stringify(error(null)) }, expired],
  ['404 with an error that names another request', { body: JSON.stringify(error('server-error')) }, expired],
  ['404 outside a session', { isInSession: false }, failure],
  ['404 that names the call', { body: JSON.stringify(error(7)) }, answer(error(7), doubt)],
  ['404 that names the call in a batch', { body: JSON.stringify([error(7)]) }, answer(error(7), doubt)],
  ['404 that names the call in an event', { body: asEvent(error(7)) }, answer(error(7), doubt)],
  [
    '404 with a result for the call',
    { body: JSON.stringify({ jsonrpc: '2.0', id: 7, result: {} }) },
    answer({ jsonrpc: '2.0', id: 7, result: {} }, doubt),
  ],
  ['404 with a page', { body: page }, foreign],
  ['404 whose body broke off', { body: '{"jsonrpc":"2.0",', isWhole: false }, foreign],
  ['400 without an error', { status: 400, body: 'bad' }, failure],
  ['400 that names the call', { status: 400, body: JSON.stringify(error(7)) }, answer(error(7))],
  [
    '400 that names no request',
    { status: 400, body: JSON.stringify(error(null)) },
    { kind: 'check-session', message: error(7) },
  ],
  [
    '400 that names no request, with any code',
    { status: 400, body: JSON.stringify(error(null, -32600)) },
    { kind: 'check-session', message: error(7, -32600) },
  ],
  [
    '400 that names no request, outside a session',
    { status: 400, body: JSON.stringify(error(null)), isInSession: false, mayExpireBy400: false },
    answer(error(7)),
  ],
  ['401 that names the call', { status: 401, body: JSON.stringify(error(7)) }, failure],
  ['403 that names the call', { status: 403, body: JSON.stringify(error(7)) }, answer(error(7))],
  ['403 that names no request', { status: 403, body: JSON.stringify(error(null)) }, failure],
  ['429', { status: 429 }, failure],
  ['429 that names no request', { status: 429, body: JSON.stringify(error(null)) }, failure],
  ['429 with a time', { status: 429, retryAfter: '2' }, { kind: 'failure', waitMs: 2_000 }],
  ['429 that names the call', { status: 429, body: JSON.stringify(error(7)) }, answer(error(7))],
  ['503 with a time', { status: 503, retryAfter: '0' }, failure],
  ['503 that names no request', { status: 503, body: JSON.stringify(error(null)) }, failure],
  ['503 that names the call', { status: 503, body: JSON.stringify(error(7)) }, answer(error(7))],
  ['500 that names no request', { status: 500, body: JSON.stringify(error(null)) }, answer(error(7))],
];

describe('of a call that must not be repeated', () => {
  for (const [what, change, verdict] of ofWrites)
    verifies(['REC-12', 'EXT-18'], what, () => expect(verdictOn({ ...write, ...change })).toEqual(verdict));

  test('no status, body or header makes the transport send it again', () => {
    const bodies = ['', 'busy', page, JSON.stringify(error(7)), JSON.stringify(error(null))];
    for (let status = 300; status < 600; status += 1)
      for (const body of bodies)
        for (const retryAfter of [undefined, '0', '120'])
          expect(verdictOn({ ...write, status, body, retryAfter }).kind).not.toBe('retry');
  });
});

const ofOthers: readonly Row[] = [
  ['404', {}, expired],
  ['404 with a page', { body: page }, expired],
  ['404 that names it, with an error about the session', { body: JSON.stringify(error(7)) }, expired],
  ['404 that names it, with an error about it', { body: JSON.stringify(error(7, -32601)) }, answer(error(7, -32601))],
  ['400 that names no request', { status: 400, body: JSON.stringify(error(null)) }, expired],
  ['429', { status: 429 }, { kind: 'retry', afterMs: limits.httpRetryDelaysMs[0] }],
  ['503 with a time', { status: 503, retryAfter: '2' }, { kind: 'retry', afterMs: 2_000 }],
  ['503 with a long time', { status: 503, retryAfter: '31' }, { kind: 'failure', waitMs: 31_000 }],
  ['503 for the third time', { status: 503, retries: 2 }, failure],
];

describe('of any other request', () => {
  for (const [what, change, verdict] of ofOthers)
    verifies(['EXT-18', 'TRN-04'], what, () => expect(verdictOn({ ...read, ...change })).toEqual(verdict));
});
