// Owns the list of commands: a summary of each, and how it is loaded. Help prints the list without loading any command.

import type { Command } from './command.ts';

export interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export const commands: Readonly<Record<string, CommandEntry>> = {
  list: {
    summary: 'Show every server: state, transport, scope, tools and problems.',
    load: async () => (await import('./commands/list.ts')).list,
  },
  get: {
    summary: 'Show one server: each setting, where it comes from, and what it overrides.',
    load: async () => (await import('./commands/get.ts')).get,
  },
  tools: {
    summary: 'Show the tools of all servers, or of one.',
    load: async () => (await import('./commands/tools.ts')).tools,
  },
  search: {
    summary: 'Find tools by what they do, among all servers or in a file.',
    load: async () => (await import('./commands/search.ts')).search,
  },
  call: {
    summary: 'Call one tool and print its answer.',
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
    summary: 'Show the prompts of all servers, or of one, with their arguments.',
    load: async () => (await import('./commands/prompts.ts')).prompts,
  },
  prompt: {
    summary: 'Fill in one prompt and print it.',
    load: async () => (await import('./commands/prompt.ts')).prompt,
  },
  logs: {
    summary: 'Show what a server wrote to stderr, when it started and why it ended.',
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  scan: {
    summary: 'Find text that looks like an instruction to a model.',
    load: async () => (await import('./commands/scan.ts')).scan,
  },
  redact: {
    summary: 'Print a text without the secrets in it.',
    load: async () => (await import('./commands/redact.ts')).redact,
  },
  add: {
    summary: 'Add a server to your user file, or to the workspace.',
    load: async () => (await import('./commands/add.ts')).add,
  },
  'add-json': {
    summary: 'Add a server from its JSON settings.',
    load: async () => (await import('./commands/add.ts')).addJson,
  },
  remove: {
    summary: 'Remove a server from the file that defines it.',
    load: async () => (await import('./commands/remove.ts')).remove,
  },
  enable: {
    summary: 'Enable a disabled server.',
    load: async () => (await import('./commands/enable.ts')).enable,
  },
  disable: {
    summary: 'Disable a server, and keep its entry.',
    load: async () => (await import('./commands/enable.ts')).disable,
  },
  import: {
    summary: 'Copy servers that other agents have configured.',
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
  config: {
    summary: 'Show the effective configuration, why a server has its settings, the files, or the JSON Schema.',
    load: async () => (await import('./commands/config.ts')).config,
  },
  policy: {
    summary: 'Show every permission rule and how many tools it matches, or which rule decides about a call.',
    load: async () => (await import('./commands/policy.ts')).policy,
  },
  approve: {
    summary: "Approve a workspace's server, or one tool, as it is now; a change asks again.",
    load: async () => (await import('./commands/approve.ts')).approve,
  },
  revoke: {
    summary: 'Withdraw an approval.',
    load: async () => (await import('./commands/approve.ts')).revoke,
  },
  lock: {
    summary: 'Record how each tool is defined now in plexus.lock, or check that nothing has changed.',
    load: async () => (await import('./commands/lock.ts')).lock,
  },
};
