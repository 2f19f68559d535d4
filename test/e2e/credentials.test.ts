// Owns the proof of what remote servers are given: every token and header that is meant for them, filled in anew each time,
// nothing of it where it could be read later, and nothing of the person's to a stranger.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { stateFolder } from '../../src/config/scopes.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { discoverMCPServers } from '../../src/runtime.ts';
import { createFileStore } from '../../src/store/file.ts';
import { definitionHash } from '../../src/trust/fingerprint.ts';
import { withDefaultStore } from '../runtime.ts';
import { faulty } from '../servers/faulty.ts';
import { json, type Received } from '../unit/transport/http-servers.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { createFolder, start, statusOf, textOf } from './runtimes.ts';
import { publicly, serveMcp } from './web.ts';

const path = { PATH: process.env['PATH'] ?? '' };
const placeholder = (name: string) => `\${${name}}`;

/** Of every request that came, whatever its method, these headers; the same ones are told once. */
function given(received: readonly Received[], ...names: readonly string[]): unknown[] {
  const all = received.map(({ headers }) => Object.fromEntries(names.map((name) => [name, headers[name]])));
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()];
}

describe('a remote server of the person’s own', () => {
  verifies(['CFG-19', 'TRN-15'], 'gets its token and all its headers with every request', async () => {
    const web = await serveMcp();
    const folder = createFolder();
    const helper = join(folder, 'helper.mjs');
    writeFileSync(helper, "console.log(JSON.stringify({ 'X-Helped': 'by-a-command' }));");
    const file = join(folder, 'fleet.toml');
    writeFileSync(
      file,
      `[mcp_servers.web]
url = "${web.url}"
transport = "http"
bearer_token_env_var = "WEB_TOKEN"
env_headers = { "X-Tenant" = "TENANT" }
headers = { "X-Team" = "team ${placeholder('TEAM')}", "X-Else" = "${placeholder('NOBODY:-default')}" }
headers_helper = "node ${helper}"
`,
    );
    const env = { ...path, WEB_TOKEN: 't0ken', TENANT: 'acme', TEAM: 'blue' };
    const runtime = await start(folder, { discover: true, config: file, watch: false, env });
    expect(textOf(await runtime.turn().call('mcp__web__echo'))).toBe('done');
    await runtime.close();
    expect(new Set(web.received.map(({ method }) => method))).toEqual(new Set(['POST', 'GET', 'DELETE']));
    expect(given(web.received, 'authorization', 'x-tenant', 'x-team', 'x-else', 'x-helped')).toEqual([
      {
        authorization: 'Bearer t0ken',
        ...{ 'x-tenant': 'acme', 'x-team': 'team blue', 'x-else': 'default', 'x-helped': 'by-a-command' },
      },
    ]);
  });

  verifies('CFG-19', 'gets what a variable and a command say by then, each time it is connected', async () => {
    const web = await serveMcp();
    const folder = createFolder();
    const count = join(folder, 'count');
    writeFileSync(count, '');
    const helper = join(folder, 'helper.mjs');
    writeFileSync(
      helper,
      `import { appendFileSync, readFileSync } from 'node:fs';
       appendFileSync(${JSON.stringify(count)}, '.');
       console.log(JSON.stringify({ 'X-Turn': String(readFileSync(${JSON.stringify(count)}).length) }));`,
    );
    const env: Record<string, string> = { ...path, WEB_TOKEN: 'first' };
    const entry = { url: web.url, transport: 'http', bearerTokenEnvVar: 'WEB_TOKEN' } as const;
    const servers = { web: { ...entry, headersHelper: `node ${helper}` } };
    const runtime = await start(folder, { servers, env });
    env['WEB_TOKEN'] = 'second';
    runtime.reconnect('web');
    await runtime.ready();
    expect(given(web.received, 'authorization', 'x-turn')).toEqual([
      { authorization: 'Bearer first', 'x-turn': '1' },
      { authorization: 'Bearer second', 'x-turn': '2' },
    ]);
  });

  verifies('CFG-19', 'leaves none of it on the disk, in its status or in what is told of it', async () => {
    const web = await serveMcp();
    const folder = createFolder();
    const env = { ...path, WEB_TOKEN: 's3cret-t0ken' };
    const entry = { url: web.url, bearerTokenEnvVar: 'WEB_TOKEN', lifecycle: 'lazy' } as const;
    const store = createFileStore(join(folder, 'kept'), systemClock);
    const runtime = await start(folder, { servers: { web: entry }, env, store });
    await runtime.turn().call('mcp_start', { server: 'web' });
    await runtime.turn().call('mcp__web__echo');
    await runtime.close();
    const kept = readdirSync(join(folder, 'kept'), { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => readFileSync(join(each.parentPath, each.name), 'utf8'));
    expect(kept.length, 'its tools and what it speaks are remembered').toBeGreaterThan(0);
    expect(JSON.stringify([runtime.status(), runtime.events, kept])).not.toContain('s3cret');
    expect(given(web.received, 'authorization')).toEqual([{ authorization: 'Bearer s3cret-t0ken' }]);
  });

  verifies('CFG-19', 'leaves nothing in the caches from which a secret of its file could be guessed', async () => {
    const web = await serveMcp();
    const folder = createFolder();
    const file = join(folder, 'fleet.json');
    const mcpServers = {
      web: { url: web.url, headers: { 'X-Key': 's3cret-in-a-header' } },
      local: { ...faulty(), env: { PIN: 's3cret-in-a-variable' } },
    };
    writeFileSync(file, JSON.stringify({ mcpServers }));
    const options = { discover: true, config: file, watch: false, env: path };
    const runtime = await start(folder, { ...options, ...withDefaultStore });
    const { servers } = await discoverMCPServers({ cwd: folder, home: folder, ...options });
    await runtime.close();
    const kept = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile() && each.name !== 'fleet.json')
      .map((each) => `${each.name}\n${readFileSync(join(each.parentPath, each.name), 'utf8')}`);
    const having = (text: string) => kept.filter((each) => each.includes(text)).length;
    expect([having('"tools:'), having('"protocols"')], 'both caches were written').toEqual([2, 1]);
    // A plain hash of the entry would tell whether a guess at its secret is right.
    const hashes = servers.map(definitionHash);
    expect([hashes.length, ...['s3cret', ...hashes].map(having)]).toEqual([2, 0, 0, 0]);
  });

  verifies(['CFG-19', 'EXT-13'], 'is not shared with one who has another token', async () => {
    const web = await serveMcp();
    const folder = createFolder();
    const entry = { url: web.url, transport: 'http' } as const;
    const options = [
      ...['ada', 'bob'].map((WEB_TOKEN) => ({
        servers: { web: { ...entry, bearerTokenEnvVar: 'WEB_TOKEN' } },
        env: { ...path, WEB_TOKEN },
      })),
      // The same environment: only what the entries hold tells these two apart.
      ...['cid', 'dee'].map((token) => ({
        servers: { web: { ...entry, headers: { Authorization: `Bearer ${token}` } } },
        env: path,
      })),
    ];
    const runtimes = await Promise.all(options.map((each) => start(folder, each)));
    for (const runtime of runtimes) await runtime.turn().call('mcp__web__echo');
    const calls = web.received.filter(({ message }) => message['method'] === 'tools/call');
    expect(calls.map(({ headers }) => headers.authorization)).toEqual(
      ['ada', 'bob', 'cid', 'dee'].map((token) => `Bearer ${token}`),
    );
  });
});

