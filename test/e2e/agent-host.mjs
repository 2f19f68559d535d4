// Owns a host whose agent answers prompts without end, each kept in a file, and says each one that it acknowledged; its test kills it.
// With an id it goes on with that conversation:
//
//   node agent-host.mjs FOLDER [ID]

import { createRuntime } from 'plexus';
import { createAgent } from 'plexus/agent';

const [, , folder, id] = process.argv;
const runtime = await createRuntime({ discover: false, cwd: folder, home: folder, watch: false });
const model = { name: 'parrot', answer: async ({ messages }) => ({ text: messages.at(-1).text, calls: [] }) };
const agent = createAgent({ runtime, model, conversations: { folder: `${folder}/conversations` }, cwd: folder });
const conversation = await agent.open(id);
process.stdout.write(`${conversation.id}\n`);
/** So long that a process can be killed in the middle of writing a line. */
const padding = ' '.repeat(100_000);
for (let turn = conversation.messages.length; ; turn++) {
  await conversation.run(`turn ${turn}${padding}`);
  process.stdout.write(`turn ${turn}\n`);
}
