// Owns when a model reads what a server says about its use. The instructions of servers whose tools it sees at once stand in the
// system prompt; while other tools are searched for, those of their servers come with the first result that shows one of them.

import type { Exposed } from '../catalog/exposure/exposure.ts';
import { composeInstructions, type ServerInstructions } from '../catalog/exposure/instructions.ts';
import type { ServerName } from '../model/names.ts';
import type { Tool } from '../model/tool.ts';

/** The part for the system prompt. No result ever shows a server without tools, so its instructions stand there too. */
export function standingInstructions(
  all: readonly ServerInstructions[],
  { standing }: Pick<Exposed, 'standing'>,
  tools: readonly Tool[],
): readonly ServerInstructions[] {
  const withTools = new Set(tools.map(({ id }) => id.server));
  const seen = new Set(standing);
  return all.filter(({ server }) => seen.has(server) || !withTools.has(server));
}

/** One for each view: it remembers which instructions the view's model has been given with a result. */
export class Introductions {
  readonly #given = new Map<ServerName, string>();

  /** For a result that shows these tools. `isInPrompt`: the model reads that server's instructions in its system prompt. */
  take(
    tools: readonly Tool[],
    all: readonly ServerInstructions[],
    isInPrompt: (server: ServerName) => boolean,
  ): string {
    const servers = new Set(tools.map(({ id }) => id.server));
    const fresh = all.filter(
      ({ server, instructions }) =>
        servers.has(server) && !isInPrompt(server) && this.#given.get(server) !== instructions,
    );
    for (const { server, instructions } of fresh) this.#given.set(server, instructions);
    return composeInstructions(fresh);
  }
}
