// Owns the proof, with a runtime and a disk, of what a model reads of results: cut by every limit, whole in a file, blobs beside it.

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RuntimeOptions } from '../../src/api.ts';
import { systemPromptFragment } from '../../src/index.ts';
import { createFakeServer, type FakeTool } from '../../src/testing/fake-server.ts';
import { withDefaultStore } from '../runtime.ts';
import { verifies } from '../verifies.ts';
import { createFolder, createRawServer, type Started, start } from './runtimes.ts';

type Entry = NonNullable<RuntimeOptions['servers']>[string];

/** With files of its own, as a host has it that says nothing about them. */
function onDisk(
  servers: Record<string, Entry>,
  options: RuntimeOptions = {},
  folder = createFolder(),
): Promise<Started> {
  return start(folder, { env: {}, servers, ...options, ...withDefaultStore });
}

const serving = (tools: Record<string, FakeTool>) => createFakeServer(tools).entry;
const words = (count: number) => 'word '.repeat(count);

verifies('OUT-06', 'the whole of what was cut is in a private file that the notice names', async () => {
  const folder = createFolder();
  const runtime = await onDisk({ files: serving({ long: { run: () => words(20_000) } }) }, {}, folder);
  const { text, truncated } = await runtime.turn().call('mcp__files__long');
  const file = truncated?.file ?? '';
  expect(truncated).toEqual({ totalChars: 100_000, keptChars: 50_000, file });
  expect(text).toContain(`[... 50000 of 100000 characters left out; the whole text is in ${file} ...]`);
  expect(readFileSync(file, 'utf8')).toBe(words(20_000));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(file.startsWith(folder)).toBe(true);
});

verifies('OUT-06', 'a folder that cannot be written to costs the file and nothing else', async () => {
  const folder = createFolder();
  writeFileSync(join(folder, 'blocked'), '');
  const env = { XDG_CACHE_HOME: join(folder, 'blocked') };
  const runtime = await onDisk({ files: serving({ long: { run: () => words(20_000) } }) }, { env }, folder);
  const { text, truncated, isError } = await runtime.turn().call('mcp__files__long');
  expect([truncated, isError]).toEqual([{ totalChars: 100_000, keptChars: 50_000 }, false]);
  expect(text).toContain('the whole text could not be kept: a part of its path is not a folder ...]');
});

verifies('OUT-06', 'tokens count as well: by default, by MAX_MCP_OUTPUT_TOKENS, by server and by tool', async () => {
  const run = () => '字'.repeat(45_000);
  const tools = { talk: { run }, more: { run } };
  const kept = async (entry: Partial<Entry>, env = {}) => {
    const runtime = await onDisk({ files: { ...serving(tools), ...entry } as Entry }, { env });
    const { call } = runtime.turn();
    const [talk, more] = await Promise.all([call('mcp__files__talk'), call('mcp__files__more')]);
    return [talk.truncated?.keptChars, more.truncated?.keptChars];
  };
  const within = (tokens: number) => Math.floor((tokens * 0.75) / 0.7) + Math.floor((tokens * 0.25) / 0.7);
  const near = (tokens: number) => expect.closeTo(within(tokens), -1);
  expect(await kept({})).toEqual([near(25_000), near(25_000)]);
  expect(await kept({}, { MAX_MCP_OUTPUT_TOKENS: '1000' })).toEqual([near(1_000), near(1_000)]);
  expect(await kept({ maxResultTokens: 2_000 }, { MAX_MCP_OUTPUT_TOKENS: '1000' })).toEqual([near(2_000), near(2_000)]);
  expect(await kept({ tools: { more: { maxResultTokens: 100 }, talk: { maxResultChars: 10 } } })).toEqual([
    10,
    near(100),
  ]);
});

verifies('OUT-06', 'a tool may ask for more where its hints are trusted', async () => {
  const wants = { _meta: { 'anthropic/maxResultSizeChars': 150_000 }, run: () => words(40_000) } as FakeTool;
  const runtime = await onDisk({
    trusted: { ...serving({ wants }), trustHints: true },
    stranger: serving({ wants }),
  });
  const { call } = runtime.turn();
  expect((await call('mcp__trusted__wants')).truncated?.keptChars).toBe(150_000);
  expect((await call('mcp__stranger__wants')).truncated?.keptChars).toBe(50_000);
});

verifies(['RES-06', 'OUT-02'], 'a blob that a model reads is a file that the text names', async () => {
  const blob = Buffer.from([0, 255, 10, 13]).toString('base64');
  const server = createRawServer(
    { resources: {} },
    {
      'resources/list': () => ({ resources: [{ uri: 'pic:a', name: 'a' }] }),
      'resources/read': () => ({ contents: [{ uri: 'pic:a', mimeType: 'image/png', blob }] }),
    },
  );
  const runtime = await onDisk({ pictures: server.entry });
  await runtime.resources.list();
  const { text, attachments } = await runtime.turn().call('ReadMcpResource', { uri: 'pic:a', server: 'pictures' });
  const { file = '', data } = attachments[0] ?? {};
  expect(text).toContain(`[resource image/png pic:a 4 bytes saved to ${file}]`);
  expect([[...readFileSync(file)], data]).toEqual([[0, 255, 10, 13], blob]);
});

verifies('OUT-02', 'a view of a model that can see gets images without files, one that cannot gets files', async () => {
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
  const runtime = await onDisk({ camera: serving({ look: { run: () => ({ content: [image] }) } }) });
  const look = async (vision: boolean) => {
    const view = await runtime.view({ model: { vision } });
    return (await view.turn().call('mcp__camera__look')).attachments;
  };
  expect(await look(true)).toEqual([{ kind: 'image', mimeType: 'image/png', size: 3, data: 'AAAA' }]);
  const [{ file = '', ...rest } = {}] = await look(false);
  expect([rest, existsSync(file)]).toEqual([{ kind: 'image', mimeType: 'image/png', size: 3, data: 'AAAA' }, true]);
});

test('a host that keeps its own memory has no files of ours', async () => {
  const folder = createFolder();
  const runtime = await start(folder, { servers: { files: serving({ long: { run: () => words(20_000) } }) } });
  expect((await runtime.turn().call('mcp__files__long')).truncated).toEqual({ totalChars: 100_000, keptChars: 50_000 });
});

verifies('OUT-11', 'the system prompt begins with what the mark means, before any word of a server', async () => {
  const about = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'f', version: '1' } };
  const { entry } = createRawServer({}, { initialize: () => ({ ...about, instructions: 'Read first.' }) });
  for (const wrap of [true, false]) {
    const settings = { name: 'test', scope: 'host', read: () => ({ plexus: { results: { wrap } } }) } as const;
    const runtime = await onDisk({ files: entry }, { extraSources: [settings] });
    const { systemPrompt } = runtime.turn();
    expect(systemPrompt.startsWith(`${systemPromptFragment({ wrap })}\n\n`), systemPrompt).toBe(true);
    expect(systemPrompt).toContain('Read first.');
  }
});
