// Owns the proof, with servers written with the official SDK in both eras, of what becomes of their questions to a person.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import type { ClientHandlers, ElicitRequest } from '../../src/index.ts';
import { everything } from '../servers/everything.ts';
import { eventually, temporaryFile } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import { createFolder, type Started, start, textOf } from './runtimes.ts';

const program = fileURLToPath(new URL('../servers/eliciting.mjs', import.meta.url));
const eras = ['legacy', 'modern'] as const;
type Era = (typeof eras)[number];

interface Connecting {
  readonly elicitation?: 'ask' | 'decline';
  /** Once this file exists, the page of `locked` counts as visited. */
  readonly visited?: string;
}

const connect = (era: Era, handlers: ClientHandlers, { visited = '', ...settings }: Connecting = {}) =>
  start(createFolder(), {
    servers: { asks: { command: process.execPath, args: [program, '--era', era, '--visited', visited], ...settings } },
    ...handlers,
  });

async function call(runtime: Started, tool: string, options: { signal?: AbortSignal } = {}) {
  const outcome = await runtime.turn().call(`mcp__asks__${tool}`, {}, options);
  return { outcome, text: String(textOf(outcome)) };
}

/** What the server was answered, in its own words. */
const answerTo = async (runtime: Started, tool: string) => JSON.parse((await call(runtime, tool)).text).answer;

const told = ({ events }: Started) =>
  events.flatMap((event) =>
    event.type === 'elicitation.requested' || event.type === 'elicitation.settled' ? [event] : [],
  );

const noting = (answer: Awaited<ReturnType<Required<ClientHandlers>['elicit']>>) => {
  const asked: Omit<ElicitRequest, 'signal'>[] = [];
  const elicit: ClientHandlers['elicit'] = async ({ signal, ...request }) => {
    expect(signal.aborted).toBe(false);
    asked.push(request);
    return answer;
  };
  return { asked, elicit };
};

for (const era of eras) {
  describe(`a ${era} server`, () => {
    verifies('EXT-02', 'shows a form, and gets what fits it', async () => {
      const { asked, elicit } = noting({ action: 'accept', content: { name: 'Ada', age: 36, more: 'x' } });
      const runtime = await connect(era, { elicit });
      expect(await answerTo(runtime, 'register')).toMatchObject({
        action: 'accept',
        content: { name: 'Ada', age: 36, color: 'g' },
      });
      expect(asked).toMatchObject([{ server: 'asks', mode: 'form', message: 'Who are you?', asksForSecret: false }]);
      expect(told(runtime)).toMatchObject([
        { type: 'elicitation.requested', server: 'asks', mode: 'form', message: 'Who are you?' },
        { type: 'elicitation.settled', action: 'accept', because: 'answered' },
      ]);
      expect(JSON.stringify(told(runtime)), 'the answer is nobody else’s').not.toContain('Ada');
    });

    verifies(
      'EXT-02',
      'gets a no in place of an answer that does not fit its form, and the host hears of it',
      async () => {
        const { elicit } = noting({ action: 'accept', content: { name: '' } });
        const runtime = await connect(era, { elicit });
        expect(await answerTo(runtime, 'register')).toMatchObject({ action: 'decline' });
        expect(runtime.errors).toEqual([new TypeError('the answer to server "asks" does not fit its form in "name"')]);
      },
    );

    verifies('EXT-02', 'sends a person to a page, and hears only whether they agreed', async () => {
      const { asked, elicit } = noting({ action: 'accept', content: { secret: 'x' } });
      const runtime = await connect(era, { elicit });
      expect(await answerTo(runtime, 'visit')).not.toHaveProperty('content');
      expect(asked).toMatchObject([
        { mode: 'url', url: 'https://login.example/start?state=1', host: 'login.example', awaitsCompletion: false },
      ]);
      expect(told(runtime)).toMatchObject([{ mode: 'url', host: 'login.example' }, { action: 'accept' }]);
    });

    verifies(
      'EXT-02',
      'is refused by its settings without anybody being asked, and not told that it may ask',
      async () => {
        const { asked, elicit } = noting({ action: 'accept', content: { name: 'Ada' } });
        const runtime = await connect(era, { elicit }, { elicitation: 'decline' });
        const { outcome } = await call(runtime, 'register');
        expect([outcome.isError, asked]).toEqual([true, []]);
      },
    );

    verifies('EXT-02', 'that has a question for nobody gives an error, at once', async () => {
      const { outcome } = await call(await connect(era, {}), 'register');
      expect(outcome.isError).toBe(true);
    });

    verifies('EXT-02', 'whose call is cancelled leaves no question behind', async () => {
      const signals: AbortSignal[] = [];
      const elicit: ClientHandlers['elicit'] = ({ signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      };
      const runtime = await connect(era, { elicit });
      const wish = new AbortController();
      const calling = call(runtime, 'register', { signal: wish.signal });
      await eventually(() => signals.length === 1);
      wish.abort();
      await expect(calling).rejects.toBe(wish.signal.reason);
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      await eventually(() => told(runtime).length === 2);
      expect(told(runtime)[1]).toMatchObject({ action: 'cancel', because: 'withdrawn' });
    });

    verifies('EXT-02', 'is not held up by a model that fails', async () => {
      const failure = new Error('no key: sk-123');
      const runtime = await connect(era, { sample: () => Promise.reject(failure) });
      const { outcome, text } = await call(runtime, 'think');
      expect([outcome.isError, text.includes('sk-123'), runtime.errors]).toEqual([true, false, [failure]]);
    });
  });
}

verifies('EXT-02', 'a call refused until a page was visited is performed once it was, and only once', async () => {
  const { asked, elicit } = noting({ action: 'accept' });
  const visited = temporaryFile('visited');
  const visit: typeof elicit = async (request) => {
    const answer = await elicit(request);
    writeFileSync(visited, '');
    return answer;
  };
  const runtime = await connect('legacy', { elicit: visit }, { visited });
  const { outcome, text } = await call(runtime, 'locked');
  expect(JSON.parse(text)).toEqual({ calls: 2, answer: { action: 'unlocked' } });
  expect(outcome.meta.attempts).toBe(2);
  expect(asked).toMatchObject([{ mode: 'url', host: 'login.example', awaitsCompletion: true }]);
});

verifies('EXT-02', 'a call whose page nobody wants to visit is an error that says so', async () => {
  const { elicit } = noting({ action: 'decline' });
  const { outcome, text } = await call(await connect('legacy', { elicit }), 'locked');
  expect([outcome.isError, text]).toEqual([
    true,
    'MCP error -32042: a page of login.example has to be visited first, and that was declined',
  ]);
});

verifies('EXT-02', 'the reference server’s form is understood as it is', async () => {
  const asked: ElicitRequest[] = [];
  const runtime = await start(createFolder(), {
    servers: { every: await everything('stdio') },
    elicit: async (request) => {
      asked.push(request);
      return { action: 'accept', content: { name: 'Ada' } };
    },
  });
  const outcome = await runtime.turn().call('mcp__every__trigger-elicitation-request');
  expect([outcome.isError, JSON.stringify(outcome.content).includes('Ada')]).toEqual([false, true]);
  const [request] = asked;
  expect(request?.mode === 'form' && Object.keys(request.requestedSchema.properties).length).toBeGreaterThan(5);
});
