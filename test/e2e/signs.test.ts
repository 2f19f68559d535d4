// Owns the proof that whatever comes on the stream of a call counts as a sign of life, that nothing else does, and that a call
// whose time is up is called off on its server.

import { expect } from 'vitest';
import { once } from '../faults/common.ts';
import { endOf, faultCase } from '../faults/harness.ts';
import { eventually } from '../servers/processes.ts';
import { connect, event, request, result, serve } from '../unit/transport/http-servers.ts';
import { verifies } from '../verifies.ts';

/** A sign comes every few milliseconds, and one in three seconds is enough: the call's end is half a second after the silence's. */
const impatient = { toolIdleTimeoutMs: 3_500, toolTimeoutMs: 4_000 };

verifies(
  'CAL-05',
  'a stream on which only comments come is alive, until the time for the whole call is up',
  faultCase({ transport: 'http', settings: impatient, flags: once('comments') }, async (scene) => {
    const ending = await scene.ending('write', { text: 'w' });
    expect('error' in ending && ending.error.data).toMatchObject({ silence: false, afterMs: 4_000 });
  }),
);

verifies(
  'CAL-05',
  'an answer that trickles in is a sign of life as well',
  faultCase({ transport: 'http', settings: impatient, flags: once('drip') }, async (scene) => {
    const ending = await scene.ending('write', { text: 'w' });
    expect('error' in ending && ending.error.data).toMatchObject({ silence: false, afterMs: 4_000 });
  }),
);

verifies(
  'CAL-05',
  'a stream that was opened and then is silent is not alive',
  faultCase({ transport: 'http', settings: impatient, flags: once('hang', '--reply', 'stream') }, async (scene) => {
    const ending = await scene.ending('write', { text: 'w' });
    expect('error' in ending && ending.error.data).toMatchObject({ silence: true, afterMs: 3_500 });
  }),
);

for (const transport of ['stdio', 'http'] as const) {
  verifies(
    ['CAL-06', 'CAL-08'],
    `over ${transport}, a server of the older era is told that a call was called off`,
    faultCase({ transport, flags: once('hang') }, async (scene) => {
      expect(endOf(await scene.timedOut())).toBe('CALL_TIMEOUT');
      await eventually(() => scene.peer.journal().includes('notifications/cancelled'));
    }),
  );
}

verifies('CAL-05', 'signs go to the request on whose stream they came, until it is answered', async () => {
  let afterTheAnswer = (): void => expect.fail('it is not answered yet');
  const server = await serve(({ message: { id } }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    if (id === 1) return;
    response.write(': one\n\n');
    response.write('id: 7\n\n');
    response.write(event(result(Number(id))));
    afterTheAnswer = () => void response.end(': after the answer\n\n');
  });
  const { channel, heard } = await connect(server.url);
  const signs: unknown[] = [];
  channel.onsign = (id) => signs.push(id);
  await channel.send(request(1));
  await eventually(() => signs.length === 1);
  await channel.send(request(2));
  await heard.answerTo(2);
  expect(signs[0]).toBe(1);
  const ofSecond = signs.filter((id) => id === 2).length;
  expect(ofSecond).toBeGreaterThanOrEqual(2);
  afterTheAnswer();
  // What is said by now was heard before the answer to a later question.
  await channel.send(request(3));
  await heard.answerTo(3);
  expect(signs.filter((id) => id === 2)).toHaveLength(ofSecond);
  expect(signs.filter((id) => id === 1)).toHaveLength(1);
});
