// Owns every key of a configuration file: its type, its default and its meaning. The types, `json-schema.ts`, docs/settings.md and
// `checks.json`, which is what runs, come from here: import nothing but types from this file, since zod is not loaded at run time.
// `vocabulary.ts` knows other spellings of a key, `launch.ts` which keys go together.

import * as z from 'zod';
import { limits } from '../model/limits.ts';
import { predicates } from './checker.ts';
import { remoteToolIdleTimeoutMs } from './idle-timeout.ts';
import type { ServerEntry } from './server-entry.ts';

/** The message of each check completes the sentence "it must be …" of a diagnostic. */
const duration = () => z.number('a number, 0 or more').nonnegative('a number, 0 or more');
const size = () => z.int('a whole number above 0').positive('a whole number above 0');
const text = () => z.string('a string').min(1, 'a string that is not empty');
const texts = () => z.array(z.string('a string'), 'a list of strings');
const textMap = () => z.record(z.string(), z.string('a string'), 'a map of strings');
const flag = () => z.boolean('true or false');
const section = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape, 'a map of settings');

const above = () => z.number('a number above 0').positive('a number above 0');

const presetWords = ['doubling', 'quick', 'steady', 'patient', 'none'] as const;

export const backgroundSchema = section({
  baseMs: above()
    .default(15_000)
    .describe('How long until the first further attempt; each next one waits twice as long.'),
  maxMs: above().default(300_000).describe('How long it waits at most.'),
});

export const reconnectSchema = section({
  delaysMs: z
    .array(duration(), 'a list of numbers')
    .optional()
    .describe('How long to wait before each attempt. Without any of these keys, as in `steady`.'),
  initialMs: above()
    .optional()
    .describe(
      'Instead of `delaysMs`: how long to wait before the first attempt. Those of the four that are missing are as in `doubling`.',
    ),
  multiplier: z
    .number('a number, 1 or more')
    .min(1, 'a number, 1 or more')
    .optional()
    .describe('How many times longer to wait before each next attempt.'),
  maxMs: above().optional().describe('How long to wait at most.'),
  maxAttempts: z
    .int('a whole number, 0 or more')
    .nonnegative('a whole number, 0 or more')
    .optional()
    .describe('How many attempts there are.'),
  jitter: z
    .number('a number from 0 to 1')
    .min(0, 'a number from 0 to 1')
    .max(1, 'a number from 0 to 1')
    .default(0.2)
    .describe('How much each delay is randomly shortened or lengthened, as a fraction of it.'),
  background: z
    .union([z.literal(false), backgroundSchema], 'false or a map of settings')
    .default(false)
    .describe('Whether a remote server is retried without end once the attempts are used up, and how often.'),
});

/** The protocol's levels, the least important first. */
const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;

const healthModes = ['remote', 'all', 'off'] as const;

export const healthSchema = section({
  mode: z
    .enum(healthModes, '"remote", "all" or "off"')
    .default('remote')
    .describe('Which servers are pinged: remote ones, local ones too, or none.'),
  intervalMs: above().default(30_000).describe('How long a server may be quiet before it is pinged.'),
  timeoutMs: above().default(5_000).describe('How long it may take to answer a ping.'),
  failures: size().default(5).describe('After this many unanswered pings in a row the connection counts as lost.'),
});

const exposure = () => z.enum(['load', 'defer', 'use_tool'], '"load", "defer" or "use_tool"').optional();

/** The strictest first; where both a server and one of its tools have one, the stricter counts. */
const approvalModes = ['prompt', 'writes', 'auto', 'approve'] as const;
const approval = () => z.enum(approvalModes, '"auto", "prompt", "writes" or "approve"').optional();

export const toolSchema = section({
  enabled: flag()
    .optional()
    .describe('Whether the tool is offered. What `disabledTools` names stays off, and what `enabledTools` leaves out.'),
  alwaysLoad: flag().optional().describe('Whether the model always sees it. Otherwise as its server says.'),
  exposure: exposure().describe('How the model gets to it. Otherwise as its server says.'),
  toolTimeoutMs: duration().optional().describe('How long one call of it may take. Otherwise as its server says.'),
  toolIdleTimeoutMs: duration()
    .optional()
    .describe('How long its server may be silent during one call of it. Otherwise as its server says.'),
  maxResultChars: size().optional().describe('How much of one result the model gets to read, in characters.'),
  maxResultTokens: size().optional().describe('The same in tokens.'),
  approval: approval().describe("When you are asked before it is called; the stricter of this and its server's."),
  outbound: flag()
    .optional()
    .describe(
      'Whether it sends data to the outside, whatever its own hints say: see `taint`. False says that it does no harm, and counts in your own files only.',
    ),
});

