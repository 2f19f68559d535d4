// Owns the limit of `plexus list`: reads the person's file and the stored lists, and prints a line for each server. No approval,
// rule, scope or status – it marks what no list can beat.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';

const { XDG_CONFIG_HOME, XDG_CACHE_HOME } = process.env;
const { mcp_servers: servers } = parse(readFileSync(join(XDG_CONFIG_HOME, 'plexus', 'mcp.toml'), 'utf8'));
const folder = join(XDG_CACHE_HOME, 'plexus');
const stored = readdirSync(folder).filter((name) => name.startsWith('tools_'));
const lists = stored.map((name) => JSON.parse(JSON.parse(readFileSync(join(folder, name), 'utf8')).value));
const lines = Object.keys(servers).map((name, at) => `${name}  ${lists[at].tools.length} tools`);
process.stdout.write(`${lines.join('\n')}\n`);
