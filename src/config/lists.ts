// Owns the lists of servers that may or must not be used. A server they rule out keeps its name and is switched off, with the reason.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerDefinition } from '../model/server.ts';

export interface Lists {
  /** Empty: allows everything. */
  readonly allowlist: readonly string[];
  readonly denylist: readonly string[];
}

export interface Applied {
  readonly definitions: readonly ServerDefinition[];
  readonly denials: readonly Diagnostic[];
}

/** Every list is asked, whoever wrote it: a file can only ever take servers away. */
export function applyLists(definitions: readonly ServerDefinition[], layers: readonly Lists[]): Applied {
  const denied = new Set(layers.flatMap(({ denylist }) => denylist));
  const allowed = layers.map(({ allowlist }) => new Set(allowlist)).filter((list) => list.size > 0);
  const denials: Diagnostic[] = [];
  const applied = definitions.map((definition) => {
    const { name, settings, provenance } = definition;
    const list = denied.has(name) ? 'mcp_server_denylist names it' : 'mcp_server_allowlist does not name it';
    if (!denied.has(name) && allowed.every((each) => each.has(name))) return definition;
    denials.push({
      severity: 'warning',
      code: 'SERVER_DENIED',
      message: `server "${name}" is not used, because ${list}`,
      remedy: 'Change that list, or ask whoever wrote it.',
      server: name,
      ...(provenance.file === undefined ? {} : { file: provenance.file }),
    });
    return Object.freeze({ ...definition, settings: Object.freeze({ ...settings, enabled: false }) });
  });
  return { definitions: applied, denials };
}