const secretReference = (what: string) =>
  text()
    .optional()
    .describe(`${what} A reference such as \`\${VAR}\` or, in your own files, \`!command\`; never the value itself.`);

export const oauthSchema = section({
  grant: z
    .enum(
      ['authorization_code', 'client_credentials', 'jwt_bearer', 'enterprise'],
      '"authorization_code", "client_credentials", "jwt_bearer" or "enterprise"',
    )
    .optional()
    .describe(
      'Who logs in: you, in the browser (`authorization_code`, as without this key), or a machine with its own secret or key, with an assertion, or through the identity provider of your enterprise.',
    ),
  clientId: text().optional().describe('The client that Plexus is known as; otherwise it registers itself.'),
  clientSecret: secretReference('The secret of that client.'),
  privateKey: secretReference('The private key of that client, in PEM, where it signs instead of sending a secret.'),
  assertion: secretReference('The assertion that `jwt_bearer` exchanges for a token.'),
  idpIssuer: text().optional().describe('The identity provider of your enterprise, for `enterprise`.'),
  idpTokenEndpoint: text().optional().describe('Its token endpoint, where its metadata does not name it.'),
  idpClientId: text().optional().describe('The client that Plexus is known as there.'),
  idToken: secretReference('Your id token of that provider.'),
  scopes: texts()
    .optional()
    .describe('What to ask for, as a list or as one text with spaces. Otherwise what the server names.'),
  callbackPort: z
    .int('a port number')
    .min(1, 'a port number')
    .max(65_535, 'a port number')
    .optional()
    .describe('The port on this machine to which the browser returns.'),
  redirectUri: text()
    .optional()
    .describe('The address to which the browser returns. In a file that is not your own, only one of this machine.'),
  resource: text()
    .optional()
    .describe(
      'The resource that tokens are for: `auto`, as without this key: as the server names it; `off` for providers that refuse it, or a URI.',
    ),
  clientMetadataUrl: text().optional().describe('The address of a document that describes the client, used as its id.'),
  metadataUrl: text()
    .optional()
    .describe("Where the authorization server's metadata lies, where it is not found by itself."),
  pkce: z
    .enum(['required', 'assume'], '"required" or "assume"')
    .optional()
    .describe(
      '`assume`: the provider protects its codes (PKCE with S256) although its metadata does not say so. In your own files only.',
    ),
  allowPrivateNetwork: flag()
    .optional()
    .describe('Whether a public server may name addresses of the network around this machine. In your own files only.'),
  account: z
    .union([text(), z.record(z.string(), text())], 'a name, or a map from folders to names')
    .optional()
    .describe(
      'Which of several logins to use: the name given with `plexus login --account`. Or a map from folders to names: the closest folder around you counts, `*` stands for all others. In a file that is not your own it is a suggestion.',
    ),
});

