// Owns the proof that questions in everyday words find tools that are described in technical ones, on a made-up fleet.

import { expect, test } from 'vitest';
import { type Findable, ToolIndex } from '../../../../src/catalog/search/tool-index.ts';
import { verifies } from '../../../verifies.ts';
import fleet from './everyday-fleet.json' with { type: 'json' };

const index = new ToolIndex();
for (const { server, tools } of fleet) {
  const findable: readonly Findable[] = tools.map((tool) => ({ inputSchema: {}, ...tool, key: tool.name, server }));
  index.replace(server, findable);
}
const ranked = (query: string) => index.search(query, { limit: 50 }).map(({ key }) => key);

test.each([
  ['take back what I committed', 'vcs_reset'],
  ['which branches do we have', 'vcs_branches'],
  ['what happened to the code lately', 'vcs_log'],
  ['how many services are running', 'cluster_get'],
  ['bring the ticket over to the next column', 'move_card'],
  ['leave a remark on the card', 'add_comment'],
  ['keep in mind that my wife likes tulips', 'add_observations'],
  ['which tables are in the database', 'list_tables'],
  ['write a mail to the landlord', 'send_email'],
  ['throw that mail into the bin', 'trash_message'],
  ['switch the lamp off', 'set_device_state'],
  ['is the lamp on', 'get_device_state'],
  ['peek into /etc/app/settings.ini', 'read_file'],
  ['get back the file that I deleted', 'restore_file'],
  ['let my colleague see the file', 'share_file'],
  ['how far is it to the sea', 'distance_matrix'],
])('%s: %s is among the first three', (query, expected) => expect(ranked(query).slice(0, 3)).toContain(expected));

const destroying = [
  'vcs_reset',
  'vcs_branch_delete',
  'cluster_delete',
  'delete_entities',
  'drop_database',
  'delete_file',
];
const reading = [
  'vcs_log',
  'vcs_branches',
  'cluster_get',
  'get_card',
  'search_entities',
  'list_tables',
  'list_messages',
];

verifies('SRC-06', 'questions in everyday words that only read show what destroys after all that reads', () => {
  const questions = ['show me the tables of my database', 'which branches are there', 'what do you know of my wife'];
  for (const question of [...questions, 'how many pods are running', 'is there a file about taxes']) {
    const order = ranked(question);
    const first = order.findIndex((name) => destroying.includes(name));
    expect(first < 0 ? [] : order.slice(first).filter((name) => reading.includes(name)), question).toEqual([]);
  }
});
