// Owns how tests build a configuration and a registry without files: real settings with all defaults, and what a test changes.

import type { LoadedConfig } from '../../../src/config/load.ts';
import { plexusSchema } from '../../../src/config/schema.ts';
import { ServerRegistry } from '../../../src/servers/registry.ts';

export function configOf(change: Partial<LoadedConfig> = {}): LoadedConfig {
  return {
    definitions: [],
    invalid: [],
    shadowed: [],
    pending: [],
    capped: [],
    refused: new Map(),
    suppressed: [],
    rules: [],
    idleRules: [],
    lists: [],
    promptInputs: new Map(),
    settings: plexusSchema.parse({}),
    defaults: {},
    diagnostics: [],
    files: [],
    watched: [],
    explain: { server: async () => undefined, settings: async () => [] },
    loosening: [],
    ...change,
  };
}

export function registryOf(change: Partial<LoadedConfig> = {}): ServerRegistry {
  const registry = new ServerRegistry({ cwd: '/', home: '/', env: {}, platform: 'linux' });
  registry.apply(configOf(change));
  return registry;
}
