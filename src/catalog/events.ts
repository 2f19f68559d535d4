// Owns what the catalog reports to the outside.

import type { QualifiedName, ServerName } from '../model/names.ts';
import type { Signal } from '../model/tool.ts';
import type { Surface } from '../shaping/injection.ts';

/** A text of a server looks as if it gave a model orders. A hint for people: nothing follows from it by itself. */
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
      /** Under the same name, something else for a model to read. */
      readonly changed: readonly QualifiedName[];
    }
  | { readonly type: 'catalog.problem-found'; readonly server: ServerName; readonly problem: string }
  /** What a server has listed is other than before; none once it is gone. */
  | {
      readonly type: 'resources.changed';
      readonly server: ServerName;
      readonly count: number;
      readonly templates: number;
    }
  | { readonly type: 'prompts.changed'; readonly server: ServerName; readonly count: number }
  /** Only of resources that somebody subscribed to, or that were read from a server with `subscriptions`. */
  | { readonly type: 'resource.updated'; readonly server: ServerName; readonly uri: string };
