// Owns how long loading takes: six scopes, two hundred servers in all, written as people write them.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { discoverMCPServers } from 'plexus';
import { parse, stringify } from 'smol-toml';

const PER_SCOPE = [34, 34, 33, 33, 33, 33];
const REPEATS = 100;

/** Warm, in turns: what a reload pays for reading them, and what parsing them alone costs. */
export async function measure({ folder }) {
  const { around, files, servers } = await writeConfigFiles(folder);
  const load = async () => {
    const found = await discoverMCPServers({ ...around, env: {} });
    if (found.servers.length !== servers || found.diagnostics.length > 0)
      throw new Error('not every server was loaded');
  };
  const taken = { loadMs: 0, parseMs: 0 };
  for (let time = -REPEATS; time < REPEATS; time += 1) {
    const from = performance.now();
    await load();
    const loaded = performance.now();
    await parseAll(files);
    if (time < 0) continue;
    taken.loadMs += loaded - from;
    taken.parseMs += performance.now() - loaded;
  }
  return { loadMs: taken.loadMs / REPEATS, parseMs: taken.parseMs / REPEATS };
}

/** In the dialect each scope is mostly written in: local, project, user, a plugin, and what two other agents have. */
async function writeConfigFiles(folder) {
  const around = { cwd: join(folder, 'workspace'), home: join(folder, 'home') };
  const inToml = (servers) => toml({ mcp_servers: snake(servers) });
  const inJson = (servers) => json({ mcpServers: servers });
  const files = [
    [join(around.cwd, '.plexus.local.toml'), inToml],
    [join(around.cwd, '.mcp.toml'), inToml],
    [
      join(around.home, '.config/plexus/mcp.toml'),
      (servers) => toml({ plexus: { import: ['codex', 'cursor'] }, mcp_servers: snake(servers) }),
    ],
    [
      join(around.home, '.config/plexus/plugins/one/plugin.json'),
      (servers) => json({ name: 'one', mcpServers: servers }),
    ],
    [join(around.home, '.codex/config.toml'), inToml],
    [join(around.home, '.cursor/mcp.json'), inJson],
  ];
  for (const [at, [file, write]] of files.entries()) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, write(serversOf(at, PER_SCOPE[at])));
  }
  return { around, files: files.map(([file]) => file), servers: PER_SCOPE.reduce((sum, count) => sum + count) };
}

/** The least that can be: each file read and parsed, and nothing done with it. */
async function parseAll(files) {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return texts.map((text, at) => (files[at].endsWith('.toml') ? parse(text) : JSON.parse(text)));
}

function serversOf(scope, count) {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`server-${scope}-${at}`, entry(scope, at)]));
}

/** Two local ones, then a remote one. */
function entry(scope, at) {
  if (at % 3 === 2)
    return {
      url: `https://${scope}-${at}.example/mcp`,
      headers: { Authorization: `Bearer \${TOKEN_${at}}`, 'X-Team': 'blue' },
      startupTimeoutMs: 10_000,
    };
  return {
    command: 'npx',
    args: ['-y', `@scope-${scope}/server-${at}@1.2.3`, '--folder', '/srv/data'],
    env: { API_KEY: `\${KEY_${at}}`, LOG_LEVEL: 'info' },
    enabledTools: ['get_*', 'list_*'],
    description: `Server number ${at} of scope ${scope}`,
  };
}

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;
const toml = (value) => stringify(value);

function snake(value) {
  const words = { startupTimeoutMs: 'startup_timeout_ms', enabledTools: 'enabled_tools' };
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      Object.fromEntries(Object.entries(each).map(([key, inner]) => [words[key] ?? key, inner])),
    ]),
  );
}
