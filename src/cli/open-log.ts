// Owns opening the log of a server, as a runtime writes it.

import { stateFolder } from '../config/scopes.ts';
import type { ServerName } from '../model/names.ts';
import { LogReader } from '../store/log-reader.ts';
import { logFileOf } from '../store/server-log.ts';
import type { Context } from './command.ts';
import { environmentOf } from './load-config.ts';

export function openLog(context: Context, server: ServerName): LogReader {
  return new LogReader(logFileOf(stateFolder(environmentOf(context)), server));
}