verifies(
  ['TRU-02', 'TRU-09'],
  'a remote server of a workspace is reached with no variable of the person’s until one is given to it',
  async () => {
    const web = await serveMcp();
    const { url, env: proxy } = publicly(web.url);
    const box = new Sandbox();
    onTestFinished(() => box.remove());
    const headers = {
      Authorization: `Bearer ${placeholder('ANTHROPIC_API_KEY')}`,
      'X-Team': placeholder('TEAM'),
      'X-Own': placeholder('OWN'),
    };
    box.write('.mcp.json', {
      mcpServers: { theirs: { url, type: 'http', headers, env: { OWN: 'its own' } } },
    });
    const secrets = { ANTHROPIC_API_KEY: 'hunter2', TEAM: 'blue' };
    const environment = {
      cwd: box.workspace,
      home: box.home,
      env: { ...path, ...secrets, ...proxy },
      platform: process.platform,
    };
    const { platform: _, ...surroundings } = environment;
    const runtime = await start(box.workspace, {
      ...{ ...surroundings, discover: true, watch: false },
      store: createFileStore(stateFolder(environment), systemClock),
    });
    const givenAnew = async () => {
      web.received.splice(0);
      runtime.reconnect('theirs');
      expect(await runtime.ready()).toMatchObject({ ready: ['theirs'] });
      const calls = web.received.filter(({ message }) => message['method'] === 'tools/list');
      return given(calls, 'authorization', 'x-team', 'x-own');
    };
    const nothing = { authorization: undefined, 'x-team': undefined, 'x-own': 'its own' };
    expect(statusOf(runtime, 'theirs')).toMatchObject({
      state: 'connected',
      warnings: [expect.stringContaining('ANTHROPIC_API_KEY'), expect.stringContaining('TEAM')],
    });
    expect(given(web.received, 'authorization', 'x-team', 'x-own')).toEqual([nothing]);
    expect(await givenAnew()).toEqual([nothing]);

    const approved = await box.run(['approve', 'theirs', '--allow-env', 'ANTHROPIC_API_KEY'], { env: secrets });
    expect(approved).toMatchObject({ code: 0, err: '' });
    expect(await givenAnew()).toEqual([{ authorization: 'Bearer hunter2', 'x-team': 'blue', 'x-own': 'its own' }]);

    await box.run(['revoke', 'theirs'], { env: secrets });
    expect(await givenAnew()).toEqual([nothing]);
  },
);

