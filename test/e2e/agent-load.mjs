// Owns the load on an agent: so many conversations side by side, each with so many turns of a call and a reply. Half of them stay open
// and get all their prompts at once; the others are opened anew for each turn, as a server does it for its clients. Says, as JSON, the
// replies of each, the live heap after the first tenth and at the end, and how large the conversations are that stayed open:
//
//   node --expose-gc agent-load.mjs FOLDER CONVERSATIONS TURNS

import { createRuntime, serveTools } from 'plexus';
import { createAgent } from 'plexus/agent';

const [, , folder, conversations, turns] = process.argv;
const numbers = (count) => Array.from({ length: Number(count) }, (_, at) => at);
const tenth = Math.ceil(turns / 10);

const echo = { description: 'Says it again.', inputSchema: { type: 'object' }, run: ({ text }) => text };
const runtime = await createRuntime({
  ...{ discover: false, cwd: folder, home: folder, watch: false },
  servers: { s: serveTools({ echo }) },
  permissions: [{ tool: '*', action: 'allow' }],
  startup: { whenUncached: 'wait' },
});
const model = {
  name: 'echoing',
  async answer({ messages }) {
    const { role, text } = messages.at(-1);
    if (role === 'tool') return { text: `re ${/\d+\.\d+/.exec(text)[0]}`, calls: [] };
    return { text: '', calls: [{ id: text, name: 'mcp__s__echo', arguments: JSON.stringify({ text }) }] };
  },
};
const agent = createAgent({
  ...{ runtime, model, cwd: folder },
  conversations: { folder: `${folder}/conversations`, maxCount: Number.POSITIVE_INFINITY },
});

/** `run(turn)` resolves with the reply. */
async function open(at) {
  const prompt = (turn) => `${at}.${turn}`;
  if (at % 2 === 0) {
    const conversation = await agent.open();
    return {
      run: (turn) => conversation.run(prompt(turn)),
      keptMb: () => JSON.stringify(conversation.messages).length / 1_048_576,
      close: () => conversation.close(),
    };
  }
  let last = Promise.resolve({});
  const run = (turn) => {
    last = last.then(({ conversationId }) => agent.run(prompt(turn), { conversation: conversationId }));
    return last;
  };
  return { run, keptMb: () => 0, close: () => undefined };
}

async function liveMb() {
  for (let time = 0; time < 5; time += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed / 1_048_576;
}

const opened = await Promise.all(numbers(conversations).map(open));
const ids = [];
const replies = opened.map(() => []);
const runAll = async (some) => {
  const running = opened.flatMap(({ run }, at) =>
    some.map(async (turn) => {
      const { conversationId, text } = await run(turn);
      ids[at] = conversationId;
      replies[at].push(text);
    }),
  );
  await Promise.all(running);
};
await runAll(numbers(turns).slice(0, tenth));
const firstMb = await liveMb();
await runAll(numbers(turns).slice(tenth));
const lastMb = await liveMb();
const keptMb = opened.reduce((sum, each) => sum + each.keptMb(), 0);
await Promise.all(opened.map(({ close }) => close()));
await runtime.close();
process.stdout.write(JSON.stringify({ ids, replies, firstMb, lastMb, keptMb }));
