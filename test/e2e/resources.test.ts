// Owns the proof, with real servers of both eras, that resources are listed, read, subscribed to and offered to models, and
// that a server's log is kept.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RuntimeOptions } from '../../src/api.ts';
import { everything } from '../servers/everything.ts';
import { eventually } from '../servers/processes.ts';
import { startSdkWeb } from '../servers/sdk-web.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { createFolder, createRawServer, type Started, start, statusOf } from './runtimes.ts';

const program = fileURLToPath(new URL('../servers/offering.mjs', import.meta.url));
const offering = (...flags: readonly string[]) => ({ command: process.execPath, args: [program, ...flags] });
const eras = ['legacy', 'modern'] as const;

const connect = async (servers: NonNullable<RuntimeOptions['servers']>, options: RuntimeOptions = {}) => {
  const runtime = await start(createFolder(), { servers, ...options });
  await runtime.ready();
  return runtime;
};
const typesOf = ({ events }: Started, type: string) => events.filter((event) => event.type === type);

for (const era of eras)
  describe(`a ${era} server with resources`, () => {
    const connectOne = () => connect({ notes: offering('--era', era) });

    verifies(['RES-01', 'RES-06'], 'has them listed and read, texts and bytes, by uri alone', async () => {
      const runtime = await connectOne();
      expect(statusOf(runtime, 'notes')).toMatchObject({ era });
      const { resources } = await runtime.resources.list();
      expect(resources).toMatchObject([
        { server: 'notes', uri: 'note://1', name: 'one', description: 'A note', mimeType: 'text/plain' },
        { server: 'notes', uri: 'pic://dot', name: 'dot', mimeType: 'image/png' },
      ]);
      expect(await runtime.resources.templates()).toMatchObject([{ uriTemplate: 'note://{id}', name: 'any' }]);
      const contents = async (uri: string) => (await runtime.resources.read(uri)).contents;
      expect(await contents('note://1')).toEqual([{ uri: 'note://1', text: 'The first note\n' }]);
      expect(await contents('note://17')).toMatchObject([{ text: 'Note 17' }]);
      expect(await contents('pic://dot')).toMatchObject([{ mimeType: 'image/png', blob: 'AP8KDQ==' }]);
      await expect(runtime.resources.read('odd://1')).rejects.toMatchObject({ code: 'RESOURCE_UNKNOWN' });
      const found = await runtime.resources.complete('note://{id}', { name: 'id', value: '1' });
      expect(found.values).toEqual(['11', '12']);
    });

    verifies('RES-04', 'tells of changes to who subscribed, also after it crashed', async () => {
      const runtime = await connectOne();
      const heard: string[] = [];
      const stop = await runtime.resources.subscribe('note://1', ({ uri }) => heard.push(uri));
      const touch = (uri: string) => runtime.turn().call('mcp__notes__touch', { uri });
      await touch('note://2');
      await touch('note://1');
      await eventually(() => heard.length === 1);
      await runtime
        .turn()
        .call('mcp__notes__crash')
        .catch(() => undefined);
      await eventually(() => typesOf(runtime, 'connection.changed').length >= 4);
      await runtime.ready();
      await eventually(() => heard.length === 2);
      await touch('note://1');
      await eventually(() => heard.length === 3);
      expect(typesOf(runtime, 'resource.updated')).toHaveLength(3);
      await stop();
      await touch('note://1');
      await runtime.close();
      expect(heard).toEqual(['note://1', 'note://1', 'note://1']);
    });

    verifies('RES-08', 'is listed again when it says that its list has changed', async () => {
      const runtime = await connectOne();
      await runtime.resources.list();
      await runtime.turn().call('mcp__notes__grow');
      await eventually(() => typesOf(runtime, 'resources.changed').length === 2);
      expect((await runtime.resources.list()).resources.map(({ uri }) => uri)).toContain('more://1');
      await eventually(() => typesOf(runtime, 'prompts.changed').length === 2);
      expect((await runtime.prompts.list()).map(({ name }) => name)).toContain('more_1');
    });

    verifies(
      ['RES-05', 'RES-06'],
      'is read by a model with its own tools, marked and in bounds like any tool',
      async () => {
        const runtime = await connectOne();
        const call = (name: string, args = {}) => runtime.turn().call(name, args);
        expect((await call('ListMcpResources')).text).toContain(
          '- note://1 (server "notes", "one", text/plain): A note',
        );
        const text = await call('ReadMcpResource', { uri: 'note://1' });
        expect(text.text).toMatch(
          /^<mcp_tool_output server="notes" tool="ReadMcpResource"[^>]*>\nThe first note\n\n<\//,
        );
        const bytes = await call('ReadMcpResource', { uri: 'pic://dot', server: 'notes' });
        expect(bytes.attachments).toEqual([
          { kind: 'resource', mimeType: 'image/png', uri: 'pic://dot', size: 4, data: 'AP8KDQ==' },
        ]);
        expect(bytes.text).not.toContain('AP8KDQ');
      },
    );

    verifies('TDN-05', 'takes them away when it is disconnected, with an event for each', async () => {
      const runtime = await connectOne();
      await runtime.resources.list();
      await runtime.prompts.list();
      await runtime.disconnect('notes');
      expect(await runtime.resources.list()).toEqual({ resources: [] });
      expect(await runtime.prompts.list()).toEqual([]);
      expect(typesOf(runtime, 'resources.changed').at(-1)).toMatchObject({ server: 'notes', count: 0, templates: 0 });
      expect(typesOf(runtime, 'prompts.changed').at(-1)).toMatchObject({ server: 'notes', count: 0 });
    });

    verifies('RES-10', 'has its log kept and told, from the level that is wanted', async () => {
      const folder = createFolder();
      const servers = { notes: { ...offering('--era', era), logLevel: 'warning' as const } };
      const runtime = await start(folder, { servers, logs: true });
      await runtime.ready();
      const log = (level: string) => runtime.turn().call('mcp__notes__log', { level, data: `it is ${level}` });
      await log('info');
      await log('error');
      const event = { type: 'connection.log-received', server: 'notes', level: 'error', logger: 'offering' };
      await eventually(() => typesOf(runtime, 'connection.log-received').length === 1);
      expect(typesOf(runtime, 'connection.log-received')).toEqual([{ ...event, text: 'it is error' }]);
      await runtime.close();
      const kept = readFileSync(join(folder, '.local/state/plexus/logs/notes.log'), 'utf8');
      expect(kept).toContain('message error offering: it is error');
      expect(kept).not.toContain('it is info');
    });
  });