export const serverSchema = section({
  command: text()
    .optional()
    .describe(
      'The program that runs a local server. An array, or a whole command line without `args`, holds the command and its arguments.',
    ),
  args: texts().default([]).describe('The arguments of the command.'),
  env: textMap().default({}).describe(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
    'Environment variables for the server. `${VAR}`, `${VAR:-default}`, `${workspaceFolder}`, `${userHome}` and `${input:id}` are filled in when it is opened; in your own files a value `!command` stands for what that command prints.',
  ),
  envFile: text()
    .optional()
    .describe('A file of `NAME=value` lines with further variables for a local server. In your own files only.'),
  envAllow: texts()
    .optional()
    .describe(
      'Variables of your own that an entry of a workspace, plugin or import may read in its placeholders. In a workspace file it counts once you approved that file: `plexus approve --policy`.',
    ),
  cwd: text()
    .optional()
    .describe(
      'The folder the server runs in. Otherwise the workspace: the folder Plexus was started in, or the one above it that has the project’s files.',
    ),
  inheritEnv: z
    .union([z.enum(['safe', 'all']), texts()], '"safe", "all" or a list of variable names')
    .default('safe')
    .describe(
      'What the server sees of your own environment: a short list of harmless variables, everything, or those named.',
    ),
  url: text().optional().describe('The address of a remote server, with placeholders as in `env`.'),
  transport: z
    .enum(['stdio', 'http', 'sse', 'ws', 'auto'], '"stdio", "http", "sse", "ws" or "auto"')
    .optional()
    .describe('How to talk to the server. Otherwise `stdio` with a command, `auto` with a url: HTTP first, then SSE.'),
  headers: textMap().default({}).describe('HTTP headers for a remote server, with placeholders as in `env`.'),
  headersHelper: text()
    .optional()
    .describe('A command that prints further headers as a JSON map of strings, within 10 s. In your own files only.'),
  bearerTokenEnvVar: z
    .string('the name of an environment variable')
    .regex(/^[A-Za-z_]\w*$/, 'the name of an environment variable')
    .optional()
    .describe('The environment variable that holds the bearer token of a remote server.'),
  proxy: text()
    .optional()
    .describe(
      'The proxy to reach a remote server through, instead of the one your environment names: an address with http:// or https://, or `off` for none. In your own files only.',
    ),
  caFile: text()
    .optional()
    .describe('A PEM file of further authorities that may vouch for a remote server. In your own files only.'),
  certFile: text()
    .optional()
    .describe('A PEM file with the certificate to show to a remote server; needs `keyFile`. In your own files only.'),
  keyFile: text().optional().describe('A PEM file with the key of that certificate. In your own files only.'),
  oauth: z
    .union([z.literal(false), oauthSchema], 'false or a map of settings')
    .optional()
    .describe(
      'How to log in to a remote server, see below; most need nothing here. `false`: no login is used or offered. An Authorization header counts more.',
    ),
  enabled: flag()
    .default(true)
    .describe('Whether the server is used. When false it keeps its name but is never started.'),
  title: z.string('a string').optional().describe('A title that is shown to people beside the name.'),
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
  tools: z
    .record(
      z.string(),
      z.union([flag(), toolSchema], 'true, false or a map of settings'),
      'a list of tools or a map of maps',
    )
    .optional()
    .describe(
      'Settings of single tools, by name; `*` stands for anything, and the closest name counts. `false` alone takes a tool away. See below. A list means `enabledTools`.',
    ),
  exposure: exposure().describe(
    'How the model gets to the tools: `load`: it sees them; `defer`: it finds them by searching; `use_tool`: it finds them so and calls them through one tool for all. Otherwise as `toolSearch` decides.',
  ),
  alwaysLoad: flag()
    .default(false)
    .describe('Whether the model sees the tools even while others must be searched for.'),
  instructions: flag().default(true).describe("Whether the server's instructions are shown to the model."),
  cacheable: flag()
    .default(true)
    .describe('Whether the list of tools is kept on disk, so that the next start need not wait for it.'),
  toolCacheTtlMs: duration()
    .optional()
    .describe("How long the list of tools counts as fresh, instead of what Plexus's own setting says."),
  subscriptions: flag()
    .default(false)
    .describe('Whether Plexus subscribes to resources that were read, so that the server reports when they change.'),
  logLevel: z
    .enum(logLevels, `${logLevels.map((level) => `"${level}"`).join(', ')}`)
    .optional()
    .describe('The lowest level of log messages that the server is asked to send. Otherwise the server decides.'),
  maxResultChars: size()
    .default(50_000)
    .describe('How much of one result the model gets to read; the middle of a longer one is cut.'),
  maxResultTokens: size()
    .default(25_000)
    .describe('The same in tokens, by estimate; whichever limit is met first counts.'),
  maxMessageBytes: size().default(67_108_864).describe('The largest single message a server may send.'),
  lifecycle: z
    .enum(['eager', 'lazy', 'manual'], '"eager", "lazy" or "manual"')
    .default('eager')
    .describe('When the server is started: with Plexus, when it is first needed, or only when you ask for it.'),
  idleStopMs: duration()
    .optional()
    .describe(
      'After so long without a call the server is stopped until it is needed again; its tools stay. 0: never, as without it, except for local servers behind the gateway: `idleStopMs` of `plexus.serving`.',
    ),
  required: flag()
    .default(false)
    .describe('Whether a start without a terminal waits for the server, and fails without it.'),
  perClient: flag().default(false).describe('Whether each client of Plexus gets its own connection to the server.'),
  share: z
    .enum(['workspace', 'machine'], '"workspace" or "machine"')
    .default('workspace')
    .describe(
      'Who shares the server behind the gateway: the clients of one workspace, in its folder; or those of all, in your home folder and without roots.',
    ),
  trustHints: flag()
    .default(false)
    .describe(
      'Whether to trust the hints of the tools: that they only read, or may be repeated. In a workspace file it counts once you approved that file: `plexus approve --policy`.',
    ),
  approval: approval().describe(
    'When you are asked before a tool is called that no rule covers. `prompt`: always; `writes`: unless it only reads; `auto`, as without this key: unless it only reads, or neither destroys nor reaches outside; `approve`: never. The hints of tools count only with `trustHints`. In a workspace file `approve` counts once you approved that file.',
  ),
  elicitation: z
    .enum(['ask', 'decline'], '"ask" or "decline"')
    .default('ask')
    .describe('Whether a question that the server has for you during a call is passed on to you or declined.'),
  parallel: flag()
    .default(true)
    .describe('Whether several calls may run at once. When false, one waits for the other.'),
  reconnect: z
    .union(
      [z.enum(presetWords), reconnectSchema],
      `${presetWords.map((word) => `"${word}"`).join(', ')} or a map of settings`,
    )
    .default('steady')
    .describe(
      'How a lost connection is retried. `doubling`: after 1, 2 and 4 s; `quick`: five times, after 0.1 s and then twice as long each time; `steady`: after 0.5, 1, 2 and 4 s, then for remote servers without end, every 15 s to 5 min; `patient`: after 2, 5 and 15 s; `none`: not at all. Or a map, see below.',
    ),
  health: z
    .union([z.enum(healthModes), z.literal(false), healthSchema], '"remote", "all", "off" or a map of settings')
    .default('remote')
    .describe('Which quiet servers are pinged; `false` means `off`. Or a map, see below.'),
  keepAliveMs: duration()
    .default(50_000)
    .describe(
      'After this much silence Plexus sends one request on a remote session, so that it is not closed as idle. 0: never.',
    ),
});

