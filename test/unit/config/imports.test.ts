// Owns the proof that other agents' files are used only when the user asks for it, each file in its app's format, and never
// trusted more than the author of the file.

import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importers } from '../../../src/config/importers/importers.ts';
import { readImports } from '../../../src/config/imports.ts';
import { labelOf } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, environment, type Files, loadFolder, messagesOf, scopesOf, servers, USER } from './folder.ts';

const file = (...names: readonly string[]) =>
  JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, { command: name }])) });
const wanting = (apps: string) => ({ [USER]: `[plexus]\nimport = ${apps}\n` });

describe('importing', () => {
  const files = {
    '.cursor/mcp.json': file('here'),
    'home/.cursor/mcp.json': file('cursor', 'both'),
    'home/.codex/config.toml': '[mcp_servers.codex]\ncommand = "codex"\n[mcp_servers.both]\ncommand = "both"\n',
    'home/.codeium/windsurf/mcp_config.json': file('windsurf'),
  };

  verifies('CFG-09', 'is off unless the person asks for it', async () => {
    expect(scopesOf(await loadFolder(files))).toEqual([]);
    expect(scopesOf(await loadFolder({ ...files, ...wanting('"off"') }))).toEqual([]);
  });

  verifies(
    ['CFG-09', 'CFG-10', 'CFG-11'],
    'takes all agents’ files with "auto", and says of each server whose it was',
    async () => {
      const loaded = await loadFolder({ ...files, ...wanting('"auto"') });
      expect(
        loaded.definitions.map((each) => [labelOf(each), each.provenance.file, each.provenance.inWorkspace]),
      ).toEqual([
        ['mcp:both via Codex', 'home/.codex/config.toml', undefined],
        ['mcp:codex via Codex', 'home/.codex/config.toml', undefined],
        ['mcp:cursor via Cursor', 'home/.cursor/mcp.json', undefined],
        ['mcp:here via Cursor', '.cursor/mcp.json', true],
        ['mcp:windsurf via Windsurf', 'home/.codeium/windsurf/mcp_config.json', undefined],
      ]);
      expect(
        loaded.shadowed.map(({ name, provenance, lostTo }) => [name, provenance.provider, lostTo.provider]),
      ).toEqual([['both', 'Cursor', 'Codex']]);
      expect(loaded.diagnostics).toEqual([]);
    },
  );

  verifies('CFG-09', 'takes only the agents that are named', async () => {
    expect(scopesOf(await loadFolder({ ...files, ...wanting('["windsurf"]') }))).toEqual(['windsurf imported']);
    expect(scopesOf(await loadFolder({ ...files, ...wanting('[]') }))).toEqual([]);
  });

  verifies('CFG-09', 'tells of a name that is no agent, with what was likely meant', async () => {
    const { definitions, diagnostics } = await loadFolder({ ...files, ...wanting('["windsrf", "emacs", "codex"]') });
    expect(definitions.map(({ name }) => name)).toEqual(['both', 'codex']);
    expect(diagnostics.map(({ severity, message, remedy }) => [severity, message, remedy])).toEqual([
      [
        'warning',
        '"import" names "windsrf", which is no app that servers can be imported from',
        'Did you mean "windsurf"?',
      ],
      [
        'warning',
        '"import" names "emacs", which is no app that servers can be imported from',
        `Known are: ${importers.map(({ app }) => app).join(', ')}.`,
      ],
    ]);
  });

  test('cannot be asked for by a repository', async () => {
    const loaded = await loadFolder({ ...files, '.mcp.toml': '[plexus]\nimport = "auto"' });
    expect(scopesOf(loaded)).toEqual([]);
    expect(messagesOf(loaded)).toEqual([
      'warning: a file in the workspace cannot set "plexus.import", so this is ignored',
    ]);
  });

  test('takes nothing when a single file was named, or none is wanted', async () => {
    const options = { ...files, 'mine.toml': '[plexus]\nimport = "auto"' };
    expect(scopesOf(await loadFolder(options, { configFile: 'mine.toml' }))).toEqual([]);
    expect(scopesOf(await loadFolder({ ...files, ...wanting('"auto"') }, { discover: false }))).toEqual([]);
  });

  test('gives nothing the person’s own rights: no command, no file, no wider environment', async () => {
    const entry = { command: 'x', inheritEnv: 'all', envAllow: ['A'], envFile: 'a', env: { A: '!id' } };
    const loaded = await loadFolder({
      ...wanting('["cursor"]'),
      'home/.cursor/mcp.json': JSON.stringify({ mcpServers: { a: entry }, plexus: { enabled: false } }),
    });
    expect(loaded.definitions[0]?.launch).toEqual({
      kind: 'stdio',
      command: 'x',
      args: [],
      env: { A: '' },
      inheritEnv: 'safe',
    });
    expect(loaded.diagnostics.map(({ severity }) => severity)).toEqual(Array.from({ length: 4 }, () => 'warning'));
  });

  test('reads a file once when it is one of our own as well', async () => {
    const loaded = await loadFolder({ ...wanting('"auto"'), '.mcp.json': file('a') });
    expect([scopesOf(loaded), loaded.shadowed]).toEqual([['a project'], []]);
  });

  test('reads one file for every agent that has its servers under another key', async () => {
    const loaded = await loadFolder({
      ...wanting('"auto"'),
      '.vscode/settings.json': JSON.stringify({
        'editor.fontSize': 12,
        'mcp.servers': { a: { command: 'a' } },
        'sidecar.mcpServers': { b: { command: 'b' } },
      }),
    });
    expect(loaded.definitions.map(labelOf)).toEqual(['mcp:a via VS Code', 'mcp:b via SideCar']);
    expect([loaded.shadowed, loaded.diagnostics]).toEqual([[], []]);
  });

  test('leaves out what another agent has for other folders', async () => {
    const projects = { '/elsewhere': { mcpServers: { a: { command: 'a' } } } };
    const loaded = await loadFolder({
      ...wanting('["claude-code"]'),
      'home/.claude.json': JSON.stringify({ projects, mcpServers: { b: { command: 'b' } } }),
    });
    expect(scopesOf(loaded)).toEqual(['b imported']);
  });

  test('brings the inputs of an agent’s file with it', async () => {
    const inputs = [{ id: 'key', type: 'promptString', password: true }];
    const { promptInputs: read } = await loadFolder({
      ...wanting('["vscode"]'),
      '.vscode/mcp.json': JSON.stringify({ servers: {}, inputs }),
    });
    expect([...read]).toEqual([['.vscode/mcp.json', inputs]]);
  });
});

