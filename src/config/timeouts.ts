// Owns the two environment variables that other agents made known: MCP_TIMEOUT for the start, MCP_TOOL_TIMEOUT for a call.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { DefaultTimeouts } from './define.ts';
import type { Surroundings } from './scopes.ts';

export interface Timeouts {
  readonly defaults: DefaultTimeouts;
  readonly diagnostics: readonly Diagnostic[];
}

/** The environment replaces a default, never what an entry says. */
export function readTimeouts(env: Surroundings['env']): Timeouts {
  const diagnostics: Diagnostic[] = [];
  const read = (variable: string): number | undefined => {
    const written = env[variable]?.trim();
    if (!written) return undefined;
    if (/^\d{1,15}$/.test(written)) return Number(written);
    diagnostics.push({
      severity: 'warning',
      code: 'CONFIG_INVALID',
      message: `the environment variable ${variable} must be a number of milliseconds, so ${JSON.stringify(written.slice(0, 40))} is ignored`,
      remedy: `Set ${variable} to a number such as 30000, or unset it.`,
    });
    return undefined;
  };
  const startupTimeoutMs = read('MCP_TIMEOUT');
  const toolTimeoutMs = read('MCP_TOOL_TIMEOUT');
  const defaults: DefaultTimeouts = {
    ...(startupTimeoutMs === undefined ? {} : { startupTimeoutMs }),
    ...(toolTimeoutMs === undefined ? {} : { toolTimeoutMs }),
  };
  return { defaults, diagnostics };
}
