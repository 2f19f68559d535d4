// Owns the proof that profiles, rules and approvals hold at the gateway.

import { describe, expect, onTestFinished, test } from 'vitest';
import { type Access, WORKSPACE_HEADER } from '../../../src/gateway/access.ts';
import { openProfile, type Profile, seesTool, viewPatterns } from '../../../src/gateway/profiles.ts';
import { RouteService } from '../../../src/gateway/route-service.ts';
import { RoundSeal } from '../../../src/gateway/state-of-round.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { HostRule } from '../../../src/policy/host-rules.ts';
import { createFolder, createRawServer, start } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { toolOf } from '../call/stages.ts';
import { type Fronted, front } from './fronted.ts';

const tools = [
  { name: 'read', inputSchema: { type: 'object' } },
  { name: 'remove', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } },
];

const server = () =>
  createRawServer(
    { tools: {}, resources: {}, prompts: {} },
    {
      'tools/list': () => ({ tools }),
      'resources/list': () => ({ resources: [{ uri: 'note://1', name: 'note' }] }),
      'resources/templates/list': () => ({ resourceTemplates: [] }),
      'resources/read': () => ({ contents: [{ uri: 'note://1', text: 'noted' }] }),
      'prompts/list': () => ({ prompts: [{ name: 'hello' }] }),
      'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }] }),
    },
  );

const profile = (over: Partial<Omit<Profile, 'name'>>): Omit<Profile, 'name'> => ({ ...openProfile, ...over });

const frontWith = (profiles: Record<string, Omit<Profile, 'name'>>, permissions: readonly HostRule[] = []) => {
  const [a, b] = [server(), server()];
  const fronted = front({ a: a.entry, b: b.entry }, { profiles, runtime: { permissions } });
  return fronted.then((opened) => ({ ...opened, a, b }));
};

const namesIn = async (fronted: Fronted, path: string, method: string, key: string, name = 'name') => {
  const { message } = await fronted.modern(path, method);
  return ((message['result'] as JsonObject)[key] as JsonObject[]).map((each) => each[name]);
};

describe('a profile', () => {
  verifies('EXT-33', 'covers tools, resources and prompts alike, at its own address', async () => {
    const fronted = await frontWith({ few: profile({ servers: ['a'], tools: ['*__read'] }) });
    expect(await namesIn(fronted, '/mcp/p/few', 'tools/list', 'tools')).toEqual(['a__read', 'plexus_status']);
    expect(await namesIn(fronted, '/mcp/p/few', 'prompts/list', 'prompts')).toEqual(['a__hello']);
    expect(await namesIn(fronted, '/mcp/p/few', 'resources/list', 'resources', 'uri')).toEqual(['note://1']);
    expect(await namesIn(fronted, '/mcp', 'resources/list', 'resources', 'uri')).toEqual([
      'plexus://a/note://1',
      'plexus://b/note://1',
    ]);
    const denied = await fronted.modern('/mcp/p/few', 'tools/call', { name: 'b__read', arguments: {} });
    expect(denied.message['error']).toMatchObject({ code: -32602, message: 'Unknown tool: b__read' });
    const prompt = await fronted.modern('/mcp/p/few', 'prompts/get', { name: 'b__hello' });
    expect(prompt.message['error']).toMatchObject({ code: -32602 });
    const owned = await fronted.modern('/mcp/p/few', 'resources/read', { uri: 'plexus://b/note://1' });
    expect(owned.message['error'], 'another profile says whose it is').toBeDefined();
    expect(fronted.b.received('resources/read')).toEqual([]);
    expect((await fronted.modern('/mcp/p/none', 'tools/list')).status).toBe(404);
  });

  test('a server that the default profile hides has no address of its own', async () => {
    const fronted = await frontWith({ default: profile({ servers: ['a'] }) });
    const statuses = await Promise.all(
      ['a', 'b'].map((name) => fronted.modern(`/mcp/s/${name}`, 'resources/read', { uri: 'note://1' })),
    );
    expect(statuses.map(({ status }) => status)).toEqual([200, 404]);
    expect(fronted.b.received('resources/read')).toEqual([]);
  });

  test('a resource that two servers have is read from the one that its uri names', async () => {
    const fronted = await frontWith({});
    const { message } = await fronted.modern('/mcp', 'resources/read', { uri: 'plexus://b/note://1' });
    expect(message['result']).toMatchObject({ contents: [{ uri: 'plexus://b/note://1', text: 'noted' }] });
    expect([fronted.a, fronted.b].map((each) => each.received('resources/read').length)).toEqual([0, 1]);
  });

  test('shaped, it gives what a model of Plexus reads', async () => {
    const fronted = await frontWith({ agents: profile({ shaping: 'shaped' }) });
    const { message } = await fronted.modern('/mcp/p/agents', 'tools/call', { name: 'a__read', arguments: {} });
    expect(message['result']).toMatchObject({
      content: [{ type: 'text', text: expect.stringMatching(/\n.*done.*\n/s) }],
    });
  });

  test('search in place of all tools: rules speak of the tool that is called', async () => {
    const deny = [{ tool: 'mcp__a__remove', action: 'deny' as const }];
    const fronted = await frontWith({ default: profile({ expose: 'search' }) }, deny);
    expect(await namesIn(fronted, '/mcp', 'tools/list', 'tools')).toEqual(['mcp_search', 'mcp_call', 'plexus_status']);
    const call = async (name: string) => {
      const args = { name: `mcp__a__${name}`, arguments: {} };
      return (await fronted.modern('/mcp', 'tools/call', { name: 'mcp_call', arguments: args })).message['result'];
    };
    expect(await call('read')).toMatchObject({ content: [{ text: 'done' }] });
    expect(await call('remove')).toMatchObject({ isError: true, _meta: { 'plexus/error': { code: 'CALL_DENIED' } } });
    expect(fronted.a.received('tools/call')).toHaveLength(1);
  });

  test('its patterns are those of a view', () => {
    const few = { ...openProfile, servers: ['a*'], tools: ['*__read'] };
    expect(viewPatterns(few)).toEqual([['mcp__a*__*'], ['mcp__*__read']]);
    expect(
      [
        { server: 'ab', tool: 'read' },
        { server: 'b', tool: 'read' },
        { server: 'a', tool: 'x' },
        { server: 'a', tool: 'x__read' },
      ].map((id) => seesTool(few, { ...toolOf(id.server, id.tool), id })),
    ).toEqual([true, false, false, false]);
  });
});

