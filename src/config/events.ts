// Owns the events that report a loaded configuration.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';

export type ConfigEvent =
  /** The configuration was read, at the start or again. */
  | {
      readonly type: 'config.loaded';
      readonly files: readonly string[];
      readonly diagnostics: readonly Diagnostic[];
    }
  /** An unapproved entry of the workspace has the name of a server outside of it, and is not used. */
  | {
      readonly type: 'config.server-shadowed';
      readonly server: ServerName;
      readonly file?: string;
      /** The file of the server that keeps the name. */
      readonly by?: string;
    }
  /** So many remote servers of the workspace are not connected, because nobody approved them and `connected` such ones are. */
  | { readonly type: 'config.servers-capped'; readonly count: number; readonly connected: number }
  /** A file of the workspace holds too much and was not read: until it is shortened, every tool asks. */
  | { readonly type: 'config.file-capped'; readonly file: string; readonly because: string };
