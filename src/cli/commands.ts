// Owns the list of commands: what each is for, and how it is loaded. Help reads it without loading any.

import type { Command } from './command.ts';

export interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export const commands: Readonly<Record<string, CommandEntry>> = {
  list: {
    summary: 'Show every server: status, transport, scope, tools and what is wrong.',
    load: async () => (await import('./commands/list.ts')).list,
  },
  tools: {
    summary: 'Show the tools of all servers, or of one.',
    load: async () => (await import('./commands/tools.ts')).tools,
  },
  call: {
    summary: 'Call one tool and print what it answers.',
    load: async () => (await import('./commands/call.ts')).call,
  },
  config: {
    summary: 'Show the effective configuration, the files it is read from, or its JSON Schema.',
    load: async () => (await import('./commands/config.ts')).config,
  },
  approve: {
    summary: "Trust a workspace's server as it is now; a changed entry asks again.",
    load: async () => (await import('./commands/approve.ts')).approve,
  },
  revoke: {
    summary: 'Take an approval back.',
    load: async () => (await import('./commands/approve.ts')).revoke,
  },
};
