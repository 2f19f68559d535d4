// Owns the proof that servers of every named app are found, taken over once, and that no secret of theirs lies in a file of ours.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about

import { appendFileSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { faulty } from '../servers/faulty.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';

let box: Sandbox;
beforeEach(() => {
  box = new Sandbox();
});
afterEach(() => box.remove());

const local = (name: string) => ({ command: 'node', args: [`${name}.js`] });
const map = (name: string) => ({ mcpServers: { [name]: local(name) } });

/** One file of every app, as that app writes it. */
function writeAll(): Record<string, string> {
  box.write('~/.claude.json', {
    ...map('claude-user'),
    projects: { [box.workspace]: map('claude-local'), '/elsewhere': map('claude-elsewhere') },
  });
  box.write('.mcp.json', map('claude-project'));
  box.write('~/.config/Claude/claude_desktop_config.json', map('desktop'));
  box.write('~/.codex/config.toml', '[mcp_servers.codex]\ncommand = "node"\nargs = ["codex.js"]\n');
  box.write('~/.gemini/settings.json', map('gemini'));
  box.write('~/.config/opencode/opencode.jsonc', {
    mcp: { opencode1: { type: 'local', command: ['node', 'opencode1.js'], environment: { A: '{env:HOME}' } } },
  });
  box.write('opencode.json', { mcp: { servers: { opencode2: { type: 'remote', url: 'https://o.example/mcp' } } } });
  box.write('~/.cursor/mcp.json', map('cursor'));
  box.write('~/.codeium/windsurf/mcp_config.json', {
    mcpServers: { windsurf: { serverUrl: 'https://w.example/mcp' } },
  });
  box.write(
    '~/.config/zed/settings.json',
    '// mine\n{ "context_servers": { "zed": { "command": { "path": "z", "args": [] } }, } }',
  );
  box.write('~/.copilot/mcp-config.json', {
    mcpServers: { copilot: { ...local('copilot'), type: 'local', tools: ['*'] } },
  });
  box.write('.vscode/mcp.json', { servers: { vscode: local('vscode') }, inputs: [] });
  box.write('.codebuddy/mcp.json', { servers: [{ name: 'codebuddy', ...local('codebuddy') }] });
  box.write('~/.config/cocode/mcp.toml', '[mcp_servers.cocode]\nprogram = "cocode"\n');
  box.write('~/.omp/agent/mcp.json', map('omp'));
  box.write('~/.config/agent-code/config.toml', '[mcp_servers.agentcode]\ncommand = "ac"\n');
  box.write('.vscode/settings.json', { 'sidecar.mcpServers': { sidecar: { type: 'url', url: 'https://s.example' } } });
  return {
    'claude-user': 'claude-code',
    'claude-local': 'claude-code',
    'claude-elsewhere': 'claude-code',
    'claude-project': 'claude-code',
    desktop: 'claude-desktop',
    codex: 'codex',
    gemini: 'gemini',
    opencode1: 'opencode',
    opencode2: 'opencode',
    cursor: 'cursor',
    windsurf: 'windsurf',
    zed: 'zed',
    copilot: 'copilot',
    vscode: 'vscode',
    codebuddy: 'codebuddy',
    cocode: 'cocode',
    omp: 'oh-my-pi',
    agentcode: 'agent-code',
    sidecar: 'sidecar',
  };
}

verifies(['CFG-09', 'EXT-26'], 'a dry run finds every server of every app, and changes nothing', async () => {
  const expected = writeAll();
  const before = readdirSync(box.folder, { recursive: true }).sort();
  const { dryRun, found, taken, skipped, diagnostics } = await box.json('import', '--dry-run');
  expect(dryRun).toBe(true);
  expect(Object.fromEntries(found.map((each: { name: string; app: string }) => [each.name, each.app]))).toEqual(
    expected,
  );
  expect(taken.length + skipped.length).toBe(found.length);
  expect(skipped.map(({ name, because }: { name: string; because: string }) => [name, because])).toEqual([
    ['claude-elsewhere', 'it is for the folder /elsewhere; import it there'],
    ['claude-project', 'Plexus reads this file anyway'],
  ]);
  expect(diagnostics).toEqual([]);
  expect(readdirSync(box.folder, { recursive: true }).sort()).toEqual(before);
});

verifies(
  'CFG-09',
  'with import = "auto" they are read live, and start nothing that lies in the workspace',
  async () => {
    const expected = Object.keys(writeAll()).filter((name) => name !== 'claude-elsewhere');
    const before = await box.json('config');
    expect(before.servers.map(({ name }: { name: string }) => name)).toEqual(['claude-project']);
    box.write('~/.config/plexus/mcp.toml', '[plexus]\nimport = "auto"\n');
    const { servers } = await box.json('config');
    expect(servers.map(({ name }: { name: string }) => name)).toEqual(expected.sort());
    const { trust } = await box.json('get', 'vscode');
    expect(trust).toBe('asks');
  },
);

/** To see what a server was given, a test asks it. */
const showSecrets = () => appendFileSync(box.path('~/.config/plexus/mcp.toml'), '\n[plexus.results]\nredact = "off"\n');

verifies(
  'EXT-26',
  'a literal secret becomes a placeholder, its value is kept encrypted, and the server gets it',
  async () => {
    const secret = 'sk-live-0123456789abcdef';
    box.write('~/.cursor/mcp.json', {
      mcpServers: { echo: { ...faulty(), env: { API_TOKEN: secret, LEVEL: 'info' } } },
    });
    const { taken } = await box.json('import', '--yes');
    expect(taken[0].secrets).toEqual([{ at: 'env.API_TOKEN', placeholder: '${input:echo-API_TOKEN}' }]);
    const file = box.path('~/.config/plexus/mcp.toml');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const state = box.path('~/.local/state/plexus');
    const kept = [file, ...readdirSync(state).map((name) => join(state, name))].map((each) =>
      readFileSync(each, 'latin1'),
    );
    expect(kept.filter((text) => text.includes(secret))).toEqual([]);
    const shown = JSON.parse((await box.plexus('call', 'echo', 'env')).out);
    expect(shown.API_TOKEN, 'what was filled in is not shown').toBe('[API_TOKEN]');
    showSecrets();
    const seen = JSON.parse((await box.plexus('call', 'echo', 'env')).out);
    expect([seen.API_TOKEN, seen.LEVEL]).toEqual([secret, 'info']);
  },
);

test('where nobody can be asked, nothing is written without --yes', async () => {
  box.write('~/.cursor/mcp.json', map('mine'));
  const before = readdirSync(box.folder, { recursive: true }).sort();
  const { code, out } = await box.plexus('import');
  expect([code, out.trimEnd().split('\n').at(-1)]).toEqual([0, 'Nothing was written. Add --yes to import them.']);
  const { dryRun, taken } = await box.json('import');
  expect([dryRun, taken.length]).toEqual([true, 1]);
  expect(readdirSync(box.folder, { recursive: true }).sort()).toEqual(before);
  expect((await box.plexus('import', '--yes', '--dry-run')).out).toContain('Nothing was written');
  expect((await box.plexus('import', '--yes')).out).toContain(box.path('~/.config/plexus/mcp.toml'));
});

test('what Claude Code has for this folder goes into its local file, and still has to be approved', async () => {
  box.write('~/.claude.json', { ...map('everywhere'), projects: { [box.workspace]: map('here') } });
  const { taken } = await box.json('import', '--yes');
  const places = taken.map(({ name, writtenTo }: { name: string; writtenTo: string }) => [name, writtenTo]);
  expect(places).toEqual([
    ['everywhere', box.path('~/.config/plexus/mcp.toml')],
    ['here', box.path('.plexus.local.toml')],
  ]);
  expect(await box.json('get', 'here')).toMatchObject({ trust: 'asks', provenance: { scope: 'local' } });
});

test('a link in the workspace to a file of one’s own does not bring it into the workspace', async () => {
  box.write('~/.gemini/settings.json', map('mine'));
  box.write('.cursor/x', '');
  symlinkSync(box.path('~/.gemini/settings.json'), box.path('.cursor/mcp.json'));
  const { taken } = await box.json('import', '--yes', '--from', 'cursor');
  expect(taken).toMatchObject([{ name: 'mine', scope: 'user', file: box.path('~/.gemini/settings.json') }]);
  expect(readdirSync(box.workspace)).toEqual(['.cursor']);
});

test('secrets of servers with similar names stay apart', async () => {
  const withToken = (token: string) => ({ ...faulty(), env: { API_TOKEN: token } });
  box.write('~/.config/plexus/mcp.toml', '[mcp_servers.x]\ncommand = "x"\nargs = ["${input:my-server-API_TOKEN}"]\n');
  box.write('~/.cursor/mcp.json', {
    mcpServers: {
      'my server': { ...withToken('first-secret'), args: [...faulty().args, '--tools', '1'] },
      'my-server': withToken('second-secret'),
    },
  });
  await box.json('import', '--yes');
  showSecrets();
  const seen = async (name: string) => JSON.parse((await box.plexus('call', name, 'env')).out).API_TOKEN;
  expect([await seen('my server'), await seen('my-server')]).toEqual(['first-secret', 'second-secret']);
});

test('config and get show where each server stands, and no literal secret', async () => {
  const secret = 'a-secret-of-mine';
  box.write(
    '.mcp.toml',
    `[mcp_servers."my server"]\ncommand = "x"\nargs = ["postgres://u:${secret}@h/d"]\nenv = { API_KEY = "${secret}", B_KEY = "\${B}" }\n\n[[permissions.rules]]\ntool = "*"\naction = "ask"\n`,
  );
  const [config, json, got] = await Promise.all([
    box.plexus('config'),
    box.plexus('config', '--json'),
    box.plexus('get', 'my server'),
  ]);
  for (const { out } of [config, json, got])
    expect([out.includes(secret), out.includes('${B}')]).toEqual([false, true]);
  expect(config.out).toContain(`project ${box.path('.mcp.toml')}:1\n`);
  expect(config.out).toContain(`rule  * = ask  ${box.path('.mcp.toml')}:6\n`);
  expect(got.out).toContain("plexus approve 'my server'");
});

test('what is taken over once is recognized the next time, under whatever name', async () => {
  box.write('~/.cursor/mcp.json', {
    mcpServers: { a: { ...local('same'), env: { API_TOKEN: 'sk-live-0123456789' } } },
  });
  box.write('~/.gemini/settings.json', {
    mcpServers: { b: { ...local('same'), env: { API_TOKEN: 'sk-live-0123456789' } }, a: local('other') },
  });
  const first = await box.json('import', '--yes');
  const second = await box.json('import', '--yes');
  const reasons = ({ skipped }: { skipped: { name: string; app: string; because: string }[] }) =>
    skipped.map(({ name, app, because }) => [name, app, because.replace(box.folder, '')]);
  expect(first.taken.map(({ name, app }: { name: string; app: string }) => [name, app])).toEqual([
    ['b', 'gemini'],
    ['a', 'gemini'],
  ]);
  expect(reasons(first)).toEqual([['a', 'cursor', 'it is the same as "b" of gemini']]);
  expect(reasons(second)).toEqual([
    ['b', 'gemini', 'it is the same as "b", which is there already'],
    ['a', 'gemini', 'it is the same as "a", which is there already'],
    ['a', 'cursor', 'it is the same as "b", which is there already'],
  ]);
});

test('a server of the workspace goes into its file and still has to be approved', async () => {
  box.write('.cursor/mcp.json', { mcpServers: { theirs: faulty() } });
  const { taken } = await box.json('import', '--yes');
  expect(taken).toMatchObject([{ name: 'theirs', scope: 'project', writtenTo: box.path('.mcp.json') }]);
  const { servers } = await box.json('list');
  expect(servers).toMatchObject([{ name: 'theirs', state: 'needs-approval', status: 'disconnected' }]);
});

test('what is not understood is said, and the rest goes on', async () => {
  box.write('~/.cursor/mcp.json', {
    mcpServers: { good: local('x'), bad: { comand: 'x' }, odd: { ...local('y'), wat: 1 } },
  });
  box.write('~/.codex/config.toml', '[mcp_servers.x\n');
  const { taken, skipped, diagnostics } = await box.json('import', '--dry-run');
  expect(taken.map(({ name }: { name: string }) => name)).toEqual(['good', 'odd']);
  expect(skipped).toMatchObject([{ name: 'bad', because: expect.stringContaining('neither "command" nor "url"') }]);
  expect(
    diagnostics.map(({ file, line }: { file: string; line: number }) => [file.replace(box.home, '~'), line]),
  ).toEqual([
    ['~/.codex/config.toml', 1],
    ['~/.cursor/mcp.json', 10],
    ['~/.cursor/mcp.json', 9],
    ['~/.cursor/mcp.json', 17],
  ]);
  const wrong = await box.plexus('import', '--from', 'curser');
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('did you mean "cursor"?')]);
});