describe('a file of one’s own that the workspace leads to as well', () => {
  const placesOf = async (apps: string, surroundings: ReturnType<typeof environment>) =>
    (
      await readImports(
        importers.filter(({ app }) => apps.includes(app)),
        surroundings,
      )
    ).map(({ importer, place }) => [
      importer.app,
      place.file.replace(surroundings.home, '~'),
      place.inWorkspace ?? false,
    ]);

  test('by a link stays one’s own, for whichever agent the link is', async () => {
    const cwd = await createFolder({ 'home/.cursor/mcp.json': file('a'), '.cursor/x': '', '.gemini/x': '' });
    for (const link of ['.cursor/mcp.json', '.gemini/settings.json'])
      await symlink(join(cwd, 'home/.cursor/mcp.json'), join(cwd, link));
    expect(await placesOf('cursor gemini', environment(cwd))).toEqual([
      ['gemini', '~/.cursor/mcp.json', false],
      ['cursor', '~/.cursor/mcp.json', false],
    ]);
  });

  test('because the home folder is the workspace stays one’s own', async () => {
    const cwd = await createFolder({
      '.cursor/mcp.json': file('a'),
      '.codex/config.toml': 'x =',
      '.mcp.json': file('b'),
    });
    expect(await placesOf('cursor codex copilot', { ...environment(cwd), home: cwd })).toEqual([
      ['codex', '~/.codex/config.toml', false],
      ['cursor', '~/.cursor/mcp.json', false],
      ['copilot', '~/.mcp.json', true],
    ]);
  });
});

describe('an agent’s file that cannot be taken as it is', () => {
  const good = { ...wanting('"auto"'), [USER]: `[plexus]\nimport = "auto"\n${servers('good')}` };
  const said = async (files: Files) => {
    const loaded = await loadFolder({ ...files, ...good });
    expect(scopesOf(loaded)).toEqual(['good user']);
    return messagesOf(loaded);
  };

  verifies('CFG-17', 'costs only itself, and is told once, for however many agents it is', async () => {
    expect(await said({ '.cursor/mcp.json': '{' })).toEqual(['error: a closing } is missing, at: {']);
    expect(await said({ '.vscode/settings.json': '{ "a": ' })).toHaveLength(1);
    expect(await said({ 'home/.codex/config.toml': 'a = ' })).toHaveLength(1);
    expect(await said({ '.cursor/mcp.json': Buffer.from([0x7b, 0xff]) })).toEqual(['error: the file is not UTF-8']);
    expect(await said({ '.cursor/mcp.json': '{"\0":1}' })).toHaveLength(1);
    expect(await said({ '.cursor/mcp.json': Buffer.alloc(10 * 1024 * 1024 + 1, ' ') })).toHaveLength(1);
    expect(await said({ '.cursor/mcp.json': `{"a":${'['.repeat(100_000)}` })).toHaveLength(1);
    expect(await said({ '.cursor/mcp.json': '{"mcpServers":5}' })).toHaveLength(1);
    expect(await said({ '.cursor/mcp.json/x': '' })).toEqual(['error: the file cannot be read: it is not a file']);
  });

  verifies('CFG-18', 'costs only the entry that is wrong', async () => {
    const loaded = await loadFolder({ ...good, '.cursor/mcp.json': '{"mcpServers":{"a":{},"b":{"command":"x"}}}' });
    expect([scopesOf(loaded), loaded.invalid.map(({ name }) => name)]).toEqual([['b imported', 'good user'], ['a']]);
  });

  test('has nothing to say of its own keys, or of names that objects inherit', async () => {
    const text =
      '{"__proto__":{"mcpServers":{"x":{"command":"y"}}},"model":"z","mcpServers":{"__proto__":{"command":"y"}}}';
    expect(await said({ '.cursor/mcp.json': text })).toEqual(['error: "__proto__" cannot be the name of a server']);
    expect(({} as Record<string, unknown>)['mcpServers']).toBeUndefined();
  });
});
