// Owns the proof that servers are replaced by the host's own tools only when the host asks for it, that the host gets the key of
// a user's entry, and never that of a repository's.

import { describe, expect, test } from 'vitest';
import type { LoadOptions } from '../../../src/config/discover.ts';
import { type NativeTool, replaceNative } from '../../../src/config/native.ts';
import { verifies } from '../../verifies.ts';
import { loadFolder, USER } from './folder.ts';

const OWN = USER.replace('.toml', '.json');
const SEARCH = 'exa';

const replaced = async (
  entries: Record<string, unknown>,
  {
    natives = ['web-search'],
    file = OWN,
    env = {},
  }: { natives?: NativeTool['replaces'][]; file?: string; env?: LoadOptions['env'] } = {},
) => {
  const { definitions, diagnostics } = await loadFolder({ [file]: JSON.stringify({ mcpServers: entries }) });
  expect(diagnostics).toEqual([]);
  const secrets: string[] = [];
  const onSecret = (secret: string, server: string) => secrets.push(`${server}: ${secret}`);
  const reasons = replaceNative(
    definitions,
    natives.map((replaces) => ({ replaces, onSecret })),
    env,
  );
  return { reasons: [...reasons], secrets };
};

const why = 'the host program has its own "web-search"';

describe('a server that does what the host does itself', () => {
  verifies(['CFG-15', 'CFG-16'], 'is used unless the host registered that', async () => {
    const entries = { [SEARCH]: { command: 'x' }, playwright: { command: 'x' } };
    expect((await replaced(entries, { natives: [] })).reasons).toEqual([]);
    expect((await replaced(entries, { natives: ['nothing-known'] })).reasons).toEqual([]);
    expect((await replaced(entries)).reasons).toEqual([[SEARCH, why]]);
    expect((await replaced(entries, { natives: ['browser', 'web-search'] })).reasons.map(([name]) => name)).toEqual([
      'playwright',
      SEARCH,
    ]);
  });

  verifies('CFG-15', 'is known by its name, its address or its package, whatever its version', async () => {
    const entries = {
      Exa: { command: 'x' },
      a: { command: 'npx', args: ['-y', 'exa-mcp-server'] },
      b: { command: 'npx', args: ['-y', 'exa-mcp-server@1.2.3', '--x'] },
      c: { url: 'https://mcp.exa.ai/mcp?x=y' },
      d: { command: 'npx', args: ['-y', 'not-exa-mcp-server'] },
      e: { url: 'https://mcp.exa.ai.example/mcp' },
    };
    expect((await replaced(entries)).reasons.map(([name]) => name)).toEqual(['Exa', 'a', 'b', 'c']);
  });

  verifies('CFG-16', 'in a browser is known by each of its usual names and packages', async () => {
    const names = ['puppeteer', 'playwright', 'browserbase', 'browser-tools', 'browser-use', 'browser'];
    const packages = ['@playwright/mcp@latest', '@browserbasehq/mcp', 'puppeteer-mcp-server', 'browser-use[cli]'];
    const entries = Object.fromEntries([
      ...names.map((name) => [name, { command: 'x' }]),
      ...packages.map((name, at) => [`p${at}`, { command: 'npx', args: [name] }]),
      ['brow', { command: 'x' }],
    ]);
    const { reasons } = await replaced(entries, { natives: ['browser'] });
    expect(reasons.map(([name]) => name)).toEqual([...names, 'p0', 'p1', 'p2', 'p3'].sort());
  });

  verifies('CFG-15', 'is kept when more is asked of it than the host can do', async () => {
    const all = { command: 'npx', args: ['exa-mcp-server', '--tools=web_search_exa,deep_researcher_start'] };
    const entries = {
      a: all,
      b: { ...all, args: ['exa-mcp-server', '--tools', 'linkedin_search_exa'] },
      c: { url: 'https://mcp.exa.ai/mcp?tools=web_search_exa,company_research_exa' },
      d: { command: 'exa-mcp-server', enabledTools: ['company_research_exa'] },
      e: { ...all, args: ['exa-mcp-server', '--tools=web_search_exa, crawling_exa'] },
      f: { url: 'https://mcp.exa.ai/mcp?tools=web_search_exa' },
      g: { command: 'exa-mcp-server', enabledTools: ['web_search_exa'] },
    };
    expect((await replaced(entries)).reasons.map(([name]) => name)).toEqual(['e', 'f', 'g']);
  });

  test('is left alone when it is off already: nothing of it is used, not even its key', async () => {
    const entry = { command: 'exa-mcp-server', env: { EXA_API_KEY: 'k' }, enabled: false };
    expect(await replaced({ a: entry })).toEqual({ reasons: [], secrets: [] });
  });

  test('may be described by the host itself, and code of the host is known by its name only', async () => {
    const row = { id: 'shell', names: ['sh'], packages: ['@x/*'], urls: ['https://sh.example'] };
    const entries = { a: { command: '@x/shell@2' }, b: { url: 'https://sh.example/mcp' }, c: { command: 'y' } };
    expect((await replaced(entries, { natives: [row] })).reasons).toEqual([
      ['a', 'the host program has its own "shell"'],
      ['b', 'the host program has its own "shell"'],
    ]);
    const { definitions } = await loadFolder(
      {},
      { servers: { sh: { serve: () => undefined }, z: { serve: () => undefined } } },
    );
    expect([...replaceNative(definitions, [{ replaces: row }], {}).keys()]).toEqual(['sh']);
  });
});