const plain = () => z.union([z.string(), z.number(), z.boolean()], 'a text, a number, true or false');
const oneOrMore = <Item extends z.ZodType>(item: Item, must: string) =>
  z.union([item, z.array(item)], `${must}, or a list of them`).optional();

/** For editors only; `model/rule` checks conditions and gives them their meaning. */
const conditionSchema = z.union(
  [
    plain(),
    z.array(plain()),
    z.looseObject({
      under: oneOrMore(text(), 'a folder'),
      host: oneOrMore(text(), 'a host'),
      is: oneOrMore(plain(), 'a value'),
      like: oneOrMore(text(), 'a pattern'),
    }),
  ],
  'a value, a list of values or a map of conditions',
);

export const ruleSchema = section({
  tool: text().describe(
    'The tools the rule is about: `mcp__<server>__<tool>`, where `*` stands for anything. Spellings of other agents such as `server.tool` are understood if they can mean one server only; a deny or an ask applies to every tool that they may mean.',
  ),
  action: z
    .enum(['allow', 'ask', 'deny'], '"allow", "ask" or "deny"')
    .describe('What happens to a call. A deny always wins. A file inside the workspace cannot allow.'),
  args: z
    .record(z.string(), conditionSchema, 'a map from arguments to what they must be like')
    .optional()
    .describe(
      'The rule is only about calls with such arguments, by name: `{ under = "./out" }` a path in that folder, `{ host = "*.example.com" }` an address there, `{ like = "select *" }` such a text, `{ is = ["a", "b"] }` or a value alone one of these. All must hold. An allow applies only if that is certain; a deny or an ask applies also in doubt.',
    ),
});

export const permissionsSchema = section({
  rules: z.array(ruleSchema, 'a list of rules').default([]).describe('Which tools may be called without asking.'),
});

const LISTED_SERVER = 'a name, an address, or a map with "name", "command" or "url"';

/** One line of a list of servers: by name, or by command or address, so that renaming does not evade it. */
export const listedServerSchema = z.union(
  [
    text(),
    // Strict: ignoring an unknown condition would make an allow wider.
    z
      .strictObject(
        {
          name: text().optional(),
          command: z.union([text(), texts().min(1)], 'a string, or a list of strings that is not empty').optional(),
          url: text().optional(),
        },
        LISTED_SERVER,
      )
      .refine(predicates.hasValue),
  ],
  LISTED_SERVER,
);