const able = { elicitation: { form: {} } };
const agree = (decision: string) => () => ({ result: { action: 'accept', content: { decision } } });

describe('approval', () => {
  const call = (name: string) => ({ name, arguments: {} });

  test("client: the client's own counts where no rule matches, but for a destructive tool", async () => {
    const fronted = await frontWith({});
    const session = await fronted.open('/mcp');
    const read = await session.request('tools/call', call('a__read'));
    expect(read.message['result']).toMatchObject({ content: [{ text: 'done' }] });
    const remove = await session.request('tools/call', call('a__remove'));
    expect(remove.message['result']).toMatchObject({
      isError: true,
      // An approval counts in one folder: that of the servers of this client.
      content: [{ text: expect.stringMatching(/plexus approve a remove --cwd \/\S+$/) }],
    });
    expect(fronted.a.received('tools/call')).toHaveLength(1);
  });

  test('a client that can be asked is: once, or for its session, and no other client has agreed', async () => {
    const fronted = await frontWith({});
    const session = await fronted.open('/mcp', { capabilities: able });
    const asked: JsonObject[] = [];
    const answering = (decision: string) =>
      session.answering('tools/call', call('a__remove'), (question) => {
        asked.push(question);
        return agree(decision)();
      });
    expect(await answering('once')).toMatchObject({ result: { content: [{ text: 'done' }] } });
    expect(await answering('session')).toMatchObject({ result: { content: [{ text: 'done' }] } });
    expect(await answering('never asked')).toMatchObject({ result: { content: [{ text: 'done' }] } });
    expect(asked).toHaveLength(2);
    const other = await fronted.open('/mcp', { capabilities: able });
    expect(await other.answering('tools/call', call('a__remove'), agree('no'))).toMatchObject({
      result: { isError: true },
    });
    expect(fronted.a.received('tools/call')).toHaveLength(3);
  });

  test('a modern client is asked within its call', async () => {
    const fronted = await frontWith({});
    const first = await fronted.modern('/mcp', 'tools/call', call('a__remove'), { capabilities: able });
    const { resultType, inputRequests, requestState } = first.message['result'] as JsonObject;
    const [question = '', ...others] = Object.keys(inputRequests as object);
    expect([resultType, question, others]).toEqual(['input_required', expect.stringMatching(/^plexus-approval-/), []]);
    const inputResponses = { [question]: agree('once')().result };
    const retried = { ...call('a__remove'), requestState, inputResponses };
    const { message } = await fronted.modern('/mcp', 'tools/call', retried, { capabilities: able });
    expect(message['result']).toMatchObject({ content: [{ text: 'done' }] });
  });

  test('plexus: whatever no rule allows is asked about; an ask rule asks in any case', async () => {
    const strict = await frontWith({ default: profile({ approval: 'plexus' }) });
    const refused = await strict.modern('/mcp', 'tools/call', call('a__read'));
    expect(refused.message['result']).toMatchObject({ _meta: { 'plexus/error': { code: 'APPROVAL_REFUSED' } } });
    const asking = await frontWith({}, [{ tool: 'mcp__a__read', action: 'ask' }]);
    const asked = await asking.modern('/mcp', 'tools/call', call('a__read'));
    expect(asked.message['result']).toMatchObject({ _meta: { 'plexus/error': { code: 'APPROVAL_REFUSED' } } });
    const allowed = await asking.modern('/mcp', 'tools/call', call('b__read'));
    expect(allowed.message['result']).toMatchObject({ content: [{ text: 'done' }] });
  });
});