describe('the key of such a server', () => {
  const keyed = {
    a: { url: 'https://mcp.exa.ai/mcp?exaApiKey=in-url' },
    b: { command: 'exa-mcp-server', env: { EXA_API_KEY: 'in-env' } },
    c: { url: 'https://mcp.exa.ai/mcp', headers: { 'X-Api-Key': 'in-header' } },
    d: { url: 'https://mcp.exa.ai/mcp' },
  };

  verifies('CFG-15', 'is handed to the host, from wherever it stands', async () => {
    expect((await replaced(keyed)).secrets).toEqual(['a: in-url', 'b: in-env', 'c: in-header']);
  });

  verifies('CFG-15', 'is filled in as the server would have had it', async () => {
    const env = { EXA_API_KEY: 'mine', OTHER: 'other' };
    const entries = {
      a: { command: 'exa-mcp-server', env: { EXA_API_KEY: `\${EXA_API_KEY}` } },
      b: { url: `https://mcp.exa.ai/mcp?exaApiKey=\${OTHER}` },
      c: { command: 'exa-mcp-server', env: { EXA_API_KEY: `\${INNER}`, INNER: 'inner' } },
      d: { command: 'exa-mcp-server', env: { EXA_API_KEY: `\${UNSET}` } },
      e: { command: 'exa-mcp-server', env: { EXA_API_KEY: `\${UNSET:-fallback}` } },
    };
    expect((await replaced(entries, { env })).secrets).toEqual(['a: mine', 'b: other', 'c: inner', 'e: fallback']);
  });

  verifies(
    'CFG-15',
    'of a repository’s entry is not handed over: neither the person’s nor one of its own',
    async () => {
      const env = { EXA_API_KEY: 'mine' };
      const entries = { ...keyed, e: { command: 'exa-mcp-server', env: { EXA_API_KEY: `\${EXA_API_KEY}` } } };
      const { reasons, secrets } = await replaced(entries, { file: '.mcp.json', env });
      expect([reasons.map(([name]) => name), secrets]).toEqual([['a', 'b', 'c', 'd', 'e'], []]);
    },
  );

  test('of a plugin outside of the workspace is its own, and never the person’s', async () => {
    const { definitions } = await loadFolder({
      'home/.config/plexus/plugins/p/plugin.json': JSON.stringify({
        mcpServers: {
          a: { command: 'exa-mcp-server', env: { EXA_API_KEY: `\${EXA_API_KEY}` } },
          b: { command: 'exa-mcp-server', env: { EXA_API_KEY: 'theirs' } },
        },
      }),
    });
    const secrets: string[] = [];
    replaceNative(definitions, [{ replaces: 'web-search', onSecret: (secret) => secrets.push(secret) }], {
      EXA_API_KEY: 'mine',
    });
    expect(secrets).toEqual(['theirs']);
  });
});