const listedServers = () => z.array(listedServerSchema, 'a list of servers').default([]);

export const securitySchema = section({
  mcpServerAllowlist: listedServers().describe(
    'When not empty, only these servers are used. A text is a name or, with `://`, an address and all below it; `*` stands for anything. `{ command = "npx" }` or `{ command = ["npx", "-y", "x"] }` means the program or the exact command, `{ url = "https://…" }` an address.',
  ),
  mcpServerDenylist: listedServers().describe(
    'These servers are never used, even when another file defines or allows them, and under any name. Written as in the allow list.',
  ),
});

export const startupSchema = section({
  gateMs: duration().default(250).describe('How long the start waits for servers before it goes on without them.'),
  waitMs: duration()
    .default(10_000)
    .describe('How long a start without a terminal and without known tools waits for servers.'),
  installTimeoutMs: duration()
    .default(300_000)
    .describe(
      'How long npx, uvx and their like may take to install a server, until its first answer. A longer `startupTimeoutMs` of the server counts more.',
    ),
  requiredWaitMs: duration()
    .default(120_000)
    .describe(
      'How long a start without a terminal waits for servers with `required` at most, whatever their own limits are.',
    ),
});

export const projectSchema = section({
  enabled: flag()
    .default(true)
    .describe('Whether the files of the folder you are in are read at all. Your local file is.'),
});

export const connectConcurrencySchema = section({
  stdio: size().default(3).describe('How many local servers are started at once.'),
  remote: size().default(20).describe('How many remote servers are reached at once.'),
});

export const resultsSchema = section({
  redact: z
    .enum(['known', 'patterns', 'off'], '"known", "patterns" or "off"')
    .default('known')
    .describe(
      'What is replaced in what the model reads. `known`: the secrets that Plexus itself filled in; `patterns`: also what looks like one, which may change a file that the model reads and writes back.',
    ),
  wrap: flag()
    .default(true)
    .describe('Whether results are wrapped in a marker that tells the model where data begins and ends.'),
});

export const trustSchema = section({
  pinFiles: flag()
    .default(false)
    .describe(
      'Whether a stored approval of a local server also covers the contents of the workspace files that its program, arguments and variables name, so that it asks again when one of them changes.',
    ),
});

const NAME_LENGTH = 'a whole number from 20 to 256';
const TOOL_SEARCH = '"auto", "on", "off" or "auto:N" with a percentage';

export const profileSchema = section({
  servers: texts().default(['*']).describe('The servers that its clients see, by name; `*` stands for anything.'),
  tools: texts().default(['*']).describe('The tools that they see, as `server__tool`; `*` stands for anything.'),
  shaping: z
    .enum(['raw', 'shaped'], '"raw" or "shaped"')
    .default('raw')
    .describe(
      'How results are told. `raw`: as servers send them, for editors, which shape results themselves; `shaped`: redacted, cut and marked, as a model of Plexus reads them.',
    ),
  expose: z
    .enum(['all', 'search'], '"all" or "search"')
    .default('all')
    .describe('`search`: clients see a tool to search for tools and one to call them, in place of all tools.'),
  approval: z
    .enum(['client', 'plexus'], '"client" or "plexus"')
    .default('client')
    .describe(
      "Who approves a call that no rule speaks of. `client`: the client's own approval counts, except for destructive, changed, unlocked or tainted tools; `plexus`: the client's user is asked.",
    ),
});

const PORT = 'a port from 0 to 65535';