describe('resources', () => {
  for (const transport of ['stdio', 'http'] as const)
    verifies('RES-01', `of the reference server are listed and read over ${transport}`, async () => {
      const runtime = await connect({ every: await everything(transport) });
      expect((await runtime.resources.list()).resources.length).toBeGreaterThan(0);
      const { contents } = await runtime.resources.read('demo://resource/dynamic/text/1');
      expect(contents).toMatchObject([{ text: expect.stringContaining('Resource 1') }]);
    });

  verifies(
    ['ERR-08', 'ERR-04', 'LIF-02'],
    'that cannot be listed, or tools that cannot, cost nobody the rest',
    async () => {
      const fail = () => {
        throw new Error('broken');
      };
      const resources = () => ({ resources: [{ uri: 'x:1', name: 'one' }] });
      const runtime = await connect({
        toolless: createRawServer({ tools: {}, resources: {} }, { 'tools/list': fail, 'resources/list': resources })
          .entry,
        broken: createRawServer(
          { tools: {}, resources: {}, prompts: {} },
          { 'resources/list': fail, 'prompts/list': fail },
        ).entry,
      });
      expect((await runtime.resources.list()).resources.map(({ uri }) => uri)).toEqual(['x:1']);
      expect(statusOf(runtime, 'broken')).toMatchObject({ status: 'connected', toolCount: 1 });
      await eventually(() => statusOf(runtime, 'broken').warnings?.length === 2);
    },
  );

  verifies('LIF-02', 'are listed after the tools', async () => {
    const server = createRawServer({ tools: {}, resources: {}, prompts: {} });
    const runtime = await connect({ raw: server.entry });
    await Promise.all([runtime.resources.list(), runtime.prompts.list()]);
    const [tools, others] = [server.received('tools/list'), server.received('resources/list')];
    expect([tools.length, others.length]).toEqual([1, 1]);
    expect(Number(others[0]?.['id'])).toBeGreaterThan(Number(tools[0]?.['id']));
  });

  verifies(
    'RES-04',
    'of a modern server over HTTP are subscribed to on a stream of their own, opened again when it drops',
    async () => {
      const web = await startSdkWeb({ hasResources: true });
      const runtime = await connect({ web: { url: web.url } });
      await eventually(() => web.listeners() === 1);
      expect((await runtime.resources.read('note://1')).contents).toMatchObject([{ text: 'One' }]);
      const heard: string[] = [];
      const stop = await runtime.resources.subscribe('note://1', ({ uri }) => heard.push(uri));
      await eventually(() => web.listeners() === 2);
      web.touch('note://1');
      await eventually(() => heard.length === 1);
      web.hush('reset');
      await eventually(() => web.listeners() === 0);
      await eventually(() => web.listeners() === 2 && heard.length === 2);
      web.touch('note://1');
      await eventually(() => heard.length === 3);
      await stop();
      await eventually(() => web.listeners() === 1);
    },
  );

  test('that were read are followed where the entry of their server says so', async () => {
    const runtime = await connect({ notes: { ...offering(), subscriptions: true } });
    await runtime.resources.read('note://1');
    const touched = async () => {
      await runtime.turn().call('mcp__notes__touch', { uri: 'note://1' });
      return typesOf(runtime, 'resource.updated').length > 0;
    };
    await touched();
    await eventually(() => typesOf(runtime, 'resource.updated').length > 0);
  });
});

