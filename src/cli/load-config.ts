// Owns reading the configuration for a command, without starting anything.

import { homedir } from 'node:os';
import type { LoadedConfig } from '../config/load.ts';
import type { Surroundings } from '../config/scopes.ts';
import type { Context } from './command.ts';

export async function loadConfigFor(context: Context): Promise<LoadedConfig> {
  const { loadConfig } = await import('../config/load.ts');
  const { config: configFile } = context.runtimeOptions;
  return loadConfig({ ...surroundingsOf(context), discover: true, ...(configFile !== undefined && { configFile }) });
}

export const surroundingsOf = ({ cwd, env }: Context): Surroundings => ({
  cwd,
  env,
  home: homedir(),
  platform: process.platform,
});
