// Owns which servers wait for a person before they start: somebody is asked to approve the server, or for one of its inputs.
// The time that a person thinks does not count against the calls that wait for the server.

import type { AskInput } from '../config/inputs.ts';
import type { ServerName } from '../model/names.ts';
import type { Approve } from '../trust/approval.ts';

export class AwaitedPersons {
  readonly #questions = new Map<ServerName, number>();

  isAsked(server: ServerName): boolean {
    return this.#questions.has(server);
  }

  /** The same handler, whose open questions count here. */
  countApprovals(approve: Approve): Approve {
    return (request, options) =>
      request.kind === 'server'
        ? this.#during(request.server, () => approve(request, options))
        : approve(request, options);
  }

  /** The same handler, whose open questions count here. */
  countInputs(ask: AskInput): AskInput {
    return (request, options) => this.#during(request.server, async () => ask(request, options));
  }

  async #during<Value>(server: ServerName, ask: () => Promise<Value>): Promise<Value> {
    this.#count(server, 1);
    try {
      return await ask();
    } finally {
      this.#count(server, -1);
    }
  }

  #count(server: ServerName, change: number): void {
    const open = (this.#questions.get(server) ?? 0) + change;
    if (open > 0) this.#questions.set(server, open);
    else this.#questions.delete(server);
  }
}
