// Owns what a person can type in a chat besides prompts: `/tools`, `/servers` and their like. Each prints what it found.

import type { Runtime } from '../../api.ts';
import { unwrap } from '../../shaping/boundary.ts';
import { serversText } from '../commands/list.ts';
import { type Cell, indent, printable, table } from '../render/text.ts';
import type { Transcript } from '../render/transcript.ts';

export interface SlashParts {
  readonly runtime: Runtime;
  readonly transcript: Transcript;
}

interface Slash {
  readonly summary: string;
  /** Returns true where the chat is over. */
  readonly run: (parts: SlashParts, words: readonly string[], signal: AbortSignal) => Promise<boolean>;
}

const slashes: Readonly<Record<string, Slash>> = {
  tools: {
    summary: 'the tools of all servers',
    async run({ runtime, transcript }) {
      const tools = [...runtime.getTools()].sort((one, other) => (one.name < other.name ? -1 : 1));
      transcript.say((paint) => {
        if (tools.length === 0) return 'No tools. See which servers are up with: /servers';
        const rows = tools.map(({ name, description }): Cell[] => [
          { text: name, paint: paint.bold },
          { text: description, cut: 100 },
        ]);
        return table(['NAME', 'DESCRIPTION'], rows, paint);
      });
      return false;
    },
  },
  servers: {
    summary: 'the servers, their states and problems',
    async run({ runtime, transcript }) {
      const view = { servers: runtime.status(), reduced: new Map(), isBroken: false, tookMs: undefined };
      transcript.say((paint) => serversText(view, paint));
      return false;
    },
  },
  reload: {
    summary: 'read the configuration again, and start what is new in it',
    async run({ runtime, transcript }, _words, signal) {
      await runtime.reload();
      await runtime.ready({ signal });
      const states = runtime.status().map(({ name, state }) => `${name} ${state}`);
      transcript.say(() => printable(`Reloaded: ${states.join(', ') || 'no servers'}.`));
      return false;
    },
  },
  show: {
    summary: 'all of a call and its result, by the number before it: /show 1',
    async run({ transcript }, [number = String(transcript.calls.length)]) {
      const call = transcript.calls[Number(number) - 1];
      transcript.say((paint) => {
        if (call === undefined) return printable(`There is no call ${number}.`);
        const { name, arguments: args, text = 'It has no result yet.' } = call;
        return [paint.bold(printable(name)), indent(printable(args)), printable(unwrap(text))].join('\n');
      });
      return false;
    },
  },
  help: {
    summary: 'this list',
    async run({ transcript }) {
      transcript.say((paint) => {
        const rows = Object.entries(slashes).map(([name, { summary }]): Cell[] => [
          { text: `/${name}`, paint: paint.bold },
          { text: summary },
        ]);
        return table(['TYPE', 'TO SEE OR DO'], rows, paint);
      });
      return false;
    },
  },
  quit: { summary: 'leave; so does Ctrl-D', run: async () => true },
};

/** A path that begins with `/` is part of a prompt. */
export const isSlash = (typed: string): boolean => /^\/\w*(?:\s|$)/.test(typed);

/** Returns true where the chat is over. A word that is none of these is not sent to the model: it is a typing error. */
export async function runSlash(typed: string, parts: SlashParts, signal: AbortSignal): Promise<boolean> {
  const [name = '', ...words] = typed.slice(1).trim().split(/\s+/);
  const slash = Object.hasOwn(slashes, name) ? slashes[name] : undefined;
  if (slash) return slash.run(parts, words, signal);
  parts.transcript.say(() => printable(`There is no /${name}. See all with: /help`));
  return false;
}
