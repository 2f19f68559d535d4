// Owns the event that reports a loaded configuration.

import type { Diagnostic } from '../model/diagnostic.ts';

export type ConfigEvent = {
  readonly type: 'config.loaded';
  readonly files: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
};
