// Owns the proof that tools are called by every name they may have, offered as their entry says, and found by their own name.

import { expect, test } from 'vitest';
import type { RuntimeOptions } from '../../src/api.ts';
import { verifies } from '../verifies.ts';
import { createFolder, createRawServer, start, statusOf } from './runtimes.ts';

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const offering = (...tools: readonly object[]) => createRawServer({ tools: {} }, { 'tools/list': () => ({ tools }) });

const startWith = (servers: NonNullable<RuntimeOptions['servers']>, plexus: object = {}, more: RuntimeOptions = {}) =>
  start(createFolder(), {
    servers,
    ...more,
    extraSources: [{ name: 'test', scope: 'host', read: () => ({ plexus }) }],
  });

const namesOf = (runtime: { getTools(): readonly { readonly name: string }[] }) =>
  runtime.getTools().map(({ name }) => name);

const styles = {
  canonical: ['mcp__files__read', 'mcp__web__fetch', 'mcp__web__read'],
  compact: ['mcp__files_read', 'mcp__web_fetch', 'mcp__web_read'],
  single: ['mcp_files_read', 'mcp_web_fetch', 'mcp_web_read'],
};

for (const [naming, names] of Object.entries(styles)) {
  verifies('NAM-01', `${naming} names are given where that is set, and all others understood`, async () => {
    const [files, web] = [offering(tool('read')), offering(tool('read'), tool('fetch'))];
    const runtime = await startWith({ files: files.entry, web: web.entry }, { naming });
    expect(namesOf(runtime)).toEqual(names);
    const turn = runtime.turn();
    const meant = ['files read', 'web fetch', 'web read'];
    const spelled = Object.values(styles).flatMap((each) => each.map((name, at) => [name, meant[at]]));
    const others = [
      ['files.read', 'files read'],
      ['web/read', 'web read'],
      ['fetch', 'web fetch'],
      ['MCP__Web__Fetch', 'web fetch'],
    ];
    for (const [name = '', target] of [...spelled, ...others]) {
      const { meta } = await turn.call(name);
      expect([`${meta.server} ${meta.tool}`, whose(turn.find(name))], name).toEqual([target, target]);
    }
    await expect(turn.call('read'), 'two are called so').rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
    expect(files.received('tools/call')[0]).toMatchObject({ params: { name: 'read' } });
  });
}

verifies('NAM-01', 'without a setting a tool is called mcp__server__tool', async () => {
  const runtime = await start(createFolder(), { servers: { files: offering(tool('read_file')).entry } });
  expect(namesOf(runtime)).toEqual(['mcp__files__read_file']);
});

const whose = (found: { readonly id: { readonly server: string; readonly tool: string } } | undefined) =>
  `${found?.id.server} ${found?.id.tool}`;

type Spell = (server: string, tool: string) => string;

/** Calls by this spelling reach their tool; one that two tools could have reaches neither. */
async function expectCalls(spell: Spell) {
  const twins = { a: offering(tool('b_c')).entry, a_b: offering(tool('c')).entry };
  const files = offering(tool('read'), tool('write'));
  const { call } = (await startWith({ ...twins, files: files.entry })).turn();
  expect((await call(spell('files', 'write'))).meta).toMatchObject({ server: 'files', tool: 'write' });
  expect(files.received('tools/call')).toMatchObject([{ params: { name: 'write' } }]);
  await expect(call(spell('a', 'b_c'))).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
}

/** A rule in this spelling is about its tool; of two that it could mean it allows neither and denies both. */
async function expectRules(spell: Spell) {
  const servers = {
    ...{ a: offering(tool('b_c')).entry, a_b: offering(tool('c')).entry },
    files: offering(tool('read'), tool('write')).entry,
  };
  const names = ['mcp__files__read', 'mcp__files__write', 'mcp__a__b_c', 'mcp__a_b__c'];
  const passing = async (...permissions: NonNullable<RuntimeOptions['permissions']>) => {
    const { call } = (await startWith(servers, {}, { permissions })).turn();
    const ends = names.map((name) =>
      call(name).then(
        () => [name],
        () => [],
      ),
    );
    return (await Promise.all(ends)).flat();
  };
  const everything = { tool: 'mcp__*', action: 'allow' } as const;
  expect(await passing({ tool: spell('files', 'read'), action: 'allow' })).toEqual(['mcp__files__read']);
  expect(await passing(everything, { tool: spell('files', 'read'), action: 'deny' })).toEqual(names.slice(1));
  expect(await passing({ tool: spell('a', 'b_c'), action: 'allow' })).toEqual([]);
  expect(await passing(everything, { tool: spell('a', 'b_c'), action: 'deny' })).toEqual(names.slice(0, 2));
}

