// Owns the environment variables that other agents introduced: MCP_TIMEOUT for the start, MCP_TOOL_TIMEOUT for a call,
// MAX_MCP_OUTPUT_TOKENS for a result.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { EnvDefaults } from './define.ts';
import type { HostEnvironment } from './scopes.ts';

export interface EnvDefaultsResult {
  readonly defaults: EnvDefaults;
  readonly diagnostics: readonly Diagnostic[];
}

interface Quantity {
  readonly unit: string;
  readonly least: number;
}

const MILLISECONDS: Quantity = { unit: 'milliseconds', least: 0 };
const TOKENS: Quantity = { unit: 'tokens', least: 1 };

/** A variable replaces a default of the schema, never a value that an entry sets. */
export function readEnvDefaults(env: HostEnvironment['env']): EnvDefaultsResult {
  const diagnostics: Diagnostic[] = [];
  const read = (variable: string, { unit, least }: Quantity): number | undefined => {
    const written = env[variable]?.trim();
    if (!written) return undefined;
    if (/^\d{1,15}$/.test(written) && Number(written) >= least) return Number(written);
    diagnostics.push({
      severity: 'warning',
      code: 'CONFIG_INVALID',
      message: `the environment variable ${variable} must be a number of ${unit}, so ${JSON.stringify(written.slice(0, 40))} is ignored`,
      remedy: `Set ${variable} to a number such as 30000, or unset it.`,
    });
    return undefined;
  };
  const startupTimeoutMs = read('MCP_TIMEOUT', MILLISECONDS);
  const toolTimeoutMs = read('MCP_TOOL_TIMEOUT', MILLISECONDS);
  const maxResultTokens = read('MAX_MCP_OUTPUT_TOKENS', TOKENS);
  const defaults: EnvDefaults = {
    ...(startupTimeoutMs === undefined ? {} : { startupTimeoutMs }),
    ...(toolTimeoutMs === undefined ? {} : { toolTimeoutMs }),
    ...(maxResultTokens === undefined ? {} : { maxResultTokens }),
  };
  return { defaults, diagnostics };
}
