// Owns the proof that `plexus/openai-agents` masters every situation with the real package, which declares Node 22.

import { describeWithNewerNode } from './adapter-tests.ts';
import { describeInstalled } from './installed.ts';

const titles = ['an MCP server', 'an MCP server, streaming', 'function tools'];
const further = {
  'an MCP server': ['the list is kept until the tools change'],
  'function tools': [
    'an approval that is given counts for its call alone',
    'a yes to every `mcp_call` is none to the tools that are called with it',
  ],
};

describeInstalled('@openai/agents', () => describeWithNewerNode('openai-agents', '0', titles, further));
