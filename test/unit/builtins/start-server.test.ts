// Owns the proof of which servers a query names, and of what `mcp_start` says where there is nothing to start or to show.

import { expect, test } from 'vitest';
import { createStartTool, startableFor } from '../../../src/builtins/start-server.ts';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import { verifies } from '../../verifies.ts';

const servers = [{ name: 'github', title: 'Issues and pull requests.' }, { name: 'mail' }];

verifies('TRN-09', 'a query names a server by any word of its name or description', () => {
  const named = (query: string) => startableFor(query, servers);
  expect([named('open pull requests'), named('MAIL'), named('a to'), named('')]).toEqual([
    ['github'],
    ['mail'],
    [],
    [],
  ]);
});

test('a started server without tools is told, and nothing is loaded', async () => {
  const asked: string[] = [];
  const sessions = {
    whenReady: async (server: string) => asked.push(`ready ${server}`) as never,
    whenListed: async (server: string) => void asked.push(`listed ${server}`),
  };
  const tool = createStartTool({ servers, sessions, tools: () => [] });
  const context = {
    cancellation: new Cancellation(),
    tools: [],
    load: () => expect.fail('nothing to load'),
    introduce: () => '',
  };
  const answers = [{ server: ' mail ' }, { server: 5 }].map((args) => tool.perform(args as never, context));
  expect(await Promise.all(answers)).toMatchObject([
    { content: [{ text: 'Server "mail" is started and has no tools for you.' }] },
    { isError: true, content: [{ text: expect.stringContaining('github (Issues and pull requests.), mail') }] },
  ]);
  expect(asked).toEqual(['ready mail', 'listed mail']);
});
