// Owns the list of commands: a summary of each, and how it is loaded. Help prints the list without loading any command but the
// chat, whose help must cost no more than this list.

import type { CommandEntry } from './command.ts';
import { chat } from './commands/chat.ts';

export const commands: Readonly<Record<string, CommandEntry>> = {
  chat: {
    group: 'Use servers',
    summary: 'Talk to a model that uses the tools of all servers.',
    load: async () => chat,
  },
  list: {
    group: 'Use servers',
    summary: 'Show every server: state, transport, scope, tools and problems.',
    load: async () => (await import('./commands/list.ts')).list,
  },
  get: {
    group: 'Use servers',
    summary: 'Show one server: each setting, where it comes from, and what it overrides.',
    load: async () => (await import('./commands/get.ts')).get,
  },
  tools: {
    group: 'Use servers',
    summary: 'Show the tools of all servers, or of one.',
    load: async () => (await import('./commands/tools.ts')).tools,
  },
  search: {
    group: 'Use servers',
    summary: 'Find tools by what they do, among all servers or in a file.',
    load: async () => (await import('./commands/search.ts')).search,
  },
  call: {
    group: 'Use servers',
    summary: 'Call one tool and print its answer.',
    load: async () => (await import('./commands/call.ts')).call,
  },
  resources: {
    group: 'Use servers',
    summary: 'Show the resources of all servers, or of one.',
    load: async () => (await import('./commands/resources.ts')).resources,
  },
  read: {
    group: 'Use servers',
    summary: 'Read one resource and print it.',
    load: async () => (await import('./commands/read.ts')).read,
  },
  prompts: {
    group: 'Use servers',
    summary: 'Show the prompts of all servers, or of one, with their arguments.',
    load: async () => (await import('./commands/prompts.ts')).prompts,
  },
  prompt: {
    group: 'Use servers',
    summary: 'Fill in one prompt and print it.',
    load: async () => (await import('./commands/prompt.ts')).prompt,
  },
  reconnect: {
    group: 'Use servers',
    summary: 'Connect to one server afresh and show how it went.',
    load: async () => (await import('./commands/reconnect.ts')).reconnect,
  },
  reload: {
    group: 'Use servers',
    summary: 'Make the running gateway read the configuration again.',
    load: async () => (await import('./commands/reload.ts')).reload,
  },
  login: {
    group: 'Use servers',
    summary: 'Log in to a remote server in the browser, or list the logins.',
    load: async () => (await import('./commands/login.ts')).login,
  },
  logout: {
    group: 'Use servers',
    summary: 'Remove the login to a server, and revoke it where that is offered.',
    load: async () => (await import('./commands/login.ts')).logout,
  },
  logs: {
    group: 'Use servers',
    summary: 'Show what a server wrote to stderr, when it started and why it ended.',
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  serve: {
    group: 'Use servers',
    summary: 'Serve all servers behind one address to other programs, over HTTP or stdio.',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  connect: {
    group: 'Use servers',
    summary: 'Join the running gateway over stdin and stdout, or start it: the command for a client.',
    load: async () => (await import('./commands/connect.ts')).connectCommand,
  },
  agent: {
    group: 'Use servers',
    summary: 'Serve an agent that uses all servers to other programs, over MCP.',
    load: async () => (await import('./commands/agent.ts')).agent,
  },
  scan: {
    group: 'Texts and shells',
    summary: 'Find text that looks like an instruction to a model.',
    load: async () => (await import('./commands/scan.ts')).scan,
  },
  redact: {
    group: 'Texts and shells',
    summary: 'Print a text without the secrets in it.',
    load: async () => (await import('./commands/redact.ts')).redact,
  },
  add: {
    group: 'Configure servers',
    summary: 'Add a server to your user file, or to the workspace.',
    load: async () => (await import('./commands/add.ts')).add,
  },
  'add-json': {
    group: 'Configure servers',
    summary: 'Add a server from its JSON settings.',
    load: async () => (await import('./commands/add.ts')).addJson,
  },
  remove: {
    group: 'Configure servers',
    summary: 'Remove a server from the file that defines it.',
    load: async () => (await import('./commands/remove.ts')).remove,
  },
  enable: {
    group: 'Configure servers',
    summary: 'Enable a disabled server.',
    load: async () => (await import('./commands/enable.ts')).enable,
  },
  disable: {
    group: 'Configure servers',
    summary: 'Disable a server, and keep its entry.',
    load: async () => (await import('./commands/enable.ts')).disable,
  },
  import: {
    group: 'Configure servers',
    summary: 'Copy servers that other agents have configured.',
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
  config: {
    group: 'Configure servers',
    summary: 'Show or check the configuration, where a setting comes from, the files, or the JSON Schema.',
    load: async () => (await import('./commands/config.ts')).config,
  },
  policy: {
    group: 'Decide what may run',
    summary: 'Show every permission rule and how many tools it matches, or which rule decides about a call.',
    load: async () => (await import('./commands/policy.ts')).policy,
  },
  approve: {
    group: 'Decide what may run',
    summary: "Approve a workspace's server, or one tool, as it is now; a change asks again.",
    load: async () => (await import('./commands/approve.ts')).approve,
  },
  revoke: {
    group: 'Decide what may run',
    summary: 'Withdraw an approval.',
    load: async () => (await import('./commands/approve.ts')).revoke,
  },
  lock: {
    group: 'Decide what may run',
    summary: 'Record how each tool is defined now in plexus.lock, or check that nothing has changed.',
    load: async () => (await import('./commands/lock.ts')).lock,
  },
  completion: {
    group: 'Texts and shells',
    summary: 'Print the completion script for bash, zsh or fish.',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
};
