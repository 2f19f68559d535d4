// Owns importing from OpenCode: version 1 has the servers right under `mcp`, version 2 under `mcp.servers`.

import type { ConfigMap } from '../config-map.ts';
import { isMap } from '../config-map.ts';
import { pathsOf } from '../scopes.ts';
import type { EntryGroup, Importer, ImportPlace } from './importer.ts';
import { groupAt } from './lookup.ts';
import { dotConfigFolder, ownFiles, workspaceFiles } from './places.ts';
import { timeoutInMs } from './words.ts';

const NAMES = ['opencode.jsonc', 'opencode.json'] as const;

export const opencode: Importer = {
  app: 'opencode',
  title: 'OpenCode',
  places: (environment) => {
    const { home, env, platform } = environment;
    const { join, dirname, basename } = pathsOf(platform);
    const own = (folder: string | undefined, ...names: readonly string[]): readonly ImportPlace[] =>
      folder ? ownFiles(environment, folder, ...names) : [];
    const single = env['OPENCODE_CONFIG'];
    return [
      ...own(env['OPENCODE_CONFIG_DIR'], ...NAMES),
      ...own(join(home, '.opencode'), ...NAMES),
      ...workspaceFiles(environment, ...NAMES.map((name) => `.opencode/${name}`), ...NAMES),
      ...(single ? own(dirname(single), basename(single)) : []),
      ...own(join(dotConfigFolder(environment), 'opencode'), ...NAMES, 'config.json'),
    ];
  },
  find: (content) => {
    const { mcp } = content;
    return isMap(mcp) ? [...nested(content, mcp), ...flat(mcp)] : groupAt(content, 'mcp');
  },
  translate,
};

/** Version 2 still reads the old form, so that one file may hold both; a server may even be called "servers". */
const nested = (content: ConfigMap, mcp: ConfigMap) =>
  isServer(mcp['servers']) ? [] : groupAt(content, 'mcp', 'servers');

function flat(mcp: ConfigMap): readonly EntryGroup[] {
  const servers = Object.entries(mcp).filter(([name, value]) => !reserved.has(name) || isServer(value));
  return servers.length === 0 ? [] : [{ path: ['mcp'], entries: Object.fromEntries(servers) }];
}

const reserved: ReadonlySet<string> = new Set(['servers', 'timeout']);
const isServer = (value: unknown) => isMap(value) && ['local', 'remote'].some((type) => value['type'] === type);

/** Version 2 has a timeout per phase. `codemode` says how OpenCode shows the tools to its own model. */
function translate({ codemode, ...entry }: ConfigMap): ConfigMap {
  const { timeout, ...rest } = entry;
  if (!isMap(timeout)) return timeoutInMs(entry);
  const { startup, execution } = timeout;
  return {
    ...rest,
    ...(startup === undefined ? {} : { startupTimeoutMs: startup }),
    ...(execution === undefined ? {} : { toolTimeoutMs: execution }),
  };
}
