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
  get: {
    summary: 'Show one server: each of its settings, where it comes from, and what it overrides.',
    load: async () => (await import('./commands/get.ts')).get,
  },
  tools: {
    summary: 'Show the tools of all servers, or of one.',
    load: async () => (await import('./commands/tools.ts')).tools,
  },
  search: {
    summary: 'Find tools by what they can do, of all servers or of a file.',
    load: async () => (await import('./commands/search.ts')).search,
  },
  call: {
    summary: 'Call one tool and print what it answers.',
    load: async () => (await import('./commands/call.ts')).call,
  },
  resources: {
    summary: 'Show the resources of all servers, or of one.',
    load: async () => (await import('./commands/resources.ts')).resources,
  },
  read: {
    summary: 'Read one resource and print it.',
    load: async () => (await import('./commands/read.ts')).read,
  },
  prompts: {
    summary: 'Show the prompts of all servers, or of one, and what they take.',
    load: async () => (await import('./commands/prompts.ts')).prompts,
  },
  prompt: {
    summary: 'Fill in one prompt and print it.',
    load: async () => (await import('./commands/prompt.ts')).prompt,
  },
  logs: {
    summary: 'Show what a server wrote on stderr, when it started and why it ended.',
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  scan: {
    summary: 'Show what in a text looks like an instruction to a model.',
    load: async () => (await import('./commands/scan.ts')).scan,
  },
  redact: {
    summary: 'Print a text without the secrets in it.',
    load: async () => (await import('./commands/redact.ts')).redact,
  },
  add: {
    summary: 'Add a server to your own file, or to that of the workspace.',
    load: async () => (await import('./commands/add.ts')).add,
  },
  'add-json': {
    summary: 'Add a server whose settings you have as JSON.',
    load: async () => (await import('./commands/add.ts')).addJson,
  },
  remove: {
    summary: 'Remove a server from the file that defines it.',
    load: async () => (await import('./commands/remove.ts')).remove,
  },
  enable: {
    summary: 'Use a server again that was disabled.',
    load: async () => (await import('./commands/enable.ts')).enable,
  },
  disable: {
    summary: 'Keep the entry of a server, and do not use it.',
    load: async () => (await import('./commands/enable.ts')).disable,
  },
  import: {
    summary: 'Take over servers that other agents have configured.',
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
  config: {
    summary: 'Show the effective configuration, why a server is as it is, the files, or the JSON Schema.',
    load: async () => (await import('./commands/config.ts')).config,
  },
  policy: {
    summary: 'Show every rule and what it speaks of, or which rule decides about a call.',
    load: async () => (await import('./commands/policy.ts')).policy,
  },
  approve: {
    summary: "Trust a workspace's server, or one tool, as it is now; what has changed asks again.",
    load: async () => (await import('./commands/approve.ts')).approve,
  },
  revoke: {
    summary: 'Take an approval back.',
    load: async () => (await import('./commands/approve.ts')).revoke,
  },
  lock: {
    summary: 'Write down how each tool is defined now, or check that nothing has changed since.',
    load: async () => (await import('./commands/lock.ts')).lock,
  },
};