test('a token that is bound to a profile is refused on every other route', async () => {
  const [a] = [server()];
  const fronted = await front(
    { a: a.entry },
    {
      profiles: { few: profile({}) },
      authenticate: () => ({ id: 'bound', details: { profile: 'few' } }),
    },
  );
  expect((await fronted.modern('/mcp/p/few', 'tools/list')).status).toBe(200);
  // Whether there is such a server or profile is not told.
  const paths = ['/mcp', '/mcp/s/a', '/mcp/s/none', '/mcp/p/none'];
  const refused = await Promise.all(paths.map((path) => fronted.modern(path, 'tools/list')));
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  expect(new Set(refused.map(({ body }) => body)).size).toBe(1);
});

test('too many calls that wait for one server are refused before they are handed on', async () => {
  const hanging = createRawServer({ tools: {} });
  const fronted = await front({ s: hanging.entry }, { limits: { queuedCalls: 0 } });
  onTestFinished(() => hanging.crash());
  const { status, message } = await fronted.modern('/mcp/s/s', 'tools/call', { name: 'echo', arguments: {} });
  expect([status, message['error']?.['code']]).toEqual([429, -32000]);
  expect(hanging.received('tools/call')).toEqual([]);
});

test('calls that wait for a server of one workspace take no place of another, whose server of that name is another process', async () => {
  const folders = [createFolder(), createFolder()] as const;
  const servers = { s: createRawServer({ tools: {} }).entry };
  const permissions = [{ tool: 'mcp__s__echo', action: 'ask' as const }];
  const openWorkspace = (cwd: string) => start(cwd, { servers, ...(cwd === folders[0] && { permissions }) });
  const authenticate = () => ({ id: 'connect', details: { mayNameWorkspace: true } satisfies Access });
  const fronted = await front({}, { openWorkspace, authenticate, limits: { queuedCalls: 1 } });
  const callIn = (folder: string) =>
    fronted.modern(
      '/mcp',
      'tools/call',
      { name: 's__echo', arguments: {} },
      {
        capabilities: able,
        headers: { [WORKSPACE_HEADER]: encodeURIComponent(folder) },
      },
    );
  expect((await callIn(folders[0])).message['result'], 'it waits for its approval').toMatchObject({
    resultType: 'input_required',
  });
  expect((await callIn(folders[0])).status).toBe(429);
  expect((await callIn(folders[1])).message['result']).toMatchObject({ content: [{ text: 'done' }] });
  expect(fronted.gateway.measures().servers.get('s')?.queued).toBe(1);
});

test('a route keeps states that were sealed for it, and leaves others to the serving side', () => {
  const seal = new RoundSeal({ clock: systemClock });
  const { keepsRequestState } = new RouteService({ route: {}, seal } as never);
  const served = { method: 'tools/call', params: {}, peer: { principal: { id: 'own' } } } as never;
  const place = { path: '/mcp', server: 'a' };
  expect(['p1.x', undefined, seal.seal(served, place, {})].map(keepsRequestState)).toEqual([...[false, false, true]]);
});
