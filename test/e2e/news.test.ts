// Owns the proof that a modern server's news are heard for as long as it is up, whatever becomes of the stream they come on,
// and that a server written with the official SDK is spoken to over HTTP as it expects.

import { describe, expect } from 'vitest';
import { createTracedClock } from '../faults/traces.ts';
import { type Carrier, startAsking } from '../servers/asking.ts';
import { eventually } from '../servers/processes.ts';
import { startSdkWeb } from '../servers/sdk-web.ts';
import { verifies } from '../verifies.ts';
import { createFolder, type Started, start, statusOf } from './runtimes.ts';

const toolsOf = (runtime: Started) => runtime.turn().tools.map(({ id }) => id.tool);
const thought = { role: 'assistant', model: 'm', content: { type: 'text', text: 'four' } };

describe('a modern server written with the SDK', () => {
  const connect = async (speed = 1) => {
    const web = await startSdkWeb();
    const runtime = await start(createFolder(), {
      servers: { web: { url: web.url } },
      clock: createTracedClock(speed),
      sample: async () => thought,
      roots: async () => [{ uri: 'file:///here', name: 'here' }],
    });
    await eventually(() => web.listeners() === 1);
    return { web, runtime };
  };

  verifies('EXT-01', 'is discovered, listed and called over HTTP, without a session', async () => {
    // A machine with much else to do takes longer than the question for the era waits.
    const { web, runtime } = await connect(0.05);
    expect(statusOf(runtime, 'web')).toMatchObject({
      ...{ state: 'connected', transport: 'http', era: 'modern', protocol: '2026-07-28' },
    });
    expect([...new Set(web.asked)].sort()).toEqual(['server/discover', 'subscriptions/listen', 'tools/list']);
    await runtime.close();
    expect(web.asked, 'there is no session to delete, and nothing is pinged').not.toContain('DELETE');
    await eventually(() => web.listeners() === 0);
  });

  verifies(['EXT-01', 'LIF-10'], 'gets the samples and the roots it asks for within its answers', async () => {
    const { runtime } = await connect();
    const sampled = await runtime.turn().call('mcp__web__think');
    expect([sampled.isError, sampled.text]).toEqual([false, expect.stringContaining('four')]);
    const rooted = await runtime.turn().call('mcp__web__look');
    expect([rooted.isError, rooted.text]).toEqual([false, expect.stringContaining('file:///here')]);
  });

  for (const how of ['end', 'reset'] as const) {
    verifies(
      'EXT-01',
      `is listened to again when its stream drops (${how}), and no change of its tools is missed`,
      async () => {
        const { web, runtime } = await connect();
        web.grow('first');
        await eventually(() => toolsOf(runtime).includes('first'));
        web.hush(how);
        await eventually(() => web.listeners() === 0);
        await eventually(() => web.listeners() === 1);
        web.grow('second');
        await eventually(() => toolsOf(runtime).includes('second'));
        expect(statusOf(runtime, 'web'), 'it was there all the time').toMatchObject({ state: 'connected' });
        const changes = runtime.events.flatMap((event) => (event.type === 'connection.changed' ? [event.to] : []));
        expect(changes).toEqual(['connecting', 'ready']);
      },
    );
  }
});

describe('the news of a modern server', () => {
  for (const transport of ['stdio', 'http', 'ws'] as const satisfies readonly Carrier[]) {
    verifies('EXT-01', `over ${transport} are asked for, heard, and asked for again when they end`, async () => {
      const server = await startAsking(transport, '--era', 'modern');
      const runtime = await start(createFolder(), { servers: { web: server.entry } });
      const asked = () => server.methods().filter((each) => each === 'subscriptions/listen').length;
      await eventually(() => asked() === 1);
      await runtime.turn().call('mcp__web__grow');
      await eventually(() => toolsOf(runtime).includes('more_1'));
      await runtime.turn().call('mcp__web__hush');
      await eventually(() => asked() === 2);
      await runtime.turn().call('mcp__web__grow');
      await eventually(() => toolsOf(runtime).includes('more_2'));
    });
  }
});
