// Owns the faults that are a matter of words: a server whose messages arrive whole and say what JSON-RPC does not allow. No
// transport can tell them from others, so they are shown once, over a channel inside the host and in fake time.

import { beforeAll, describe, expect, test } from 'vitest';
import type { Channel, Message } from '../../src/model/server.ts';
import { createFakeClock } from '../../src/testing/testing.ts';
import { parseFlags } from '../servers/faulty/flags.mjs';
import { createMcp } from '../servers/faulty/mcp.mjs';
import { verifies } from '../verifies.ts';
import { once, reconnect, type WrongAnswer, wrongAnswers } from './common.ts';
import { endOf } from './harness.ts';
import { inWorld, type World } from './world.ts';

const eras = ['legacy', 'modern'] as const;
/** What is no message at all does not get through a channel of messages: each transport shows what it does with it. */
const unspeakable = ['noise', 'junk', 'text', 'batch'];
const words = (Object.keys(wrongAnswers) as WrongAnswer[]).filter((word) => !unspeakable.includes(word));

/** The server of the other files, with its flags, inside the host. */
function wordCase(flags: readonly string[], act: (world: World) => Promise<void>): () => Promise<void> {
  return async () => {
    const clock = createFakeClock();
    const effects: string[] = [];
    const note = (file: string | undefined, line: string) => file === 'log' && effects.push(line);
    const mcp = createMcp(parseFlags(['--log', 'log', ...flags]), { note, pause: (ms: number) => clock.sleep(ms) });
    const serve = async (channel: Channel) => {
      const say = (text: string) => void channel.send(JSON.parse(text));
      const exchange = { accept: () => undefined, say, answer: say };
      channel.onmessage = (message: Message) => void mcp.take(message, exchange);
      await channel.start();
    };
    await inWorld({ clock, effects, serve, settings, options }, act);
  };
}

const settings = { toolTimeoutMs: 20_000, reconnect };
/** The runtime is there at once: nothing could move its time while it waits for a server. */
const options = { startup: { whenUncached: 'background', gateMs: 0 } } as const;

const untilUsable = ({ status, until }: World) => until(() => status().state === 'connected' && status().toolCount > 0);

async function expectUsable(world: World): Promise<void> {
  await untilUsable(world);
  const ending = await world.settled(world.ending('echo', { text: 'still there' }));
  expect(endOf(ending), 'the next call').toBe('answered');
}

// What is loaded only when it is needed takes real time, which must not pass while fake time does.
beforeAll(wordCase([], async (world) => void (await world.ending('echo', { text: 'first' }))));

describe.each(eras)('a server of the %s era', (era) => {
  for (const word of words) {
    verifies(
      'CAL-12',
      `whose answer to a call has the fault "${word}" harms no other call`,
      wordCase([...once(word), '--era', era], async (world) => {
        await untilUsable(world);
        expect(endOf(await world.settled(world.write()))).toBe(wrongAnswers[word]);
        await expectUsable(world);
      }),
    );

    for (const stage of ['initialize', 'list']) {
      verifies(
        'CAL-12',
        `whose answer to ${stage} has the fault "${word}" once is usable all the same`,
        wordCase([...once(word), '--era', era, '--at', stage], expectUsable),
      );
    }
  }

  test(
    'whose list names the same page for ever is cut off and usable',
    wordCase(['--era', era, '--fault', 'repeat-cursor'], async (world) => {
      await expectUsable(world);
      expect(world.status().toolCount).toBe(9);
    }),
  );

  test(
    'whose list has no last page is cut off and stays connected',
    wordCase(['--era', era, '--fault', 'pages-forever'], async (world) => {
      await world.until(() => world.status().state === 'connected');
      await world.clock.advance(1_000);
      expect(world.status()).toMatchObject({ state: 'connected', toolCount: 400 });
    }),
  );
});
