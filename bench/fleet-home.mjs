// Owns the home of a user who has used a fleet before: its servers are configured, and their tools are cached on disk.

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'smol-toml';
import { timeNode } from './children.mjs';
import { serversOf } from './servers.mjs';

export const cli = fileURLToPath(new URL('../dist/cli.cjs', import.meta.url));

/** `place` is where a process of this person runs. */
export async function writeFleetHome(bench, { servers, toolsOfEach }) {
  const home = await mkdtemp(join(bench.folder, 'person-'));
  const place = { home, cwd: join(home, 'workspace') };
  await mkdir(join(home, '.config', 'plexus'), { recursive: true });
  await mkdir(place.cwd);
  await writeFile(
    join(home, '.config', 'plexus', 'mcp.toml'),
    stringify({ mcp_servers: serversOf('ordinary', servers) }),
  );
  await timeNode([cli, 'tools', '--live'], { ...bench, place });
  const { stdout } = await timeNode([cli, 'list', '--json'], { ...bench, place });
  const known = JSON.parse(stdout).servers.filter(
    ({ freshness, toolCount }) => freshness === 'cached' && toolCount === toolsOfEach,
  );
  if (known.length !== servers)
    throw new Error(`the tools of ${known.length} servers are remembered, not of ${servers}`);
  return place;
}
