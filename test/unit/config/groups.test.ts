// Owns the proof that servers are found wherever people and programs write them, and that lookalikes elsewhere are
// reported.

import { describe, expect, test } from 'vitest';
import { verifies } from '../../verifies.ts';
import { loadFolder, messagesOf } from './folder.ts';

const loadJson = (content: unknown) => loadFolder({ '.mcp.json': JSON.stringify(content, null, 1) });
const found = async (content: unknown) => {
  const { definitions, diagnostics } = await loadJson(content);
  return {
    keys: definitions.map(({ provenance }) => provenance.key.join(' > ')),
    said: diagnostics.map(({ message }) => message),
  };
};
const a = { command: 'x' };

describe('servers are found', () => {
  const maps: Record<string, [content: unknown, ...keys: string[]]> = {
    mcpServers: [{ mcpServers: { a } }, 'mcpServers > a'],
    mcp_servers: [{ mcp_servers: { a } }, 'mcp_servers > a'],
    servers: [{ servers: { a } }, 'servers > a'],
    context_servers: [{ context_servers: { a } }, 'context_servers > a'],
    contextServers: [{ contextServers: { a } }, 'contextServers > a'],
    'mcp.servers, as one key': [{ 'mcp.servers': { a } }, 'mcp.servers > a'],
    'mcp.servers, as a map in a map': [{ mcp: { servers: { a }, inputs: [] } }, 'mcp > servers > a'],
    'mcp.mcpServers': [{ mcp: { mcpServers: { a } } }, 'mcp > mcpServers > a'],
    'mcp, which holds them itself': [{ mcp: { a, b: { type: 'local', command: ['y'] } } }, 'mcp > a', 'mcp > b'],
    'a dotted key of an editor': [{ 'sidecar.mcpServers': { a } }, 'sidecar.mcpServers > a'],
    'a dotted key that ends in mcp.servers': [{ 'x.mcp.servers': { a } }, 'x.mcp.servers > a'],
    'a map of another program': [{ agent: { mcpServers: { a }, model: 'x' } }, 'agent > mcpServers > a'],
    'a list in a map of another program': [
      { 'augment.advanced': { mcpServers: [{ name: 'a', ...a }] } },
      'augment.advanced > mcpServers > 0',
    ],
    'no key at all': [{ a, b: { url: 'http://b' } }, 'a', 'b'],
    'no key but remarks': [{ $schema: 'x', _comment: 'y', a }, 'a'],
    'several of them': [{ mcpServers: { a }, servers: { b: a } }, 'mcpServers > a', 'servers > b'],
  };
  for (const [where, [content, ...keys]] of Object.entries(maps)) {
    verifies('CFG-05', `under ${where}`, async () => {
      expect(await found(content)).toEqual({ keys, said: [] });
    });
  }

  verifies('CFG-04', 'in a list, each with a name or an id', async () => {
    const loaded = await loadJson({
      servers: [
        { name: 'a', command: 'x', args: ['y'], env: { A: 'b' } },
        { id: 'b', url: 'https://b', transport: 'sse', description: 'B' },
      ],
    });
    expect(loaded.diagnostics).toEqual([]);
    expect(
      loaded.definitions.map(({ name, launch, settings: { description } }) => [name, launch, description]),
    ).toEqual([
      ['a', { kind: 'stdio', command: 'x', args: ['y'], env: { A: 'b' }, inheritEnv: 'safe' }, undefined],
      ['b', { kind: 'sse', url: 'https://b', headers: {} }, 'B'],
    ]);
  });

  verifies('CFG-04', 'in a list of tables in TOML', async () => {
    const { definitions } = await loadFolder({ '.mcp.toml': '[[mcp_servers]]\nname = "a"\ncommand = "x"\n' });
    expect(definitions.map(({ name }) => name)).toEqual(['a']);
  });

  verifies(
    'CFG-04',
    'in a list with a line for each that has no name, is no map, or has the name of another',
    async () => {
      const loaded = await loadJson({
        servers: [{ command: 'x' }, 5, { name: 7 }, { name: 'a', ...a }, { name: 'a' }],
      });
      expect(loaded.definitions.map(({ name, provenance }) => [name, ...provenance.key])).toEqual([
        ['a', 'servers', 3],
      ]);
      expect(
        loaded.diagnostics.map(({ severity, line, message, server }) => [severity, line, message, server]),
      ).toEqual([
        ['error', 3, '"servers[0]" has no "name", and a server in a list needs one', undefined],
        ['error', 6, '"servers[1]" must be a map of settings, but is the number 5', undefined],
        ['error', 7, '"servers[2]" has no "name", and a server in a list needs one', undefined],
        ['error', 14, 'two servers of the list are called "a", and the first one counts', 'a'],
      ]);
    },
  );

  test('a map of settings that happens to be called servers is none', async () => {
    expect(await found({ mcpServers: { a }, 'x.servers': { b: { host: 'y' } } })).toEqual({
      keys: ['mcpServers > a'],
      said: [],
    });
    expect((await found({ mcpServers: { a }, cluster: { servers: { b: { host: 'y' } } } })).keys).toEqual([
      'mcpServers > a',
    ]);
  });

  test('a schema for such files holds none', async () => {
    const schema = { type: 'object', additionalProperties: { properties: { command: { type: 'string' } } } };
    expect(await found({ $schema: 'x', properties: { mcpServers: schema }, type: 'object' })).toEqual({
      keys: [],
      said: ['the file holds neither servers nor settings that are known here'],
    });
  });

  test('a key set to null holds none, and is no mistake', async () => {
    expect(await found({ mcpServers: null, servers: {} })).toEqual({ keys: [], said: [] });
  });

  test('a name that every object inherits is a name like any other, or none', async () => {
    const text =
      '{"mcp":{"__proto__":{"command":"x"},"toString":{"command":"y"}},"constructor":{"mcpServers":{"b":{"command":"z"}}}}';
    const { definitions, invalid } = await loadFolder({ '.mcp.json': text });
    expect([definitions.map(({ name }) => name), invalid.map(({ name }) => name)]).toEqual([
      ['b', 'toString'],
      ['__proto__'],
    ]);
    expect(({} as Record<string, unknown>)['command']).toBeUndefined();
  });
});

