// Owns `mcp__<server>__authenticate`: the tool by which a model gets a person to log in to a server. It is offered while the server
// waits for a login, beside the tools that are remembered of it.

import { canonicalName } from '../catalog/naming.ts';
import { oneLine } from '../kernel/one-line.ts';
import type { Builtin } from '../model/builtin.ts';
import { hashOfKey, type QualifiedName, type ServerName, toolKey } from '../model/names.ts';
import type { AskedLogin, LoginAsks } from '../servers/login-asks.ts';
import { textAnswer } from './list-text.ts';

/** Its name among the tools of the server. */
export const AUTHENTICATE = 'authenticate';

/** With a hash where the server has a tool of that name itself. */
export function authenticateName(server: ServerName, isTaken: (name: QualifiedName) => boolean): QualifiedName {
  const id = { server, tool: AUTHENTICATE };
  const name = canonicalName(id);
  return isTaken(name) ? `${name}_${hashOfKey(toolKey(id))}` : name;
}

export function createAuthenticateTool(server: ServerName, name: QualifiedName, asks: Pick<LoginAsks, 'ask'>): Builtin {
  return {
    definition: {
      name,
      title: 'Log in',
      description: `Ask the user to log in to the server "${oneLine(server, 100)}", whose tools cannot be used before. At most once in 15 minutes.`,
      inputSchema: { type: 'object', properties: {} },
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    toolName: AUTHENTICATE,
    target: () => server,
    async perform(_args, { cancellation }) {
      const giveUp = new AbortController();
      const asked = asks.ask(server, giveUp.signal);
      try {
        return textAnswer(answerOf(server, await cancellation.race(asked)));
      } finally {
        // A page that nobody waits for any more is not waited for either; a login that is done stays.
        giveUp.abort();
      }
    },
  };
}

function answerOf(server: ServerName, asked: AskedLogin): string {
  const named = `"${oneLine(server, 100)}"`;
  switch (asked.kind) {
    case 'done':
      return `The user has logged in to ${named}. Its tools can be used now.`;
    case 'link':
      return `Tell the user to log in to ${named}: they open this page in a browser, and then run the command with the address at which the browser ended, in quotes. Page: ${asked.page} Command: ${asked.finish}`;
    case 'asked-before':
      return `The user was asked to log in to ${named} a few minutes ago and has not done it yet. Do not ask again now; they can run: ${asked.command}`;
  }
}