describe('the command line', () => {
  let sandbox: Sandbox;
  beforeAll(() => {
    sandbox = new Sandbox();
    sandbox.write('~/.config/plexus/mcp.json', { mcpServers: { notes: offering() } });
  });
  afterAll(() => sandbox.remove());

  verifies('RES-01', 'lists resources for people and for programs', async () => {
    const { out, code } = await sandbox.plexus('resources');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^SERVER +URI +TYPE +DESCRIPTION\nnotes +note:\/\/1 +text\/plain/),
    ]);
    expect(out).toMatch(/note:\/\/\{id\} +template/);
    const { resources, templates } = await sandbox.json('resources', 'notes');
    expect([resources.length, templates.length]).toEqual([2, 1]);
  });

  verifies('RES-06', 'reads a resource to the last byte where nobody looks', async () => {
    expect(await sandbox.plexus('read', 'note://1')).toMatchObject({ code: 0, out: 'The first note\n' });
    const file = sandbox.path('dot.png');
    expect((await sandbox.plexus('read', 'pic://dot', '--out', 'dot.png')).out).toBe(`4 bytes written to ${file}\n`);
    expect([...readFileSync(file)]).toEqual([0, 255, 10, 13]);
    expect(await sandbox.json('read', 'pic://dot', '--server', 'notes')).toMatchObject({
      ...{ server: 'notes', uri: 'pic://dot', contents: [{ blob: 'AP8KDQ==' }] },
    });
  });

  test('says what is wrong with what is not there', async () => {
    const ends = async (...args: readonly string[]) => {
      const { code, err } = await sandbox.plexus(...args);
      return [code, err.split('.')[0]];
    };
    expect(await ends('read', 'odd://1')).toEqual([2, expect.stringContaining('There is no resource "odd://1"')]);
    expect(await ends('read')).toEqual([1, expect.stringContaining('give the uri of a resource')]);
    expect(await ends('read', 'note://1', '--out', 'no/such/folder')).toEqual([
      1,
      expect.stringMatching(/no\/such\/folder cannot be written: its folder does not exist/),
    ]);
    expect(await ends('resources', 'nobody')).toEqual([2, expect.stringContaining('There is no server "nobody"')]);
  });

  test('has what a server offers although its tools cannot be listed, and says what else was left out', async () => {
    const program = `
      const answers = {
        initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {}, resources: {}, prompts: {} }, serverInfo: { name: 'x', version: '1' } },
        'resources/list': { resources: [{ uri: 'a://1', name: 'one' }, { name: 'without a uri' }] },
        'resources/templates/list': { resourceTemplates: [] },
        'resources/read': { contents: [{ uri: 'a://1', text: 'One' }] },
        'prompts/list': { prompts: [{ name: 'p', arguments: [{ name: 'topic' }] }, {}] },
        'prompts/get': { messages: [{ role: 'user', content: { type: 'text', text: 'Filled' } }] },
      };
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        if (id === undefined) return;
        const result = answers[method];
        const answer = result ? { result } : { error: { code: -32601, message: 'no' } };
        console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
      });`;
    const box = new Sandbox();
    try {
      const config = box.write('half.json', {
        mcpServers: { half: { command: process.execPath, args: ['-e', program] } },
      });
      const run = (...args: readonly string[]) => box.plexus(...args, '--config', config);
      expect(await run('read', 'a://1', '--server', 'half')).toEqual({ code: 0, out: 'One', err: '' });
      const listed = await run('resources', 'half');
      expect([listed.code, listed.out]).toEqual([0, expect.stringMatching(/^half +a:\/\/1 /m)]);
      expect(listed.err).toMatch(/^half: a resource .*left out/);
      expect(listed.err).not.toContain('prompt');
      expect(await box.json('prompts', '--config', config)).toMatchObject({
        ...{ prompts: [{ name: 'p' }], problems: [{ server: 'half', problem: expect.stringMatching(/prompt/) }] },
      });
      const filled = await run('prompt', 'half', 'p', 'topic=x', 'tpoic=y');
      expect([filled.code, filled.out]).toEqual([0, 'Filled\n']);
      expect(filled.err).toBe('the prompt has no argument "tpoic"; it takes topic\n');

      const tools = await run('tools');
      expect(tools.err).toBe(
        'Not ready: half (its tools could not be listed). Find out why with: plexus list --live\n',
      );
      const notReady = [{ server: 'half', state: 'connected', error: { code: 'PROTOCOL_BROKEN' } }];
      expect(await box.json('tools', '--config', config)).toMatchObject({ tools: [], notReady });
      expect(await box.json('search', 'x', '--config', config)).toMatchObject({ results: [], notReady });
      expect((await run('list')).out).toMatch(/^half +connected +stdio +host +0$/m);
    } finally {
      await box.remove();
    }
  });
});
