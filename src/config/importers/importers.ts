// Owns the table of all importers, strongest first: where two apps define a server of the same name, the first one counts.

import type { FindGroups, Importer, ImportPlace } from './importer.ts';
import { at, byFolder, inOpenCode, inSetting } from './lookup.ts';
import { type ImportFolders, importFolders } from './places.ts';
import {
  timeoutInMs,
  translateCodex,
  translateCopilot,
  translateGemini,
  translateOhMyPi,
  translateOpenCode,
  translateSideCar,
  translateVsCode,
  translateZed,
} from './translate.ts';

interface ImporterRow extends Pick<Importer, 'app' | 'title' | 'translate'> {
  readonly files: (folders: ImportFolders) => readonly (readonly ImportPlace[])[];
  /** Groups of servers, strongest first. */
  readonly find: readonly FindGroups[];
}

const OPENCODE_FILES = ['opencode.jsonc', 'opencode.json'];

/** The name of the Windows store's package of Claude Desktop, whose files are kept apart. */
const CLAUDE_STORE_PACKAGE = 'Claude_pzs8sxrjxfjjc';

const rows: readonly ImporterRow[] = [
  {
    app: 'claude-code',
    title: 'Claude Code',
    files: ({ workspace, own, home, env }) => [
      workspace('.mcp.json'),
      // The older file name wins where it exists. Without the variable, the newer file lies beside the folder.
      own(env['CLAUDE_CONFIG_DIR'] || home('.claude'), '.config.json'),
      own(env['CLAUDE_CONFIG_DIR'] || home(), '.claude.json'),
    ],
    find: [byFolder],
    translate: timeoutInMs,
  },
  {
    app: 'claude-desktop',
    title: 'Claude Desktop',
    files: ({ own, home, appData, env, platform, join }) => {
      const packages = join(env['LOCALAPPDATA'] || home('AppData', 'Local'), 'Packages');
      const stored = join(packages, CLAUDE_STORE_PACKAGE, 'LocalCache', 'Roaming', 'Claude');
      const folders = [appData('Claude'), ...(platform === 'win32' ? [stored] : [])];
      return folders.map((folder) => own(folder, 'claude_desktop_config.json'));
    },
    find: [at('mcpServers')],
  },
  {
    app: 'codex',
    title: 'Codex',
    files: ({ workspace, own, home, env }) => [
      workspace('.codex/config.toml'),
      own(env['CODEX_HOME'] || home('.codex'), 'config.toml'),
    ],
    find: [at('mcp_servers')],
    translate: translateCodex,
  },
  {
    // Its `mcp` key holds settings about servers, and no server.
    app: 'gemini',
    title: 'Gemini CLI',
    files: ({ workspace, own, home, env, join }) => [
      workspace('.gemini/settings.json'),
      own(join(env['GEMINI_CLI_HOME'] || home(), '.gemini'), 'settings.json'),
    ],
    find: [at('mcpServers')],
    translate: translateGemini,
  },
  {
    app: 'opencode',
    title: 'OpenCode',
    files: ({ workspace, own, home, dotConfig, env }) => [
      own(env['OPENCODE_CONFIG_DIR'], ...OPENCODE_FILES),
      own(home('.opencode'), ...OPENCODE_FILES),
      workspace(...OPENCODE_FILES.map((name) => `.opencode/${name}`), ...OPENCODE_FILES),
      // This variable names the file itself.
      own(env['OPENCODE_CONFIG'], ''),
      own(dotConfig('opencode'), ...OPENCODE_FILES, 'config.json'),
    ],
    find: [inOpenCode],
    translate: translateOpenCode,
  },
  {
    app: 'cursor',
    title: 'Cursor',
    files: ({ workspace, own, home }) => [workspace('.cursor/mcp.json'), own(home('.cursor'), 'mcp.json')],
    find: [at('mcpServers')],
  },
  {
    // It has no file in the workspace; its plugins for other editors share the last file.
    app: 'windsurf',
    title: 'Windsurf',
    files: ({ own, home }) => [
      own(home('.codeium'), 'windsurf/mcp_config.json', 'windsurf-next/mcp_config.json', 'mcp_config.json'),
    ],
    find: [at('mcpServers')],
  },
  {
    // A server that one of Zed's extensions runs has no command in the file, so it cannot be run from outside.
    app: 'zed',
    title: 'Zed',
    files: ({ workspace, own, home, appData, dotConfig, env, platform, join }) => {
      const flatpak = env['FLATPAK_XDG_CONFIG_HOME'];
      const onLinux = flatpak ? join(flatpak, 'zed') : dotConfig('zed');
      // On macOS no variable moves the folder.
      const folder = platform === 'win32' ? appData('Zed') : platform === 'darwin' ? home('.config', 'zed') : onLinux;
      return [workspace('.zed/settings.json'), own(folder, 'settings.json')];
    },
    find: [at('context_servers')],
    translate: translateZed,
  },
  {
    app: 'copilot',
    title: 'Copilot CLI',
    files: ({ workspace, own, home, env }) => [
      workspace('.mcp.json'),
      own(env['COPILOT_HOME'] || home('.copilot'), 'mcp-config.json'),
    ],
    find: [at('mcpServers')],
    translate: translateCopilot,
  },
  {
    // Servers stand in a file of their own, and in the settings, where they stood before.
    app: 'vscode',
    title: 'VS Code',
    files: ({ workspace, editor }) => [
      workspace('.vscode/mcp.json', '.vscode/settings.json'),
      editor('mcp.json', 'settings.json'),
    ],
    find: [at('servers'), inSetting('mcp.servers')],
    translate: translateVsCode,
  },
  {
    // Two programs have this name and share a folder: an editor's extension and a terminal agent.
    app: 'codebuddy',
    title: 'CodeBuddy',
    files: ({ workspace, own, home, editor, env }) => [
      workspace('.codebuddy/mcp.json', '.mcp.json'),
      own(env['CODEBUDDY_CONFIG_DIR'] || home('.codebuddy'), '.mcp.json', 'mcp.json'),
      own(home(), '.codebuddy.json'),
      workspace('.vscode/settings.json'),
      editor('settings.json'),
    ],
    find: [byFolder, at('servers'), inSetting('codebuddy.mcp.servers')],
  },
  {
    // Its handbook names the TOML files, its program reads the JSON files.
    app: 'cocode',
    title: 'cocode',
    files: ({ workspace, own, home, dotConfig, env }) => [
      workspace('.cocode.local.toml', '.cocode.local/mcp.json', '.mcp.toml', '.cocode/mcp.json', '.mcp.json'),
      own(dotConfig('cocode'), 'mcp.toml'),
      own(env['COCO_CONFIG_DIR'] || home('.cocode'), 'mcp.json'),
    ],
    find: [at('mcp_servers'), at('mcpServers')],
  },
  {
    app: 'oh-my-pi',
    title: 'Oh My Pi',
    files: (folders) => [
      folders.workspace('.omp/mcp.json', '.omp/.mcp.json'),
      folders.own(ohMyPiProfile(folders), 'mcp.json', '.mcp.json'),
      folders.workspace('mcp.json', '.mcp.json'),
    ],
    find: [at('mcpServers')],
    translate: translateOhMyPi,
  },
  {
    app: 'agent-code',
    title: 'agent-code',
    files: ({ workspace, own, appData }) => [
      workspace('.agent/settings.local.toml', '.agent/settings.toml'),
      own(appData('agent-code'), 'config.toml'),
    ],
    find: [at('mcp_servers')],
  },
  {
    // An extension of VS Code: its setting beats the file of the workspace.
    app: 'sidecar',
    title: 'SideCar',
    files: ({ workspace, editor }) => [
      workspace('.vscode/settings.json'),
      editor('settings.json'),
      workspace('.mcp.json'),
    ],
    find: [inSetting('sidecar.mcpServers'), at('mcpServers')],
    translate: translateSideCar,
  },
];

export const importers: readonly Importer[] = rows.map(({ files, find, ...row }) => ({
  ...row,
  places: (environment) => files(importFolders(environment)).flat(),
  find: (content, environment) => find.flatMap((each) => each(content, environment)),
}));

/**
 * The folder of Oh My Pi's active profile. The profile's name becomes part of a path, so only a name that Oh My Pi accepts
 * counts.
 */
function ohMyPiProfile({ env, home, join }: ImportFolders): string {
  const root = home(env['PI_CONFIG_DIR'] || '.omp');
  const profile = (env['OMP_PROFILE'] ?? env['PI_PROFILE'] ?? '').trim();
  const isNamed = profile !== 'default' && /^[a-z0-9][a-z0-9._-]{0,63}$/.test(profile);
  return isNamed ? join(root, 'profiles', profile, 'agent') : env['PI_CODING_AGENT_DIR'] || join(root, 'agent');
}
