// Owns one agent, sub-agent or gateway client: its session grants and its handlers. The runtime itself is the root view.

import type { Perform } from './call/pipeline.ts';
import type { CatalogSnapshot } from './catalog/snapshot.ts';
import type { InputHandlers } from './connection/requests.ts';
import { createTurn, type Turn } from './turn.ts';

export interface View {
  turn(): Turn;
}

export interface ViewParts {
  readonly snapshot: () => CatalogSnapshot;
  readonly perform: Perform;
  readonly inputs: InputHandlers;
}

export function createView({ snapshot, perform, inputs }: ViewParts): View {
  const caller = { grants: new Set<string>(), inputs };
  return { turn: () => createTurn(snapshot(), perform, caller) };
}
