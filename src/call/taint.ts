// Owns an agent's memory of what it has read that servers wrote.

import type { ToolId } from '../model/names.ts';
import type { ToolOutcome } from '../model/tool.ts';

export interface ReadOutput {
  readonly tool: ToolId;
  /** What in it looked like an order, by name. */
  readonly signals: readonly string[];
}

/** A view shares it with its children: what one reads, the other is told. */
export class Taint {
  #latest: ReadOutput | undefined;
  #suspect: ReadOutput | undefined;
  #isCalm = true;

  note({ meta: { server, tool }, signals }: ToolOutcome): void {
    if (signals.length === 0) {
      // Nearly every output: nothing is made anew as long as it is one more of the same tool.
      if (this.#latest?.tool.server === server && this.#latest.tool.tool === tool) return;
      this.#latest = { tool: { server, tool }, signals: [] };
      return;
    }
    this.#suspect = { tool: { server, tool }, signals: [...new Set(signals.map(({ name }) => name))] };
    this.#isCalm = false;
  }

  /** What makes the agent's next steps doubtful; of all, an output that looked like an order. */
  get source(): ReadOutput | undefined {
    return this.#suspect ?? this.#latest;
  }

  /** An output that looked like an order, since somebody last said that all is well. */
  get suspicion(): ReadOutput | undefined {
    return this.#isCalm ? undefined : this.#suspect;
  }

  /** Somebody knows of this one, and says that all is well. */
  calm(suspicion: ReadOutput | undefined): void {
    if (suspicion === this.#suspect) this.#isCalm = true;
  }
}
