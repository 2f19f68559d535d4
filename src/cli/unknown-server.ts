// Owns the error for a server name that is not configured.

import type { LoadedConfig } from '../config/load.ts';
import type { RuntimeError } from '../model/errors.ts';
import type { Context } from './command.ts';
import { serverUnknown } from './unknown-name.ts';
import { warnOfDiagnostics } from './with-runtime.ts';

/** Also prints the errors of the configuration files: one of them may be why the server is missing. */
export function unknownServer(server: string, config: LoadedConfig, context: Context): RuntimeError {
  warnOfDiagnostics(config.diagnostics, context);
  const names = [...config.definitions, ...config.invalid, ...config.suppressed].map((each) => each.name);
  return serverUnknown(server, names, context);
}
