// Owns the proof of the plan of `plexus import`: into which file each server goes, under which ids its secrets and inputs, and
// what is reported.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about

import { describe, expect, test } from 'vitest';
import { type ExistingConfig, planImport } from '../../../src/config/import-plan.ts';
import { importers } from '../../../src/config/importers/importers.ts';
import { readImports } from '../../../src/config/imports.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, environment, type Files, withoutFolder, writeFiles } from './folder.ts';

async function plan(files: Files | ((cwd: string) => Files), existing: Partial<ExistingConfig> = {}) {
  const cwd = await createFolder();
  const surroundings = environment(cwd);
  await writeFiles(cwd, typeof files === 'function' ? files(cwd) : files);
  const read = await readImports(importers, surroundings);
  const known = { definitions: [], files: [], inputs: [], ...existing };
  return withoutFolder(await planImport(read, known, surroundings), cwd);
}

const servers = (entries: unknown, key = 'mcpServers') => JSON.stringify({ [key]: entries });
const headers = { Authorization: 'Bearer abcdefgh' };

describe('ids of inputs', () => {
  verifies('EXT-26', 'are of one secret each, whatever the servers are called and the file uses already', async () => {
    const files = {
      'home/.cursor/mcp.json': servers({
        'my server': { url: 'https://a.example', headers },
        'my-server': { url: 'https://b.example', headers },
        other: { url: 'https://c.example', headers },
      }),
    };
    const { taken } = await plan(files, { inputs: ['other-Authorization'] });
    expect(taken.map(({ entry }) => entry['headers'])).toEqual([
      { Authorization: 'Bearer ${input:my-server-Authorization}' },
      { Authorization: 'Bearer ${input:my-server-Authorization-2}' },
      { Authorization: 'Bearer ${input:other-Authorization-2}' },
    ]);
  });

  test('that two files both use stay apart, and within a file together; the question goes along', async () => {
    const asking = (name: string) => ({ url: `https://${name}.example`, headers: { 'X-Key': '${input:api-key}' } });
    const inputs = [
      { id: 'api-key', type: 'pickString', description: 'Which key?', options: ['a', 'b'], default: 'a' },
    ];
    const { taken } = await plan({
      'home/.config/Code/User/mcp.json': JSON.stringify({ servers: { one: asking('one'), two: asking('two') } }),
      'home/.config/Code - Insiders/User/mcp.json': JSON.stringify({ servers: { three: asking('three') }, inputs }),
    });
    expect(taken.map(({ name, entry, inputs: asked }) => [name, entry['headers'], asked])).toEqual([
      ['one', { 'X-Key': '${input:api-key}' }, [{ id: 'api-key' }]],
      ['two', { 'X-Key': '${input:api-key}' }, [{ id: 'api-key' }]],
      [
        'three',
        { 'X-Key': '${input:three-api-key:-a}' },
        [
          {
            ...{ id: 'three-api-key', type: 'pickString', description: 'Which key?' },
            ...{ options: ['a', 'b'], default: 'a' },
          },
        ],
      ],
    ]);
  });
});

test('placeholders that only another program fills in are told, with the server', async () => {
  const { taken, diagnostics } = await plan({
    'home/.config/Code/User/mcp.json': servers(
      {
        it: { command: '${command:pick}', args: ['${config:a.b}', '${config:a.b}'], env: { API_KEY: '{file:~/.key}' } },
      },
      'servers',
    ),
  });
  expect(taken.map(({ secrets }) => secrets)).toEqual([[]]);
  expect(diagnostics.map(({ severity, server, message }) => [severity, server, message])).toEqual(
    ['${command:pick}', '${config:a.b}', '{file:~/.key}'].map((placeholder) => [
      'warning',
      'it',
      `server "it" uses ${placeholder}, which is filled in by VS Code only and stays as it is written`,
    ]),
  );
});

test('how a server is tried again is taken over as it was meant: a word, or a map', async () => {
  const files = {
    'home/.cursor/mcp.json': servers({
      one: { command: 'x', reconnect: 'patient' },
      two: { command: 'y', reconnect: { delays_sec: [1], background: { base_sec: 2 } } },
      three: { command: 'z' },
    }),
  };
  const { taken } = await plan(files);
  expect(taken.map(({ entry }) => entry)).toEqual([
    { command: 'x', reconnect: 'patient' },
    {
      command: 'y',
      reconnect: { delaysMs: [1_000], jitter: 0.2, background: { baseMs: 2_000, maxMs: 300_000 } },
    },
    { command: 'z' },
  ]);
});

describe('what is for this folder alone', () => {
  const claude = (cwd: string, here: unknown, everywhere: unknown) => ({
    'home/.claude.json': JSON.stringify({ mcpServers: everywhere, projects: { [cwd]: { mcpServers: here } } }),
  });

  test('goes into its local file, also beside one of that name for all folders', async () => {
    const { taken } = await plan((cwd) => claude(cwd, { a: { command: 'here' } }, { a: { command: 'everywhere' } }));
    expect(taken.map(({ scope, entry }) => [scope, entry['command']])).toEqual([
      ['user', 'everywhere'],
      ['local', 'here'],
    ]);
  });

  test('is not taken twice', async () => {
    const { taken, skipped } = await plan((cwd) => claude(cwd, { a: { command: 'x' } }, { b: { command: 'x' } }));
    expect([taken.map(({ name, scope }) => [name, scope]), skipped.map(({ because }) => because)]).toEqual([
      [['b', 'user']],
      ['it is the same as "b" of claude-code'],
    ]);
  });
});
