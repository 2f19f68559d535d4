// Owns what an agent has read of servers' output, as far as it matters for later calls.

import type { ToolId } from '../model/names.ts';
import type { Signal } from '../model/tool.ts';

export interface ReadOutput {
  readonly tool: ToolId;
  /** The names of the signals that the output raised. */
  readonly signals: readonly string[];
}

/** A view shares it with its children, since each tells the other what it read. */
export class Taint {
  #latest: ReadOutput | undefined;
  #flagged: ReadOutput | undefined;
  #isAcknowledged = true;

  note({ meta: { server, tool }, signals }: { readonly meta: ToolId; readonly signals: readonly Signal[] }): void {
    if (signals.length === 0) {
      // Keep the same object for one more output of the same tool: this is nearly every call.
      if (this.#latest?.tool.server === server && this.#latest.tool.tool === tool) return;
      this.#latest = { tool: { server, tool }, signals: [] };
      return;
    }
    this.#flagged = { tool: { server, tool }, signals: [...new Set(signals.map(({ name }) => name))] };
    this.#isAcknowledged = false;
  }

  /** The output that makes the agent's next calls doubtful: a flagged one counts before the latest. */
  get source(): ReadOutput | undefined {
    return this.#flagged ?? this.#latest;
  }

  /** The flagged output that nobody has acknowledged yet. */
  get flaggedOutput(): ReadOutput | undefined {
    return this.#isAcknowledged ? undefined : this.#flagged;
  }

  /** A person was told of this output and agreed to go on. */
  acknowledge(output: ReadOutput | undefined): void {
    if (output === this.#flagged) this.#isAcknowledged = true;
  }
}
