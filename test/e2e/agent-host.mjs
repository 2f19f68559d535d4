// Owns a host whose agent answers prompts without end, each kept in a file, and says each one that it acknowledged; its test kills it:
//
//   node agent-host.mjs FOLDER

import { createRuntime } from 'plexus';
import { createAgent } from 'plexus/agent';

const [, , folder] = process.argv;
const runtime = await createRuntime({ discover: false, cwd: folder, home: folder, watch: false });
const model = { name: 'parrot', answer: async ({ messages }) => ({ text: messages.at(-1).text, calls: [] }) };
const agent = createAgent({ runtime, model, conversations: { folder: `${folder}/conversations` }, cwd: folder });
const conversation = await agent.open();
process.stdout.write(`${conversation.id}\n`);
for (let turn = 1; ; turn++) {
  await conversation.run(`turn ${turn}${' '.repeat(20_000)}`);
  process.stdout.write(`turn ${turn}\n`);
}
