// Owns the cost of the agent's loop: a model in this process that answers at once and calls a tool in every step, which answers at
// once too. What is left is Plexus: the tools of the step, the call with its checks, the history, the events and the journal.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, serveTools } from 'plexus';
import { createAgent } from 'plexus/agent';
import { ordinaryTools } from './ordinary-tools.mjs';

const TOOLS = 30;
/** The steps of one prompt, as many as an agent makes by default at most. */
const STEPS = 50;
const WARM_UPS = 4;
const MEASURED = 4;
const RESULT = 'A line of a file that a tool has read, as long as such lines are.\n'.repeat(15);

/** `before`: how many steps the conversation already has. */
export async function measure({ before = 0 }) {
  const folder = await mkdtemp(join(tmpdir(), 'plexus-bench-agent-'));
  const tools = ordinaryTools(TOOLS).map(({ name, ...tool }) => [name, { ...tool, run: () => RESULT }]);
  const runtime = await createRuntime({
    ...{ discover: false, cwd: folder, home: folder, watch: false },
    servers: { s: { ...serveTools(Object.fromEntries(tools)), exposure: 'load' } },
    permissions: [{ tool: '*', action: 'allow' }],
    startup: { whenUncached: 'wait' },
  });
  const agent = createAgent({
    ...{ runtime, model: createModel(), cwd: folder },
    budget: { steps: Number.POSITIVE_INFINITY, tokens: Number.POSITIVE_INFINITY },
    conversations: { folder: join(folder, 'conversations') },
  });
  try {
    for (let time = 0; time < WARM_UPS; time += 1) await stepMsOf(agent, 0);
    const taken = [];
    for (let time = 0; time < MEASURED; time += 1) taken.push(await stepMsOf(agent, before));
    return { stepMs: taken.toSorted((a, b) => a - b)[MEASURED >> 1] };
  } finally {
    await runtime.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Processor time of this process, which nothing else uses. */
async function stepMsOf(agent, before) {
  const conversation = await agent.open();
  let events = 0;
  const onEvent = () => {
    events += 1;
  };
  if (before > 0) await conversation.run(`${before}`, { onEvent });
  const cpu = process.cpuUsage();
  const { steps } = await conversation.run(`${STEPS}`, { onEvent });
  const { user, system } = process.cpuUsage(cpu);
  await conversation.close();
  if (steps !== STEPS || events < 3 * STEPS) throw new Error(`the agent made ${steps} steps and told ${events} events`);
  return (user + system) / 1_000 / steps;
}

/** Makes as many steps as the prompt says: a call in each but the last. */
function createModel() {
  let calls = 0;
  return {
    name: 'instant',
    answer: async ({ messages, tools }) => {
      const prompt = messages.findLastIndex(({ role }) => role === 'user');
      const made = messages.slice(prompt).filter(({ role }) => role === 'assistant').length;
      if (made === Number(messages[prompt].text) - 1) return { text: 'done', calls: [] };
      calls += 1;
      const { name } = tools[calls % TOOLS];
      return { text: '', calls: [{ id: `call-${calls}`, name, arguments: `{"id":"${calls}"}` }] };
    },
  };
}