describe('what looks like servers where none are read', () => {
  const server = { command: 'npx', args: ['-y', 'x'] };
  const cases: Record<string, [content: unknown, line: number, message: string, remedy: string]> = {
    'deep in a file': [
      { folders: [], settings: { mcp: { servers: { a: server, b: server } } } },
      6,
      '"settings.mcp.servers.a" and 1 more look like servers, but none are read there',
      'Move them into a map called "mcpServers" at the top of the file.',
    ],
    'under the folder they are for': [
      { projects: { '/work': { mcpServers: { a: { type: 'http', url: 'https://a' } } } } },
      5,
      '"projects./work.mcpServers.a" looks like a server, but none are read there',
      'Move it into a map called "mcpServers" at the top of the file.',
    ],
    'beside the map of servers': [
      { mcpServers: {}, a: { url: 'https://a', headers: { A: 'b' } } },
      3,
      '"a" looks like a server, but none are read there',
      'Move it into a map called "mcpServers" at the top of the file.',
    ],
    'in a list': [
      { remotes: [{ type: 'streamable-http', url: 'https://a' }] },
      3,
      '"remotes[0]" looks like a server, but none are read there',
      'Move it into a map called "mcpServers" at the top of the file.',
    ],
    'as the whole file': [
      server,
      1,
      'the file looks like a server, but none are read there',
      'Put it under a name into a map called "mcpServers" at the top of the file.',
    ],
    'inside of a text': [
      { content: JSON.stringify({ mcpServers: { a: server } }) },
      2,
      '"content" holds servers inside of a text, but none are read there',
      'Write them as a map called "mcpServers" at the top of the file.',
    ],
  };
  for (const [where, [content, line, message, remedy]] of Object.entries(cases)) {
    verifies('VAL-01', `${where} is pointed at, and nothing else is said of it`, async () => {
      const { definitions, diagnostics } = await loadJson(content);
      expect([definitions, diagnostics.map((each) => [each.severity, each.line, each.message, each.remedy])]).toEqual([
        [],
        [['warning', line, message, remedy]],
      ]);
    });
  }

  test('is all that is said of another program’s file', async () => {
    const { diagnostics } = await loadJson({
      models: [1],
      experimental: { servers: [{ transport: server }] },
      rules: 5,
    });
    expect(diagnostics.map(({ message }) => message)).toEqual([
      '"experimental.servers[0].transport" looks like a server, but none are read there',
    ]);
  });

  test('is pointed at a few times at most', async () => {
    const content = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, { x: { y: server } }]));
    expect((await loadJson({ mcpServers: {}, ...content })).diagnostics.map(({ message }) => message)).toEqual([
      ...[0, 1, 2, 3, 4].map((at) => `"k${at}.x.y" looks like a server, but none are read there`),
      '"k5", "k6", "k7", "k8", "k9" and 10 more are not settings of a configuration file and without effect',
    ]);
  });

  test('is more than a map with an address or a command', async () => {
    const content = {
      repository: { url: 'https://a', type: 'git' },
      formatter: { go: { command: ['x'], enabled: true } },
    };
    expect(messagesOf(await loadJson({ mcpServers: {}, ...content }))).toEqual([
      'warning: "formatter" is not a setting of a configuration file and without effect',
    ]);
  });

  verifies('VAL-01', 'a file in which nothing is known is told once, however much it holds', async () => {
    const { diagnostics } = await loadJson({ content: 'x', labels: { a: 'b' }, command: 'Command', tools: [1] });
    expect(diagnostics).toEqual([
      {
        severity: 'warning',
        code: 'CONFIG_INVALID',
        message: 'the file holds neither servers nor settings that are known here',
        remedy: 'Write servers into a map called "mcpServers" (in TOML "mcp_servers"), each under its name.',
        file: '.mcp.json',
        line: 1,
        column: 1,
      },
    ]);
  });

  test('a list without a map around it is told how to get one', async () => {
    expect((await loadJson([{ name: 'a', ...server }])).diagnostics).toMatchObject([
      { severity: 'error', line: 1, remedy: 'Put the list into a map: { "servers": [ … ] }.' },
    ]);
  });

  test('a mistyped key is guessed also when nothing else is known', async () => {
    const { diagnostics } = await loadJson({ mcpServer: { a: { command: 'x' } } });
    expect(diagnostics).toMatchObject([{ remedy: 'Did you mean "mcpServers"?' }]);
  });
});
