// Owns the events that the catalog emits.

import type { QualifiedName, ServerName } from '../model/names.ts';
import type { Signal } from '../model/tool.ts';
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
  | {
      readonly type: 'catalog.changed';
      readonly revision: string;
      readonly added: readonly QualifiedName[];
      readonly removed: readonly QualifiedName[];
      /** Tools that kept their name but show a model something else now. */
      readonly changed: readonly QualifiedName[];
    }
  | { readonly type: 'catalog.problem-found'; readonly server: ServerName; readonly problem: string }
  /** A server's lists differ from before; the counts are 0 once the server is removed. */
  | {
      readonly type: 'resources.changed';
      readonly server: ServerName;
      readonly count: number;
      readonly templates: number;
    }
  | { readonly type: 'prompts.changed'; readonly server: ServerName; readonly count: number }
  /** Only for resources that the host subscribed to, or that were read from a server with `subscriptions`. */
  | { readonly type: 'resource.updated'; readonly server: ServerName; readonly uri: string };
