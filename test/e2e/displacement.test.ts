// Owns the proof that a repository cannot take the name of a person's own server: with the library and with the command line,
// against real servers.

import { afterEach, beforeEach, expect } from 'vitest';
import { stateFolder } from '../../src/config/scopes.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createFileStore } from '../../src/store/file.ts';
import type { ApprovalRequest } from '../../src/trust/approval.ts';
import { faulty } from '../servers/faulty.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { start, statusOf, textOf } from './runtimes.ts';
import { serveMcp } from './web.ts';

let box: Sandbox;
beforeEach(() => {
  box = new Sandbox();
});
afterEach(() => box.remove());

const USER = '~/.config/plexus/mcp.json';
const options = () => ({ discover: true, watch: false, home: box.home, store: storeOf(box) });
const storeOf = ({ home }: Sandbox) =>
  createFileStore(stateFolder({ home, env: {}, platform: process.platform }), systemClock);
const allow = { permissions: { rules: [{ tool: 'mcp__*', action: 'allow' }] } };

verifies(
  ['CFG-02', 'TRU-02'],
  'an unapproved remote entry gets nothing of what was meant for the person’s own server of that name',
  async () => {
    const [own, theirs] = [await serveMcp(), await serveMcp()];
    box.write(USER, { mcpServers: { notes: { type: 'http', url: own.url } }, ...allow });
    box.write('.mcp.json', { mcpServers: { notes: { type: 'http', url: theirs.url } } });
    const called = await box.plexus('call', 'notes', 'echo', 'text=secret plan');
    expect([called.code, called.out.trim()]).toEqual([0, 'done']);
    expect(JSON.stringify(own.received)).toContain('secret plan');
    expect(theirs.received).toEqual([]);

    const listed = await box.plexus('list');
    expect(listed.out).toContain('If you trust it, approve it with: plexus approve notes');
    expect((await box.plexus('config', 'why', 'notes')).out).toContain('approve it with: plexus approve notes');

    const approved = await box.plexus('approve', 'notes');
    expect(approved.out).toContain(`"notes" is approved. It is at: ${theirs.url}`);
    expect(approved.out).toContain(`It replaces your own server of that name, in ${box.path(USER)}.`);
    expect((await box.json('list')).servers).toMatchObject([{ name: 'notes', scope: 'project' }]);
    expect((await box.plexus('list')).out).not.toContain('plexus approve notes');
    await box.plexus('revoke', 'notes');
    expect((await box.json('list')).servers).toMatchObject([{ name: 'notes', scope: 'user' }]);
  },
);

verifies(
  ['CFG-02', 'TRU-01'],
  'a local entry of the workspace neither asks nor displaces before its approval, and does both at the next reload',
  async () => {
    box.write(USER, { mcpServers: { notes: faulty('--tools', '1') } });
    box.write('.mcp.json', { mcpServers: { notes: faulty('--tools', '2') } });
    const asked: ApprovalRequest[] = [];
    const approve = async (request: ApprovalRequest) => {
      asked.push(request);
      return 'once' as const;
    };
    const runtime = await start(box.workspace, { ...options(), approve });
    expect([asked, statusOf(runtime, 'notes')]).toMatchObject([[], { scope: 'user', state: 'connected' }]);
    expect(runtime.events).toContainEqual({
      type: 'config.server-shadowed',
      server: 'notes',
      file: box.path('.mcp.json'),
      by: box.path(USER),
    });
    await box.plexus('approve', 'notes');
    await runtime.reload();
    await runtime.ready();
    expect([asked, statusOf(runtime, 'notes')]).toMatchObject([[], { scope: 'project', state: 'connected' }]);
    expect(textOf(await runtime.turn().call('mcp__notes__echo', { text: 'x' }))).toBe('x');
  },
);

verifies('CFG-13', 'an unapproved entry still switches the person’s server off, which is told', async () => {
  box.write(USER, { mcpServers: { notes: faulty() } });
  box.write('.mcp.json', { mcpServers: { notes: { url: 'https://theirs.example', enabled: false } } });
  const { servers, diagnostics } = await box.json('list');
  expect(servers).toMatchObject([{ name: 'notes', scope: 'user', state: 'disabled' }]);
  expect(servers[0].error.message).toContain(`${box.path('.mcp.json')} switches it off`);
  expect(diagnostics).toMatchObject([{ code: 'SERVER_DENIED', server: 'notes', file: box.path('.mcp.json') }]);
  box.write(USER, { mcpServers: { notes: faulty() }, plexus: { enabled_servers: ['notes'] } });
  expect((await box.json('list')).servers).toMatchObject([{ name: 'notes', scope: 'user', state: 'connected' }]);
});

verifies(
  'CFG-02',
  'what a person adds to the workspace is approved with it, also over a server of their own',
  async () => {
    box.write(USER, { mcpServers: { notes: faulty('--tools', '1') } });
    const { command, args } = faulty('--tools', '2');
    const { out } = await box.plexus('add', 'notes', '--json', '--scope', 'project', '--', command, ...args);
    const added = JSON.parse(out);
    expect(added).toMatchObject({ inUse: true, diagnostics: [], approval: { approved: true } });
    expect((await box.json('list')).servers).toMatchObject([{ name: 'notes', scope: 'project', state: 'connected' }]);
  },
);

verifies(
  ['CFG-02', 'CFG-17'],
  'an entry of the workspace that cannot be judged, required or under the name of one’s own, stops no start',
  async () => {
    const chain = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`V${at}`, `\${V${at + 1}}`]));
    const endless = { ...faulty(), env: chain, required: true };
    box.write(USER, { mcpServers: { mine: faulty() } });
    box.write('.mcp.json', { mcpServers: { mine: endless, other: endless } });
    const runtime = await start(box.workspace, options());
    expect([statusOf(runtime, 'mine').state, statusOf(runtime, 'mine').scope]).toEqual(['connected', 'user']);
    expect((await box.plexus('list')).code).toBe(0);
  },
);

verifies('CFG-02', 'an entry of the workspace takes nothing from an imported server that is the same', async () => {
  const web = await serveMcp();
  box.write(USER, { plexus: { import: ['cursor'] } });
  box.write('~/.cursor/mcp.json', { mcpServers: { notes: { url: web.url } } });
  box.write('.mcp.json', { mcpServers: { other: { url: web.url } } });
  const { servers } = await box.json('list');
  expect(servers).toMatchObject([{ name: 'notes' }, { name: 'other' }]);
});
