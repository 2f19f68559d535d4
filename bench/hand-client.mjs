// Owns the limit: the least that can be done over the same pipes and sockets. Framing, ids, JSON, one write a tick –
// no checks, no timeouts, no errors. Not for use: it marks the speed that no client can beat by much.

import { openEach } from './open-each.mjs';

/** Only what the servers need is loaded, as in a program that was written for them. */
export const open = (servers, awaited) => openEach(openOne, servers, awaited);

async function openOne(entry) {
  const { connect } = await (entry.url === undefined ? import('./hand-pipes.mjs') : import('./hand-http.mjs'));
  const { request, notify, close } = await connect(entry);
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  });
  notify('notifications/initialized');
  const { tools } = await request('tools/list', {});
  return {
    tools: tools.length,
    call: async (args) => (await request('tools/call', { name: 'echo', arguments: args })).content[0].text,
    close,
  };
}
