// Owns the events that the catalog emits.

import type { QualifiedName, ServerName } from '../model/names.ts';
import type { Signal, ToolRef } from '../model/tool.ts';
import type { Surface } from '../shaping/injection.ts';

/** A server's text looks as if it gave a model orders. A hint for people: nothing is blocked because of it. */
export interface SignalEvent {
  readonly type: 'signal.raised';
  readonly server: ServerName;
  /** The tool that was called, or that is described. */
  readonly tool?: string;
  readonly prompt?: string;
  readonly callId?: string;
  readonly surface: Surface;
  readonly signals: readonly Signal[];
}

export type CatalogEvent =
  | SignalEvent
  /** The tools differ from before; the next turn has them. */
  | {
      readonly type: 'catalog.changed';
      readonly revision: string;
      readonly added: readonly QualifiedName[];
      readonly removed: readonly QualifiedName[];
      /** Tools that kept their name but show a model something else now. */
      readonly changed: readonly QualifiedName[];
    }
  /**
   * Several tools would have the same name, or the name is reserved: none of them gets it. The names that they have instead depend on
   * their servers and themselves alone, and stay the same.
   */
  | {
      readonly type: 'catalog.name-collided';
      readonly name: QualifiedName;
      /** It is the name of a builtin, or one of the host's `reservedNames`. */
      readonly isReserved: boolean;
      readonly tools: readonly ToolRef[];
    }
  /** A pattern of `view({ tools })` matches no tool, although all servers have settled. */
  | { readonly type: 'catalog.pattern-unmatched'; readonly pattern: string }
  /** A tool of a server was left out, or its list was cut off, and why. */
  | { readonly type: 'catalog.problem-found'; readonly server: ServerName; readonly problem: string }
  /** The resources of a server differ from before; the counts are 0 once the server is removed. */
  | {
      readonly type: 'resources.changed';
      readonly server: ServerName;
      readonly count: number;
      readonly templates: number;
    }
  /** The prompts of a server differ from before; the count is 0 once the server is removed. */
  | { readonly type: 'prompts.changed'; readonly server: ServerName; readonly count: number }
  /** A resource changed. Only for resources that the host subscribed to, or that were read from a server with `subscriptions`. */
  | { readonly type: 'resource.updated'; readonly server: ServerName; readonly uri: string };