const compact: Spell = (server, name) => `mcp__${server}_${name}`;
const single: Spell = (server, name) => `mcp_${server}_${name}`;

verifies('NAM-02', 'mcp__server_tool reaches the one tool that it can mean', () => expectCalls(compact));
verifies('NAM-02', 'mcp__server_tool in a rule is about the one tool that it can mean', () => expectRules(compact));
verifies('NAM-03', 'mcp_server_tool reaches the one tool that it can mean', () => expectCalls(single));
verifies('NAM-03', 'mcp_server_tool in a rule is about the one tool that it can mean', () => expectRules(single));

verifies(['NAM-01', 'NAM-08'], 'bare names carry a hash where two tools would share one', async () => {
  const runtime = await startWith(
    { files: offering(tool('read'), tool('write')).entry, web: offering(tool('read')).entry },
    { naming: 'bare' },
  );
  const names = namesOf(runtime);
  expect(names).toEqual([expect.stringMatching(/^read_[0-9a-f]{10}$/), expect.stringMatching(/^read_/), 'write']);
  expect(runtime.findByToolName('read')).toEqual([
    { server: 'files', tool: 'read', name: expect.stringMatching(/^read_/) },
    { server: 'web', tool: 'read', name: expect.stringMatching(/^read_/) },
  ]);
  expect(runtime.findByToolName('nobody')).toEqual([]);
});

verifies('NAM-06', 'a host can ask whether a name is ours before it calls', async () => {
  const runtime = await startWith({ files: offering(tool('read')).entry });
  const { find } = runtime.turn();
  expect(
    ['mcp__files__read', 'files.read', 'mcp__files__write', 'Bash', '__proto__', ''].map((name) => find(name)?.name),
  ).toEqual(['mcp__files__read', 'mcp__files__read', undefined, undefined, undefined, undefined]);
});

verifies('NAM-07', 'no tool of a server takes the name of one of our own', async () => {
  const runtime = await startWith(
    { files: offering(tool('mcp_search'), tool('ReadMcpResource')).entry },
    { naming: 'bare' },
  );
  expect(namesOf(runtime)).toEqual([
    expect.stringMatching(/^ReadMcpResource_[0-9a-f]{10}$/),
    expect.stringMatching(/^mcp_search_[0-9a-f]{10}$/),
  ]);
});

verifies(['NAM-10', 'NAM-11'], 'an entry filters its tools in three ways, and the status counts both', async () => {
  const tools = ['read_a', 'read_b', 'write', 'drop'].map((name) => tool(name));
  const filters = {
    enabledTools: [{ enabledTools: ['read_*'] }, ['read_a', 'read_b']],
    disabledTools: [{ enabledTools: ['read_*'], disabledTools: ['*_b'] }, ['read_a']],
    tools: [{ tools: { drop: { enabled: false }, 'read_*': false } }, ['write']],
  } as const;
  for (const [form, [entry, seen]] of Object.entries(filters)) {
    const runtime = await startWith({ files: { ...offering(...tools).entry, ...entry } as never });
    expect(namesOf(runtime), form).toEqual(seen.map((name) => `mcp__files__${name}`));
    expect(statusOf(runtime, 'files'), form).toMatchObject({ toolCount: seen.length, toolsOffered: 4 });
    await expect(runtime.turn().call('mcp__files__drop'), form).rejects.toMatchObject({
      ...{ code: 'TOOL_UNKNOWN', message: expect.stringContaining('the tool filters of server "files" hide it') },
    });
  }
});

verifies(
  ['NAM-13', 'NAM-14'],
  'a prefix says whose tool it is, and what is known about a tool is beside it',
  async () => {
    const more = {
      title: 'Read',
      description: 'Reads.',
      annotations: { readOnlyHint: true },
      _meta: { category: 'io', tags: ['a'], version: '2' },
    };
    const runtime = await startWith(
      { files: offering(tool('read', more)).entry },
      { descriptionPrefix: '[MCP: {server}] ' },
    );
    expect(runtime.turn().tools[0]).toMatchObject({
      description: '[MCP: files] Reads.',
      meta: {
        server: 'files',
        title: 'Read',
        category: 'io',
        tags: ['a'],
        version: '2',
        annotations: { readOnlyHint: true },
      },
    });
  },
);

test('a rule in another spelling means the same tool', async () => {
  const server = offering(tool('read'), tool('write'));
  const runtime = await startWith(
    { files: server.entry },
    {},
    {
      permissions: [
        { tool: 'files.read', action: 'allow' },
        { tool: 'mcp__files_write', action: 'deny' },
      ],
    },
  );
  expect((await runtime.turn().call('files/read')).isError).toBe(false);
  await expect(runtime.turn().call('mcp__files__write')).rejects.toMatchObject({ code: 'CALL_DENIED' });
});
