// Owns one agent, sub-agent or gateway client: which tools it sees, its session grants, its handlers and, where it wants them,
// connections of its own. The runtime itself is the root view; a child only ever narrows.

import type { Lines } from './call/lines.ts';
import type { Perform } from './call/pipeline.ts';
import { type CatalogSnapshot, narrowSnapshot } from './catalog/snapshot.ts';
import type { InputHandlers } from './connection/requests.ts';
import { matchesWildcard } from './kernel/wildcard.ts';
import type { Tool } from './model/tool.ts';
import { createTurn, type Turn } from './turn.ts';

export interface ViewOptions extends InputHandlers {
  /** Of the tools, only these: qualified names, where `*` stands for anything. */
  readonly tools?: readonly string[];
  /** Connections of its own, shared with nobody; its handlers decide what their servers may ask for. */
  readonly perClient?: boolean;
}

export interface View {
  turn(): Turn;
  /** A narrower view of the same servers: it starts none, and sees no more than this one. */
  child(options?: Omit<ViewOptions, 'perClient'>): View;
  /** Ends what the view has for itself. */
  close(): Promise<void>;
}

export interface ViewParts {
  readonly snapshot: () => CatalogSnapshot;
  readonly perform: Perform;
  readonly inputs: InputHandlers;
  readonly lines?: (Lines & { close(): Promise<void> }) | undefined;
}

export function createView({ snapshot, perform, inputs, lines }: ViewParts): View {
  const caller = { grants: new Set<string>(), inputs, ...(lines && { lines }) };
  return {
    turn: () => createTurn(snapshot(), perform, caller),
    child: ({ tools, ...handlers } = {}) =>
      createView({
        snapshot: tools === undefined ? snapshot : narrowed(snapshot, tools),
        perform,
        inputs: { ...inputs, ...handlers },
        // The child uses what its parent holds, and leaves the ending of it to the parent.
        lines: lines && { ...lines, close: async () => undefined },
      }),
    close: async () => lines?.close(),
  };
}

/** As long as nothing changes, the same snapshot: what a model reads stays the same object too. */
export function narrowed(snapshot: () => CatalogSnapshot, patterns: readonly string[]): () => CatalogSnapshot {
  const isSeen = ({ name }: Tool) => patterns.some((pattern) => matchesWildcard(pattern, name));
  let latest: { readonly of: CatalogSnapshot; readonly view: CatalogSnapshot } | undefined;
  return () => {
    const whole = snapshot();
    if (latest?.of !== whole) latest = { of: whole, view: narrowSnapshot(whole, isSeen) };
    return latest.view;
  };
}
