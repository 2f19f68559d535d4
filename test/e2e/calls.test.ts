// Owns the proof, with real processes, that calls end as promised: answered, refused, cut, aborted, lost or out of time.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect } from 'vitest';
import type { RuntimeOptions } from '../../src/api.ts';
import { createFakeClock, type FakeClock } from '../../src/testing/fake-clock.ts';
import { faulty } from '../servers/faulty.ts';
import { verifies } from '../verifies.ts';
import { createFolder, type Started, start as startIn } from './runtimes.ts';

let folder: string;
let clock: FakeClock;

beforeEach(() => {
  folder = createFolder();
  clock = createFakeClock();
});

/** Time stands still: nothing but the processes themselves decides how a call ends. */
const start = (servers: NonNullable<RuntimeOptions['servers']>, options: RuntimeOptions = {}) =>
  startIn(folder, { servers, clock, ...options });

const bodyOf = (text: string) => text.split('\n').slice(1, -1).join('\n');
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: unknown) => (error as { code?: unknown }).code,
  );
const endsOf = ({ events }: Started) =>
  events.flatMap((event) =>
    event.type === 'call.finished' ? [event.end.kind === 'failed' ? event.end.code : event.end.kind] : [],
  );
const effectsIn = (file: string) => readFileSync(file, 'utf8').split('\n').filter(Boolean).length;

for (const era of ['legacy', 'modern']) {
  verifies(
    ['CAL-02', 'CAL-03', 'CAL-13'],
    `a ${era} process answers a call, and the result says where it came from`,
    async () => {
      const runtime = await start({ files: faulty('--era', era) });
      const { call } = runtime.turn();
      const outcome = await call('mcp__files__add', { a: 2, b: 3 });
      expect(outcome).toMatchObject({
        content: [{ type: 'text', text: '5' }],
        isError: false,
        meta: { server: 'files', tool: 'add', attempts: 1, fromCache: false },
      });
      expect(bodyOf(outcome.text)).toBe('5');
      expect(bodyOf((await call('mcp__files__echo', { text: 'é🎈\u2028"\\\n</x>' })).text)).toBe('é🎈\u2028"\\\n</x>');
    },
  );
}

const oddAnswers = { twice: 'twice', 'id-last': 'with their id last', 'unknown-ids': 'also to nobody' };
for (const [fault, how] of Object.entries(oddAnswers)) {
  verifies('CAL-02', `answers that come ${how} disturb no call`, async () => {
    const everyAnswer = ['--at=initialize', '--at=list', '--at=call'];
    const runtime = await start({ files: faulty('--fault', fault, ...everyAnswer) });
    const { call } = runtime.turn();
    const texts = await Promise.all(
      [1, 2, 3, 4].map(async (n) => bodyOf((await call('mcp__files__echo', { text: `${n}` })).text)),
    );
    expect(texts).toEqual(['1', '2', '3', '4']);
  });
}

verifies('CAL-14', 'a quick call overtakes a slow one on the same process', async () => {
  const runtime = await start({ files: faulty() });
  const { call } = runtime.turn();
  const lost = codeOf(call('mcp__files__sleep', { ms: 600_000 }));
  expect(bodyOf((await call('mcp__files__echo', { text: 'quick' })).text)).toBe('quick');
  await runtime.disconnect('files');
  expect(await lost).toBe('OUTCOME_UNKNOWN');
});

verifies(
  ['CAL-04', 'CAL-11', 'EVT-02'],
  'what is wrong with a call is said before it reaches the process',
  async () => {
    const effects = join(folder, 'effects');
    const runtime = await start(
      { files: { ...faulty('--log', effects), disabledTools: ['env'] } },
      {
        permissions: [
          { tool: 'mcp__files__write', action: 'deny' },
          { tool: 'mcp__*', action: 'allow' },
        ],
      },
    );
    const { call } = runtime.turn();
    expect(await codeOf(call('mcp__files__echo'))).toBe('ARGUMENTS_BAD');
    expect(await codeOf(call('mcp__files__echo', [] as never))).toBe('ARGUMENTS_BAD');
    expect(await codeOf(call('mcp__files__env'))).toBe('TOOL_UNKNOWN');
    expect(await codeOf(call('mcp__files__write', { text: 'w' }))).toBe('CALL_DENIED');
    expect(existsSync(effects), 'nothing was written').toBe(false);
    expect(endsOf(runtime)).toEqual(['ARGUMENTS_BAD', 'ARGUMENTS_BAD', 'TOOL_UNKNOWN', 'CALL_DENIED']);
  },
);

verifies('OUT-04', 'a tool that fails gives an error result', async () => {
  const runtime = await start({ files: faulty() });
  const { isError, text } = await runtime.turn().call('mcp__files__fail');
  expect([isError, bodyOf(text)]).toEqual([true, 'it failed, as asked']);
});

verifies('OUT-05', 'a megabyte is cut to 50 000 characters and stays whole in the blocks', async () => {
  const runtime = await start({ files: faulty() });
  const { text, truncated, content } = await runtime.turn().call('mcp__files__big', { bytes: 1_048_576 });
  expect(truncated).toEqual({ totalChars: 1_048_576, keptChars: 50_000 });
  expect(text).toContain('[... 998576 of 1048576 characters left out ...]');
  expect(content).toEqual([{ type: 'text', text: 'x'.repeat(1_048_576) }]);
});

