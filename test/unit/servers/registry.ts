// Owns how tests build a configuration and a registry without files: real settings with all defaults, and what a test changes.

import { plexusSchema } from '../../../src/config/schema.ts';
import { isRemote } from '../../../src/model/server.ts';
import type { JudgedConfig } from '../../../src/servers/judge-config.ts';
import { ServerRegistry } from '../../../src/servers/registry.ts';

/** As if nobody had approved anything. */
export function configOf(change: Partial<JudgedConfig> = {}): JudgedConfig {
  const { definitions = [] } = change;
  const strange = definitions.filter((each) => each.provenance.inWorkspace && isRemote(each));
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
    unapproved: new Map(strange.map(({ name }) => [name, 'restricted'])),
    overCap: new Set(),
    ...change,
  };
}

export function registryOf(change: Partial<JudgedConfig> = {}): ServerRegistry {
  const registry = new ServerRegistry({ cwd: '/', home: '/', env: {}, platform: 'linux' });
  registry.apply(configOf(change));
  return registry;
}
