// Owns what is said to somebody who names a server that nobody configured.

import type { LoadedConfig } from '../config/load.ts';
import { nearest } from '../kernel/nearest.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Context } from './command.ts';
import { complainOf } from './with-runtime.ts';

/** What is wrong with the files may be why it is not there: that is told too. */
export function unknownServer(server: string, config: LoadedConfig, context: Context): RuntimeError {
  complainOf(config.diagnostics, context);
  const names = [...config.definitions, ...config.invalid, ...config.suppressed].map((each) => each.name);
  return new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions) });
}