export const servingSchema = section({
  port: z
    .int(PORT)
    .min(0, PORT)
    .max(65_535, PORT)
    .default(7_417)
    .describe('The port of `plexus serve`. 0 takes any free one; `plexus connect` finds it.'),
  sampling: flag()
    .default(false)
    .describe(
      'Whether servers of the older era behind the gateway may have a client sample its model, where the client can. A modern server is told what each client can do, and that client decides.',
    ),
  profiles: z
    .record(z.string(), profileSchema, 'a map from names to profiles')
    .default({})
    .describe(
      'What clients see at `/mcp/p/NAME`. That of `/mcp` and of single servers at `/mcp/s/SERVER` is called `default`.',
    ),
  idleStopMs: duration()
    .default(600_000)
    .describe(
      'After so long without a call the gateway stops a local server until it is needed again, unless its entry has an `idleStopMs` of its own; its tools stay. A server with a call, a question or a subscription is in use. 0: never.',
    ),
  queuedCalls: size()
    .default(limits.relay.queuedCalls)
    .describe(
      'How many calls may wait for one server of the gateway; one that each workspace has for itself counts in each.',
    ),
  messageBytes: size().default(limits.serving.messageBytes).describe('The largest message of a client.'),
  inFlight: size().default(limits.serving.inFlight).describe('How many calls run at once, at all addresses together.'),
  waiting: size()
    .default(limits.serving.waiting)
    .describe(
      'How many calls may wait for their turn, and how many messages for a client that reads slowly. Beyond it a pipe is not read, HTTP is answered with 429, and progress and log messages give way.',
    ),
  connections: size()
    .default(limits.serving.connections)
    .describe('How many connections one port may have open; more are closed at once.'),
  sessions: size()
    .default(limits.serving.sessions)
    .describe(
      'How many clients may be connected, at all addresses together: sessions of the older era over HTTP, streams of the oldest kind, and each `plexus connect`.',
    ),
  streams: size().default(limits.serving.streams).describe('How many streams one session may have open.'),
  sessionIdleMs: duration()
    .default(limits.serving.sessionIdleMs)
    .describe('How long a session may be idle until it is ended.'),
  headersMs: duration()
    .default(limits.serving.headersMs)
    .describe('How long a client may take to send the head of a request.'),
  bodyMs: duration()
    .default(limits.serving.bodyMs)
    .describe('How long a client may take to send the body of a request.'),
  questionMs: duration()
    .default(limits.serving.questionMs)
    .describe('How long a client may take to answer a question; after that the call that asked is cancelled.'),
  suspendedCalls: size()
    .default(limits.serving.suspendedCalls)
    .describe(
      'How many calls of modern clients, and how many questions to clients of the older era, may wait for an answer. Beyond it the oldest such call is cancelled, and such a question is refused.',
    ),
});

/** `src/agent/choose-model.ts` knows their addresses. */
const modelProviders = ['openai', 'anthropic', 'ollama', 'lm-studio', 'llama.cpp', 'vllm'] as const;

export const agentSchema = section({
  provider: z
    .enum(modelProviders, modelProviders.map((provider) => `"${provider}"`).join(', '))
    .optional()
    .describe(
      'Where the model runs: at OpenAI, at Anthropic, or on this machine behind one of these model servers. With `url`, `openai` means everything compatible with it. Otherwise `anthropic` for a model that begins with `claude` and has no `url`, `openai` for all others. In your own files only.',
    ),
  url: text()
    .optional()
    .describe(
      'The address before `/chat/completions`, or before `/v1/messages` for `anthropic`, where it is not the usual one. In your own files only.',
    ),
  model: text().optional().describe('The model, as its provider names it. In your own files only.'),
  key: secretReference('The key for that address, in your own files only.'),
  models: texts()
    .default([])
    .describe('Further models there that a client of a served agent may ask for. In your own files only.'),
  contextWindow: size()
    .optional()
    .describe('How many tokens the model reads at most. Otherwise 200000. In your own files only.'),
  vision: flag().optional().describe('Whether the model looks at images. In your own files only.'),
  maxSteps: size()
    .default(limits.agentBudget.steps)
    .describe('How many answers of the model one prompt may take. A file of the workspace can only lower it.'),
  maxTokens: size()
    .default(limits.agentBudget.tokens)
    .describe('How many tokens these may read and write together. A file of the workspace can only lower it.'),
  maxTimeMs: above()
    .default(limits.agentBudget.timeMs)
    .describe('How long one prompt may take. A file of the workspace can only lower it.'),
});