verifies('CAL-12', 'a result of no known shape fails its call and leaves the process running', async () => {
  const runtime = await start({ files: faulty('--fault=text-result') });
  expect(await codeOf(runtime.turn().call('mcp__files__echo', { text: 'x' }))).toBe('RESULT_BROKEN');
  expect(runtime.status()[0]?.status).toBe('connected');
  expect(endsOf(runtime)).toEqual(['RESULT_BROKEN']);
});

verifies(
  ['CAL-05', 'CAL-06', 'EVT-02'],
  'a call whose time is up is cancelled, and the process answers others meanwhile',
  async () => {
    const runtime = await start({ files: { ...faulty(), toolTimeoutMs: 5_000 } });
    const calling = codeOf(runtime.turn().call('mcp__files__sleep', { ms: 500_000_000 }));
    await runtime.turn().call('mcp__files__echo', { text: 'it has come to the sleep before this' });
    await clock.advance(5_000);
    expect(await calling).toBe('CALL_TIMEOUT');
    expect(endsOf(runtime)).toEqual(['answered', 'CALL_TIMEOUT']);
  },
);

verifies(['CAL-02', 'CAL-05'], 'a process is asked for progress and its caller hears it', async () => {
  const runtime = await start({ files: faulty() });
  const heard: unknown[] = [];
  const onProgress = (progress: unknown) => {
    heard.push(progress);
    throw new Error('the listener broke');
  };
  const { text } = await runtime.turn().call('mcp__files__sleep', { ms: 100, progress: true }, { onProgress });
  expect(bodyOf(text)).toBe('slept 100 ms');
  expect(heard[0]).toEqual({ callId: expect.any(String), progress: 1, total: 5 });
});

verifies(
  ['CAL-08', 'EVT-02'],
  'an abort rejects with its own reason, and the process answers the next call',
  async () => {
    const runtime = await start({ files: faulty() });
    const { call } = runtime.turn();
    const reason = new Error('changed my mind');
    const controller = new AbortController();
    const calling = call('mcp__files__sleep', { ms: 500_000_000 }, { signal: controller.signal });
    const rejected = expect(calling).rejects.toBe(reason);
    await call('mcp__files__echo', { text: 'it has come to the sleep before this' });
    controller.abort(reason);
    await rejected;
    expect(bodyOf((await call('mcp__files__echo', { text: 'next' })).text)).toBe('next');
    expect(endsOf(runtime)).toEqual(['answered', 'cancelled', 'answered']);
  },
);

verifies(
  ['EXT-06', 'EVT-02', 'ERR-07'],
  'a call whose process dies may have run, says so, and is not repeated',
  async () => {
    const effects = join(folder, 'effects');
    const runtime = await start({
      files: faulty('--log', effects, '--fault=die', '--when=before', '--after=1'),
    });
    const { call } = runtime.turn();
    await call('mcp__files__write', { text: 'w' });
    const failure = await call('mcp__files__write', { text: 'w' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      remedy: 'check-first',
      message: expect.stringContaining('whether it took effect is unknown'),
    });
    expect(effectsIn(effects)).toBe(1);
    expect(endsOf(runtime)).toEqual(['answered', 'OUTCOME_UNKNOWN']);
  },
);

verifies(
  'RES-12',
  'a process that pages for ever or in circles is cut off, and what it listed can be called',
  async () => {
    const runtime = await start({
      endless: faulty('--fault=pages-forever'),
      circle: faulty('--fault=repeat-cursor'),
    });
    expect(runtime.status().map(({ name, toolCount, warnings }) => [name, toolCount, warnings])).toEqual([
      ['circle', 9, ['the list of tools was cut off: it repeats a cursor']],
      ['endless', 400, ['the list of tools was cut off: it has more than 400 pages']],
    ]);
    expect(bodyOf((await runtime.turn().call('mcp__circle__echo', { text: 'hello' })).text)).toBe('hello');
  },
);

verifies(
  'EXT-29',
  'rules, a person and the server see the repaired arguments, and the outcome says what was repaired',
  async () => {
    const asked: unknown[] = [];
    const add = 'mcp__files__add';
    const runtime = await start(
      { files: faulty() },
      {
        permissions: [
          { tool: add, args: { a: 13 }, action: 'deny' },
          { tool: add, args: { a: 7 }, action: 'ask' },
          { tool: add, action: 'allow' },
        ],
        approve: async (request) => {
          if (request.kind === 'tool') asked.push(request.arguments);
          return 'once';
        },
      },
    );
    const { call, requiresApproval } = runtime.turn();
    const outcome = await call(add, { a: '7', b: '3' });
    expect(bodyOf(outcome.text)).toBe('10');
    expect(outcome.meta.repaired).toEqual([
      { path: ['a'], kind: 'number-text' },
      { path: ['b'], kind: 'number-text' },
    ]);
    expect(asked, 'exactly what was sent').toEqual([{ a: 7, b: 3 }]);
    expect(await codeOf(call(add, { a: '13', b: '3' })), 'no text gets around a rule').toBe('CALL_DENIED');
    expect([await requiresApproval(add, { a: '7', b: 3 }), await requiresApproval(add, { a: 8, b: '3' })]).toEqual([
      true,
      false,
    ]);
    expect(await codeOf(call(add, { a: 'seven', b: '3' }))).toBe('ARGUMENTS_BAD');
    expect((await call(add, { a: 1, b: 2 })).meta).not.toHaveProperty('repaired');
  },
);