describe('a server that says again what it was given', () => {
  const SECRET = 'correct-horse-staple';

  /** It tells the header in whatever it says of itself, and in what it answers. */
  const echoing = () =>
    serveMcp((received, response) => {
      const { id, method } = received.message;
      const said = `with ${String(received.headers['x-k'])}`;
      const about = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'e', version: '1' },
      };
      const inputSchema = {
        type: 'object',
        properties: { q: { type: 'string', description: said, enum: ['a', 'b'] } },
      };
      const results: Record<string, object> = {
        initialize: { ...about, instructions: said },
        'tools/list': { tools: [{ name: 'echo', title: said, description: said, inputSchema }] },
        'tools/call': {
          content: [{ type: 'text', text: said }],
          structuredContent: { said: [said], password: 'plain' },
        },
      };
      const result = results[String(method)];
      if (result) json({ jsonrpc: '2.0', id, result })(received, response);
    });

  verifies('TRU-08', 'shows it to no model and to no disk, and a host can take it out of a result', async () => {
    const { url } = await echoing();
    const folder = createFolder();
    const env = { ...path, MYVAR: SECRET };
    const servers = { web: { url, transport: 'http', headers: { 'X-K': placeholder('MYVAR') } } } as const;
    const runtime = await start(folder, { servers, env, ...withDefaultStore });
    const turn = runtime.turn();
    expect(turn.find('mcp__web__echo')?.description).toBe('with [MYVAR]');
    expect(turn.systemPrompt).toContain('with [MYVAR]');
    expect(JSON.stringify([turn.tools, turn.systemPrompt])).not.toContain(SECRET);
    const outcome = await turn.call('mcp__web__echo', { q: 'a' });
    expect(outcome.structured).toEqual({ said: [`with ${SECRET}`], password: 'plain' });
    const { content, structured } = runtime.redact(outcome);
    expect([content, structured]).toEqual([
      [{ type: 'text', text: 'with [MYVAR]' }],
      { said: ['with [MYVAR]'], password: 'plain' },
    ]);
    await runtime.close();
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    const written = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
    expect(written.some((each) => each.includes('with [MYVAR]'))).toBe(true);
    expect(written.filter((each) => each.includes(SECRET))).toEqual([]);
  });

  verifies('TRU-08', 'shows it to nobody who calls it in a shell, unless the settings say so', async () => {
    const { url } = await echoing();
    const box = new Sandbox();
    onTestFinished(() => box.remove());
    const mcpServers = { web: { url, headers: { 'X-K': placeholder('MYVAR') } } };
    const call = async (...more: readonly string[]) =>
      (await box.run(['call', 'web', 'echo', 'q=a', '--yes', ...more], { env: { MYVAR: SECRET } })).out;
    box.write('~/.config/plexus/mcp.json', { mcpServers });
    expect(await call()).toContain('with [MYVAR]');
    expect(await call('--json')).toContain('with [MYVAR]');
    expect(`${await call()}${await call('--json')}`).not.toContain(SECRET);
    box.write('~/.config/plexus/mcp.json', { mcpServers, plexus: { results: { redact: 'off' } } });
    expect(await call()).toContain(SECRET);
  });
});
