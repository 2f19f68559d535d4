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
  verifies(['NAM-01', 'NAM-02', 'NAM-03'], `${naming} names are given, and all others understood`, async () => {
    const [files, web] = [offering(tool('read')), offering(tool('read'), tool('fetch'))];
    const runtime = await startWith({ files: files.entry, web: web.entry }, { naming });
    expect(namesOf(runtime)).toEqual(names);
    const turn = runtime.turn();
    for (const spelled of [...Object.values(styles).flat(), 'files.read', 'web/read', 'fetch', 'MCP__Web__Fetch']) {
      const { meta } = await turn.call(spelled);
      expect([meta.server, meta.tool].join(' '), spelled).toBe(turn.find(spelled) && whose(turn.find(spelled)));
    }
    await expect(turn.call('read'), 'two are called so').rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
    expect(files.received('tools/call')[0]).toMatchObject({ params: { name: 'read' } });
  });
}

const whose = (found: { readonly id: { readonly server: string; readonly tool: string } } | undefined) =>
  `${found?.id.server} ${found?.id.tool}`;

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
