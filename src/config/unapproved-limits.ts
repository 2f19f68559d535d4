// Owns which settings of an unapproved entry of the workspace count: `required` does not, nor does a limit that is longer than the
// default. A repository must neither stop a host nor keep it waiting.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerDefinition, ServerSettings, ToolSettings } from '../model/server.ts';
import { defineServer, type EnvDefaults } from './define.ts';

/** The same definition where it claims nothing. */
export function withoutClaims(definition: ServerDefinition, defaults: EnvDefaults): ServerDefinition {
  const { settings, launch } = definition;
  const most = defaultsFor(launch.kind === 'stdio' ? { command: 'x' } : { url: 'https://x.example' }, defaults);
  if (most === undefined) return definition;
  const limited: ServerSettings = {
    ...settings,
    required: false,
    startupTimeoutMs: shorter(settings.startupTimeoutMs, most.startupTimeoutMs),
    maxMessageBytes: Math.min(settings.maxMessageBytes, most.maxMessageBytes),
    ...callLimits(settings, most),
    ...(settings.tools && {
      tools: Object.fromEntries(
        Object.entries(settings.tools).map(([tool, each]) => [tool, { ...each, ...callLimits(each, most) }]),
      ),
    }),
  };
  return isSame(limited, settings) ? definition : Object.freeze({ ...definition, settings: Object.freeze(limited) });
}

type CallLimits = Pick<ToolSettings, 'toolTimeoutMs' | 'toolIdleTimeoutMs'>;

function callLimits<Each extends CallLimits>(
  { toolTimeoutMs: total, toolIdleTimeoutMs: idle }: Each,
  most: CallLimits,
) {
  return {
    ...(total !== undefined && { toolTimeoutMs: shorter(total, most.toolTimeoutMs) }),
    ...(idle !== undefined && { toolIdleTimeoutMs: shorter(idle, most.toolIdleTimeoutMs) }),
  };
}

/** 0 turns a limit off, so it is the longest. */
function shorter(limit: number, most = limit): number {
  if (most === 0) return limit;
  return limit === 0 ? most : Math.min(limit, most);
}

const isSame = (one: ServerSettings, other: ServerSettings) => JSON.stringify(one) === JSON.stringify(other);

function defaultsFor(value: Readonly<Record<string, string>>, defaults: EnvDefaults): ServerSettings | undefined {
  const blank = { name: 'blank', value, provenance: { scope: 'user', key: [] } } as const;
  return defineServer(blank, { defaults, mayLoosen: false }).definition?.settings;
}

export function claimsNothing({ name: server, provenance: { file } }: ServerDefinition): Diagnostic {
  return {
    severity: 'warning',
    code: 'SERVER_UNTRUSTED',
    server,
    message: `server "${server}" is not approved, so "required" and limits longer than the defaults do not count for it`,
    remedy: 'Approve it if you trust it, or remove them.',
    ...(file !== undefined && { file }),
  };
}