export const plexusSchema = section({
  enabled: flag().default(true).describe('The master switch. When false no other file is read and there are no tools.'),
  import: z
    .union([z.enum(['off', 'auto']), texts()], '"off", "auto" or a list of apps')
    .default('off')
    .describe(
      "Whether the servers in other agents' files are used too, as they are: `auto` for all agents, or those named. `plexus import` takes them over once instead.",
    ),
  mergeOrder: z
    .enum(['project-over-user', 'user-over-project'], '"project-over-user" or "user-over-project"')
    .default('project-over-user')
    .describe('Which of two servers with the same name counts: that of the folder you are in, or your own.'),
  unresolvedEnv: z
    .enum(['scoped', 'empty', 'error', 'literal'], '"scoped", "empty", "error" or "literal"')
    .default('scoped')
    .describe(
      'What a placeholder without a value becomes. `scoped`: nothing, with a warning, in entries of a workspace, plugin or import; in your own the server does not start. The other words say the same for all.',
    ),
  project: projectSchema.prefault({}).describe('What the folder you are in may contribute.'),
  pluginFolders: texts()
    .default([])
    .describe('Folders with plugins, besides `plugins` beside your own file and `.plexus/plugins` in the workspace.'),
  disabledServers: texts().default([]).describe('Servers that are off, whatever their entries say.'),
  enabledServers: texts()
    .default([])
    .describe('Servers that are on although their entries say otherwise. `disabledServers` wins.'),
  startup: startupSchema.prefault({}).describe('How long the start waits, and for what.'),
  gateway: z
    .enum(['auto', 'on', 'off'], '"auto", "on" or "off"')
    .default('auto')
    .describe(
      "Whether Docker's MCP gateway is a server too: `auto` when no other server is configured and Docker is there.",
    ),
  connectConcurrency: connectConcurrencySchema.prefault({}).describe('How many servers are opened at once.'),
  naming: z
    .enum(['canonical', 'compact', 'single', 'bare'], '"canonical", "compact", "single" or "bare"')
    .default('canonical')
    .describe(
      'How the names of tools are spelled for the model: `mcp__server__tool`, `mcp__server_tool`, `mcp_server_tool` or `tool`. All of them are understood.',
    ),
  maxToolNameLength: z
    .int(NAME_LENGTH)
    .min(20, NAME_LENGTH)
    .max(256, NAME_LENGTH)
    .default(limits.toolNameLength)
    .describe('The longest name that the provider of the model accepts; a longer one is cut and marked.'),
  descriptionPrefix: text()
    .optional()
    .describe('What every description of a tool begins with, such as `[MCP: {server}] `.'),
  toolCacheTtlMs: duration()
    .default(300_000)
    .describe(
      "How long a server's list of tools counts as fresh; an older one is still used while a new one is fetched. What a server says itself counts more.",
    ),
  toolSearch: z
    .string(TOOL_SEARCH)
    .regex(/^(?:on|off|auto(?::(?:100|[1-9]?\d))?)$/, TOOL_SEARCH)
    .default('auto')
    .describe(
      'Whether the model searches for tools instead of reading them all. `auto`: when they would fill a tenth of its context window; `auto:N`: when they would fill N percent.',
    ),
  lazyList: z
    .enum(['on-request', 'at-start'], '"on-request" or "at-start"')
    .default('on-request')
    .describe(
      'When a lazy server whose tools are not remembered is started: `on-request`: when the model asks for it with `mcp_start`; `at-start`: with Plexus, once, to learn its tools.',
    ),
  minContextWindow: z
    .int('a whole number of tokens')
    .min(0, 'a whole number of tokens')
    .default(32_000)
    .describe(
      'A model whose context window has fewer tokens is not left to search: it is shown the tools that fit its task best.',
    ),
  searchOnListChanged: flag()
    .default(true)
    .describe(
      "Whether a server's changed list of tools may switch search on or off. Otherwise what was decided first stays for the conversation.",
    ),
  alwaysLoad: texts()
    .default([])
    .describe('Tools that the model sees even while others must be searched for; written as in a rule.'),
  alwaysLoadChars: z
    .int('a whole number of characters')
    .min(0, 'a whole number of characters')
    .default(2_000)
    .describe(
      'How many characters all tools together may take that are seen while others must be searched for because their servers ask for it (`_meta.alwaysLoad`), which counts with `trustHints`.',
    ),
  instructions: flag()
    .default(true)
    .describe(
      "Whether the model reads the servers' instructions: in the system prompt, or, while tools are searched for, with the first result that shows a tool of the server.",
    ),
  builtinTools: flag()
    .default(true)
    .describe('Whether the model gets tools to list and read resources and prompts, where a server has any.'),
  subagents: z
    .union([z.enum(['inherit', 'none']), texts()], '"inherit", "none" or a list of tools')
    .default('inherit')
    .describe(
      'Which tools of its agent a sub-agent (`view.child()`) may use: all of them, none, or those of a list; written as in a rule.',
    ),
  results: resultsSchema.prefault({}).describe('How results are changed before the model reads them.'),
  signals: z
    .enum(['log', 'annotate', 'ask'], '"log", "annotate" or "ask"')
    .default('log')
    .describe(
      'What follows when a text of a server looks as if it gave the model orders. `log`: an event and a remark on the outcome; `annotate`: the model is told too; `ask`: the next call that is not read-only asks first.',
    ),
  taint: z
    .enum(['off', 'ask'], '"off" or "ask"')
    .default('off')
    .describe(
      'Whether a call asks first, even where a rule allows it, once the agent has read output of a server: every call but those of tools that are known to only read and to reach nothing outside (trusted hints of the open session, or `outbound = false` of the tool).',
    ),
  trust: trustSchema.prefault({}).describe('What an approval covers.'),
  serving: servingSchema.prefault({}).describe('What Plexus serves to others, and its limits.'),
  agent: agentSchema.prefault({}).describe('The agent: its model, and how much one prompt may cost.'),
});

