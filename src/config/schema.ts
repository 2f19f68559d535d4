// Owns what a person may write: every key, its type, its default and its meaning. The types, the editor's JSON Schema
// and docs/settings.md come from here. Other spellings of a key end in `vocabulary.ts`; which keys go together is `define.ts`'s.

import * as z from 'zod';
import type { ServerEntry } from './server-entry.ts';

/** What each check says completes the sentence "it must be …"; a diagnostic quotes it. */
const duration = () => z.number('a number, 0 or more').nonnegative('a number, 0 or more');
const size = () => z.int('a whole number above 0').positive('a whole number above 0');
const text = () => z.string('a string').min(1, 'a string that is not empty');
const texts = () => z.array(z.string('a string'), 'a list of strings');
const textMap = () => z.record(z.string(), z.string('a string'), 'a map of strings');
const flag = () => z.boolean('true or false');

/** Only a remote server can fall silent without its process telling; a local one may think for as long as it likes. */
export const remoteToolIdleTimeoutMs = 300_000;

export const serverSchema = z.object({
  command: text()
    .optional()
    .describe('The program that runs a local server. An array holds the command and its arguments.'),
  args: texts().default([]).describe('The arguments of the command.'),
  env: textMap().default({}).describe(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
    'Environment variables for the server. `${VAR}`, `${VAR:-default}` and `${env:VAR}` are filled in when it is opened.',
  ),
  cwd: text().optional().describe('The folder the server runs in. Otherwise the folder Plexus was started in.'),
  inheritEnv: z
    .union([z.enum(['safe', 'all']), texts()], '"safe", "all" or a list of variable names')
    .default('safe')
    .describe(
      'What the server sees of your own environment: a short list of harmless variables, everything, or those named.',
    ),
  url: text()
    .optional()
    .describe('The address of a remote server. Read and kept, but this version opens local servers only.'),
  transport: z
    .enum(['stdio', 'http', 'sse', 'ws', 'auto'], '"stdio", "http", "sse", "ws" or "auto"')
    .optional()
    .describe('How to talk to the server. Otherwise `stdio` with a command, `auto` with a url: HTTP first, then SSE.'),
  headers: textMap().default({}).describe('HTTP headers for a remote server, with placeholders as in `env`.'),
  bearerTokenEnvVar: z
    .string('the name of an environment variable')
    .regex(/^[A-Za-z_]\w*$/, 'the name of an environment variable')
    .optional()
    .describe('The environment variable that holds the bearer token of a remote server.'),
  enabled: flag()
    .default(true)
    .describe('Whether the server is used. When false it keeps its name but is never started.'),
  description: z.string('a string').optional().describe('What the server is for; shown to people.'),
  startupTimeoutMs: duration()
    .default(60_000)
    .describe('How long a server may take until its first answer. 0 turns the limit off.'),
  toolTimeoutMs: duration().default(100_000_000).describe('How long one call may take in all. 0 turns the limit off.'),
  toolIdleTimeoutMs: duration()
    .optional()
    .describe(
      `How long a server may be silent during a call; progress starts it anew. 0 turns the limit off. Remote servers: ${remoteToolIdleTimeoutMs}; local ones have no such limit.`,
    ),
  enabledTools: texts()
    .optional()
    .describe('Only these tools are offered; `*` stands for anything. Otherwise all of them.'),
  disabledTools: texts().default([]).describe('These tools are not offered, even when `enabledTools` names them.'),
  maxResultChars: size()
    .default(50_000)
    .describe('How much of one result the model gets to read; the middle of a longer one is cut.'),
  maxMessageBytes: size().default(67_108_864).describe('The largest single message a server may send.'),
});

export const ruleSchema = z.object({
  tool: text().describe('The tools the rule is about: `mcp__<server>__<tool>`, where `*` stands for anything.'),
  action: z
    .enum(['allow', 'ask', 'deny'], '"allow", "ask" or "deny"')
    .describe('What happens to a call. A deny always wins. A file inside the workspace cannot allow.'),
});

export const permissionsSchema = z.object({
  rules: z.array(ruleSchema, 'a list of rules').default([]).describe('Which tools may be called without asking.'),
});

export const securitySchema = z.object({
  mcpServerAllowlist: texts().default([]).describe('When not empty, only the servers with these names are used.'),
  mcpServerDenylist: texts()
    .default([])
    .describe('The servers with these names are never used, whoever defines or allows them.'),
});

export const startupSchema = z.object({
  gateMs: duration().default(250).describe('How long the start waits for servers before it goes on without them.'),
  waitMs: duration()
    .default(10_000)
    .describe('How long a start without a terminal and without known tools waits for servers.'),
});

export const plexusSchema = z.object({
  startup: startupSchema.prefault({}).describe('How long the start waits, and for what.'),
});

export const fileSchema = z.object({
  $schema: z.string().optional().describe('The address of this schema, for editors.'),
  mcpServers: z
    .record(z.string(), serverSchema)
    .default({})
    .describe('The servers, by name. Also read: `mcp_servers`, `servers`.'),
  permissions: permissionsSchema.prefault({}).describe('Which tools may be called.'),
  security: securitySchema.prefault({}).describe('Which servers may be used.'),
  plexus: plexusSchema.prefault({}).describe("Plexus's own settings."),
});

/** One server with every default in place. */
export type CompleteEntry = z.output<typeof serverSchema>;
export type Settings = z.output<typeof plexusSchema>;

/** A key that only one of the two knows is an error here. */
type SameKeys<One, Other> = [keyof One, keyof Other] extends [keyof Other, keyof One] ? true : never;
true satisfies SameKeys<z.input<typeof serverSchema>, ServerEntry>;

/** For editors; draft 7 is what most of them understand. */
export function jsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-7' });
}