export const inputSchema = section({
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
  id: text().describe('What `${input:id}` refers to.'),
  type: z.string('a string').optional().describe('`promptString` or `pickString`.'),
  description: z.string('a string').optional().describe('The question.'),
  default: z
    .string('a string')
    .optional()
    .describe(
      'The answer that is proposed. In your own files it also counts when none is given; in any other file it fills nothing.',
    ),
  password: flag().default(false).describe('Whether the answer is hidden while it is typed.'),
  options: texts().optional().describe('The answers to choose from.'),
});

export const fileSchema = section({
  $schema: z.string('a string').optional().describe('The address of this schema, for editors.'),
  mode: z
    .enum(['exclusive', 'merge'], '"exclusive" or "merge"')
    .optional()
    .describe('In the enterprise file: whether it replaces all other files, which is the default, or joins them.'),
  mcpServers: z
    .record(z.string(), serverSchema, 'a map from names to servers')
    .default({})
    .describe('The servers, by name. Also read: `mcp_servers`, `servers`, `mcp.servers`, `context_servers`, `mcp`.'),
  inputs: z
    .array(inputSchema, 'a list of inputs')
    .default([])
    .describe('Values that you are asked for once; the answers are kept in the secret store, never in a file.'),
  permissions: permissionsSchema.prefault({}).describe('Which tools may be called.'),
  security: securitySchema.prefault({}).describe('Which servers may be used.'),
  plexus: plexusSchema.prefault({}).describe("Plexus's own settings."),
});

/** All that is checked at run time, by the name that it has in `checks.json`. */
export const schemas = {
  background: backgroundSchema,
  reconnect: reconnectSchema,
  health: healthSchema,
  tool: toolSchema,
  oauth: oauthSchema,
  server: serverSchema,
  rule: ruleSchema,
  permissions: permissionsSchema,
  listedServer: listedServerSchema,
  security: securitySchema,
  startup: startupSchema,
  project: projectSchema,
  connectConcurrency: connectConcurrencySchema,
  results: resultsSchema,
  trust: trustSchema,
  serving: servingSchema,
  profile: profileSchema,
  agent: agentSchema,
  plexus: plexusSchema,
  input: inputSchema,
  file: fileSchema,
};

type Schemas = typeof schemas;
export type SchemaName = keyof Schemas;
/** Those that are maps of settings. */
export type SectionName = { [Name in SchemaName]: Schemas[Name] extends z.ZodObject ? Name : never }[SchemaName];

/** A value with every default in place. */
export type Complete<Name extends SchemaName> = z.output<Schemas[Name]>;
export type CompleteEntry = Complete<'server'>;
export type ReconnectSettings = Complete<'reconnect'>;
export type Settings = Complete<'plexus'>;
export type ListedServer = Complete<'listedServer'>;
export type AgentSettings = Complete<'agent'>;

/** A key that only one of the two types has is a compile error here. */
type SameKeys<One, Other> = [keyof One, keyof Other] extends [keyof Other, keyof One] ? true : never;
true satisfies SameKeys<z.input<typeof serverSchema>, ServerEntry>;
