// Owns the failure table: one row per error code, with the remedy and the two sentences that people read: what happened, and what
// to do next. `model-sentences.ts` has those for models. Code checks `code`, `remedy`, `outage` or `reconnect`, never the words.

import { shellWord } from '../kernel/shell-word.ts';
import { type LoginFault, loginFaultSentences } from './login-faults.ts';
import type { QualifiedName, ServerName, ToolId } from './names.ts';

/** The person or program that can fix a failure. */
export type Remedy =
  | 'fix-config'
  | 'ask-user'
  | 'log-in'
  | 'retry-later'
  | 'fix-call'
  | 'check-first'
  | 'report-bug'
  | 'none';

interface Failure<Data> {
  readonly remedy: Remedy;
  /** The CLI's exit code. */
  readonly exit: number;
  readonly http: number;
  readonly rpc: number;
  /** Whether the breaker counts it: only failures that waiting can fix, so that a wrong argument never blocks a healthy server. */
  readonly outage: boolean;
  /** Whether waiting can fix it: decides between the states `waiting` and `blocked`. */
  readonly reconnect: boolean;
  /** Whether its first sentence, for people or for models, may hold words of a server, or of a file that nobody approved. */
  readonly quotes: boolean;
  readonly happened: (data: Data) => string;
  readonly next: (data: Data) => string;
}

type FailureStatus = Pick<Failure<never>, 'exit' | 'http' | 'rpc'> &
  Partial<Pick<Failure<never>, 'outage' | 'reconnect' | 'quotes'>>;

function failure<Data>(
  remedy: Remedy,
  status: FailureStatus,
  happened: (data: Data) => string,
  next: (data: Data) => string,
): Failure<Data> {
  return { outage: false, reconnect: false, quotes: false, ...status, remedy, happened, next };
}

const CONFIG: FailureStatus = { exit: 1, http: 500, rpc: -32603 };
const UNREACHABLE: FailureStatus = {
  exit: 4,
  http: 502,
  rpc: -32603,
  outage: true,
  reconnect: true,
  quotes: true,
};
const REFUSED: FailureStatus = { exit: 3, http: 403, rpc: -32603 };
const FREE_SPACE = 'Free some space on the disk';
const NOT_FOUND: FailureStatus = { exit: 2, http: 404, rpc: -32602 };

interface ServerFault {
  readonly server: ServerName;
  readonly reason: string;
  /** The end of the server's stderr, already bounded. */
  readonly stderr?: string;
  /** A runner such as npx has not started the server yet. */
  readonly isInstalling?: true;
  /** The server is reached at an address; it has no command to start by hand. */
  readonly isRemote?: true;
}

export const faultReason = (data: ServerFault): string => {
  const tail = data.stderr?.trim();
  return tail ? `${data.reason}. It wrote on stderr:\n${tail.replace(/^/gm, '  | ')}\n` : `${data.reason}.`;
};

interface UnusableLogins {
  readonly file: string;
  readonly problem: 'torn' | 'newer' | 'unreadable' | 'keychain' | 'keychain-package' | 'key';
  readonly reason: string;
}

function unusableLogins({ file, problem, reason }: UnusableLogins): string {
  if (problem === 'newer') return `The logins in ${file} were written by a newer Plexus: ${reason}.`;
  if (problem === 'keychain' || problem === 'keychain-package')
    return `The key of the logins in ${file} lies in the system keychain, and ${reason}.`;
  if (problem === 'key') return `The logins in ${file} cannot be decrypted: ${reason}.`;
  return `The logins in ${file} cannot be read: ${reason}.`;
}

function loginsRemedy({ file, problem }: UnusableLogins): string {
  if (problem === 'newer') return 'Update Plexus.';
  if (problem === 'keychain') return 'Unlock the keychain, or run this where you are logged in to the desktop.';
  if (problem === 'keychain-package') return 'Install that package beside Plexus, as it was when you first logged in.';
  if (problem === 'unreadable') return `Make ${file} readable for yourself.`;
  return `Restore ${problem === 'key' ? 'the key' : 'it'} from a backup, or move ${file} away and log in again.`;
}

type UnsetModel =
  | { readonly missing: 'model' }
  | {
      readonly missing: 'key';
      /** The address of the model. */
      readonly address: string;
      /** The environment variable that should hold it. */
      readonly variable: string;
      /** The flag or setting that names the variable; absent where it is the provider's own. */
      readonly by?: string;
    };

function unsetRemedy(unset: UnsetModel): string {
  if (unset.missing === 'model')
    return 'Name one with --model, with the environment variable PLEXUS_MODEL, or with "model" under [plexus.agent] in your own file. See which there are with: plexus chat --list-models';
  const { variable, by } = unset;
  if (by !== undefined) return `Set the environment variable ${variable}, which ${by} names.`;
  return `Set the environment variable ${variable}, or "key" under [plexus.agent] in your own file, such as key = "\${NAME}".`;
}

interface UnusableConversation {
  readonly conversation: string;
  readonly problem: 'busy' | 'newer' | 'damaged';
}

function conversationProblem({ problem }: UnusableConversation): string {
  if (problem === 'busy') return 'is open in another process';
  return problem === 'newer' ? 'was written by a newer Plexus' : 'cannot be read: its file is damaged';
}

function conversationRemedy({ problem }: UnusableConversation): string {
  if (problem === 'busy') return 'Close it there first, or start a new conversation.';
  return problem === 'newer' ? 'Update Plexus.' : 'Start a new conversation.';
}

export interface MissingLogin {
  readonly server: ServerName;
  /** Absent: there is no login yet. */
  readonly why?: 'refused' | 'interrupted' | 'expired' | 'scopes';
  /** The rights that the present login lacks. */
  readonly scopes?: readonly string[];
  readonly account?: string;
  /** The entry says `oauth = false`. */
  readonly isLoginOff?: true;
  /** The refused token had just been fetched: another login helps, and no newer token of this one. */
  readonly isTokenNew?: true;
}

function loginNeed({ why, scopes = [], account }: MissingLogin): string {
  if (why === 'refused') return 'needs a new login: the stored one is no longer accepted';
  if (why === 'interrupted') return 'needs login: the refresh was interrupted';
  if (why === 'expired') return 'needs a new login: the stored one has expired and cannot be refreshed';
  if (why === 'scopes') return `needs a login with more rights${scopes.length > 0 ? `: ${scopes.join(' ')}` : ''}`;
  return `needs a login${account ? ` for the account "${account}"` : ''} (HTTP 401)`;
}

/** The command that a person types to log in. */
export function loginCommand({ server, account, scopes = [] }: MissingLogin): string {
  const named = account ? ` --account ${shellWord(account)}` : '';
  const asked = scopes.length > 0 ? ` --scopes ${shellWord(scopes.join(' '))}` : '';
  return `plexus login ${shellWord(server)}${named}${asked}`;
}

const giveToken = (server: ServerName) =>
  `Give "${server}" a token: set bearer_token_env_var or headers in its configuration.`;

interface UnknownName {
  /** The known names closest to the unknown one. */
  readonly nearest: readonly string[];
  readonly because?: string;
  /** The reason without what only a person or a program can do about it. */
  readonly becauseForModel?: string;
  /** The server whose words the reason repeats. */
  readonly quoted?: ServerName;
}

export const thereIsNo = (
  what: string,
  { nearest, because: reason }: { readonly nearest: readonly string[]; readonly because?: string | undefined },
): string =>
  `There is no ${what}${reason ? `: ${reason}` : ''}.${nearest.length > 0 ? ` Did you mean ${nearest.join(' or ')}?` : ''}`;
const onServer = ({ server }: { readonly server?: ServerName }) =>
  server === undefined ? '' : ` on server "${server}"`;

/** What helps besides approving when asked; it depends on why the approval was needed. */
export type ApprovalAdvice = 'add-rule' | 'change-rule' | 'change-cause' | 'review-lock' | 'approve-again' | 'answer';

const howElse: Readonly<Record<ApprovalAdvice, (d: ToolId & { readonly name: QualifiedName }) => string>> = {
  'add-rule': ({ name }) => `, or allow it with a rule: tool = "${name}", action = "allow"`,
  'change-rule': () => ', or change that rule',
  'change-cause': () => ', or change what asks for it',
  'review-lock': ({ server, tool }) =>
    `, or review it with plexus lock --check, then run: plexus lock ${shellWord(server)}, or for yourself: plexus approve ${shellWord(server)} ${shellWord(tool)}`,
  'approve-again': ({ server, tool }) =>
    `, or review it and run: plexus approve ${shellWord(server)} ${shellWord(tool)}`,
  answer: () => '; no rule answers for that',
};

interface UntrustedServer {
  readonly server: ServerName;
  readonly file?: string;
  readonly command: string;
  readonly variables?: readonly string[];
  readonly changes?: readonly string[];
  /** The file of the workspace that an entry of the user's own runs. */
  readonly workspaceFile?: string;
  /** The server is remote, and its address leads to this machine or to the network around it. */
  readonly isLocal?: true;
}

function whyUntrusted(d: UntrustedServer): string {
  if (d.isLocal) return 'its address leads to this machine or to the network around it, and nobody has approved it';
  if (d.workspaceFile !== undefined)
    return `runs "${d.workspaceFile}" of the folder you are in, which is another file in each folder and not approved in this one`;
  return d.changes ? `it has changed since it was approved (${d.changes.join('; ')})` : 'nobody has approved it';
}

export const failures = {
  CONFIG_INVALID: failure(
    'fix-config',
    CONFIG,
    (d: { problem: string; file?: string; line?: number }) =>
      `The configuration is not valid${d.file ? ` (${d.file}${d.line ? `:${d.line}` : ''})` : ''}: ${d.problem}.`,
    (d) =>
      d.file
        ? `Correct it in ${d.file}, then run: plexus config check ${shellWord(d.file)}`
        : 'Correct it, then run: plexus config check',
  ),
  CONFIG_UNREADABLE: failure(
    'fix-config',
    CONFIG,
    (d: { file: string; problem: string }) => `The configuration file ${d.file} cannot be read: ${d.problem}.`,
    (d) => `Check that ${d.file} exists and that you may read it.`,
  ),
  CONFIG_UNWRITABLE: failure(
    'fix-config',
    CONFIG,
    (d: { file: string; problem: string; isFull?: true }) =>
      `The configuration file ${d.file} cannot be written: ${d.problem}.`,
    (d) =>
      `${d.isFull ? FREE_SPACE : `Make ${d.file} a file that you may write`}, then do it again; nothing was changed.`,
  ),
  OUTPUT_UNWRITABLE: failure(
    'fix-call',
    CONFIG,
    (d: { file: string; problem: string; isFull?: true }) => `${d.file} cannot be written: ${d.problem}.`,
    (d) => `${d.isFull ? FREE_SPACE : 'Name another file, or make this one writable'}, then do it again.`,
  ),
  ENV_MISSING: failure(
    'fix-config',
    CONFIG,
    (d: {
      server: ServerName;
      variable: string;
      /** The setting that names the variable; without it, a placeholder does. */
      setting?: 'bearer_token_env_var';
    }) =>
      d.setting === undefined
        ? `Server "${d.server}" needs the environment variable ${d.variable}, which is not set.`
        : `Server "${d.server}" takes its token from the environment variable ${d.variable} (${d.setting}), which is not set.`,
    (d) =>
      d.setting === undefined
        ? `Set ${d.variable}, or give it a default in the configuration: \${${d.variable}:-value}.`
        : `Set ${d.variable} to the token before you start, or name another variable in ${d.setting}; without a token, remove that setting.`,
  ),
  INPUT_MISSING: failure(
    'ask-user',
    REFUSED,
    (d: { server: ServerName; input: string }) =>
      `Server "${d.server}" needs your answer to the input "${d.input}", which was not given.`,
    (d) => `Run this in a terminal and answer; it is remembered: plexus tools ${shellWord(d.server)}`,
  ),
  SERVER_UNKNOWN: failure(
    'fix-config',
    NOT_FOUND,
    (d: { server: ServerName; nearest: readonly ServerName[]; listWith?: string }) =>
      thereIsNo(`server "${d.server}"`, d),
    (d) => `See the configured ones with: ${d.listWith ?? 'plexus list'}`,
  ),
  SERVER_DENIED: failure(
    'fix-config',
    REFUSED,
    (d: { server: ServerName; because: string }) => `Server "${d.server}" is not in use: ${d.because}.`,
    () => 'Change that setting, or ask whoever set it.',
  ),
  STORE_UNWRITABLE: failure(
    'fix-config',
    CONFIG,
    (d: { folder: string; reason: string; isFull?: true }) =>
      `Plexus cannot store anything${d.isFull ? '' : ` in ${d.folder}`}: ${d.reason}.`,
    (d) =>
      d.isFull
        ? `${FREE_SPACE}, then do it again.`
        : `Make ${d.folder} a folder that you may write and that has room, then do it again.`,
  ),
  STORE_UNREADABLE: failure(
    'none',
    CONFIG,
    (d: { what: string }) => `The stored data about ${d.what} could not be read and was dropped.`,
    () => 'You need not do anything: Plexus collects it again.',
  ),
  SERVER_UNTRUSTED: failure(
    'ask-user',
    { ...REFUSED, quotes: true },
    (d: UntrustedServer) =>
      `Server "${d.server}" was not ${d.isLocal ? 'connected' : 'started'}: ${d.file ?? 'a file in the workspace'} defines it${d.isLocal ? ',' : ' and'} ${whyUntrusted(d)}. ${d.isLocal ? 'It is at' : 'It would run'}: ${d.command}.${d.variables?.length ? ` It reads your variables ${d.variables.join(', ')}.` : ''}`,
    (d) =>
      `If you trust it, run: plexus approve ${shellWord(d.server)}${
        d.workspaceFile === undefined ? '' : '; or name the file by its full path, or the folder with "cwd"'
      }`,
  ),
  LOGINS_UNUSABLE: failure(
    'fix-config',
    CONFIG,
    (d: UnusableLogins) => `${unusableLogins(d)} Nothing of it was changed.`,
    loginsRemedy,
  ),
  MODEL_REFUSED: failure(
    'fix-config',
    { ...CONFIG, quotes: true },
    (d: { model: string; reason: string; status?: number; isKeyless?: true }) =>
      `The model "${d.model}" did not take the request: ${d.reason}.`,
    (d) =>
      d.status === 401 || d.status === 403
        ? d.isKeyless
          ? 'It was given no key. Say beside its address which one to use: with --key-env, with the environment variable PLEXUS_MODEL_KEY, or with "key" under [plexus.agent].'
          : 'Check the key that it is given.'
        : d.status === 404
          ? 'Check the name of the model and its address.'
          : 'Check the model, its address and what it is sent.',
  ),
  MODEL_UNSET: failure(
    'fix-config',
    CONFIG,
    (d: UnsetModel) =>
      d.missing === 'model' ? 'No model is chosen.' : `There is no key for the model at ${d.address}.`,
    unsetRemedy,
  ),
  MODEL_UNAVAILABLE: failure(
    'retry-later',
    { exit: 4, http: 502, rpc: -32603, quotes: true },
    (d: { model: string; reason: string; waitMs?: number; cut?: 'in-text' | 'in-calls' }) =>
      `The model "${d.model}" gave no ${d.cut === undefined ? '' : 'complete '}answer: ${d.reason}.`,
    (d) => (d.waitMs === undefined ? 'Try again later.' : `Try again in ${seconds(d.waitMs)}.`),
  ),
  CONVERSATION_UNUSABLE: failure(
    'fix-call',
    NOT_FOUND,
    (d: UnusableConversation) => `Conversation "${d.conversation}" ${conversationProblem(d)}.`,
    conversationRemedy,
  ),
  AUTH_REQUIRED: failure(
    'log-in',
    { ...REFUSED, http: 401, quotes: true },
    (d: MissingLogin) => `Server "${d.server}" ${loginNeed(d)}.`,
    (d) => (d.isLoginOff ? giveToken(d.server) : `Log in with: ${loginCommand(d)}`),
  ),
  AUTH_FAILED: failure(
    'log-in',
    { ...REFUSED, http: 401, quotes: true },
    (d: { server: ServerName; reason: string; status?: number }) =>
      `The login to server "${d.server}" failed: ${d.reason}.`,
    (d) => `Check the token or the headers in the configuration of "${d.server}".`,
  ),
  LOGIN_FAILED: failure(
    'log-in',
    { ...REFUSED, http: 401, quotes: true },
    (d: { server: ServerName; fault: LoginFault }) =>
      `The login to server "${d.server}" failed: ${loginFaultSentences(d.fault, d.server).happened}.`,
    (d) => loginFaultSentences(d.fault, d.server).next,
  ),
  LOGIN_UNAVAILABLE: failure(
    'retry-later',
    { exit: 4, http: 502, rpc: -32603, outage: true, reconnect: true, quotes: true },
    (d: { server: ServerName; address: string; reason: string }) =>
      `The authorization server of "${d.server}" (${d.address}) cannot be used now: ${d.reason}.`,
    () => 'Try again later; the login that is stored stays as it is.',
  ),
  SPAWN_FAILED: failure(
    'fix-config',
    { ...UNREACHABLE, reconnect: false },
    (
      d: ServerFault & {
        command: string;
        /** `state`: a path of ours, which cannot be made. */
        culprit: 'command' | 'cwd' | 'state';
        path?: string;
        isFull?: true;
      },
    ) => `Server "${d.server}" could not be started (${d.command}): ${faultReason(d)}`,
    (d) =>
      d.isFull
        ? `${FREE_SPACE}, then start it again.`
        : d.culprit === 'state'
          ? `Make it possible to write ${d.path ?? 'the state folder'}, or name the folder that "${d.server}" is to run in with "cwd" in its configuration.`
          : d.culprit === 'cwd'
            ? `Correct "cwd" in the configuration of "${d.server}", or make that folder.`
            : `Install ${shellWord(d.command)} or correct "command" in the configuration of "${d.server}".`,
  ),
  STARTUP_TIMEOUT: failure(
    'retry-later',
    { ...UNREACHABLE, http: 504 },
    (
      d: ServerFault & {
        afterMs: number;
        /** Why the attempt before failed. */
        before?: string;
        /** When the next attempt begins; calls wait until then. */
        retryInMs?: number;
      },
    ) => {
      const reason = d.before === undefined ? d.reason : `${d.reason}, after a failure (${d.before})`;
      return `Server "${d.server}" did not become ready within ${seconds(d.afterMs)}: ${faultReason({ ...d, reason })}`;
    },
    (d) =>
      d.retryInMs !== undefined
        ? `Plexus tries again in ${seconds(d.retryInMs)}; call again then, or reconnect it: runtime.reconnect(${JSON.stringify(d.server)})`
        : `Give it longer (${d.isInstalling ? 'startup.install_timeout_ms' : `startup_timeout_sec of "${d.server}"`}), or ${
            d.isRemote ? 'check that its address answers' : 'start its command by hand to see what it waits for'
          }.`,
  ),
  CONNECTION_LOST: failure(
    'retry-later',
    UNREACHABLE,
    (d: ServerFault) => `There is no connection to server "${d.server}": ${faultReason(d)}`,
    (d) =>
      d.isRemote
        ? `To see why, check that the address of "${d.server}" answers.`
        : `To see why it fails, start the command of "${d.server}" by hand.`,
  ),
  PROTOCOL_BROKEN: failure(
    'retry-later',
    UNREACHABLE,
    (d: ServerFault) => `Server "${d.server}" does not speak MCP as agreed: ${faultReason(d)}`,
    (d) =>
      `Check that the ${d.isRemote ? 'address of "' : 'command of "'}${d.server}" ${
        d.isRemote ? 'is that of an MCP server' : 'starts an MCP server'
      }, and update it if it ${d.isRemote ? 'is' : 'does'}.`,
  ),
  REQUIRED_NOT_READY: failure(
    'retry-later',
    { exit: 4, http: 503, rpc: -32603, quotes: true },
    (d: { missing: readonly { server: ServerName; state: string; message?: string }[] }) =>
      d.missing
        .map(
          (each) =>
            `Server "${each.server}" is required and not ready (${each.state}).${each.message ? ` ${each.message}` : ''}`,
        )
        .join('\n'),
    () => 'Fix it, or set required = false in its configuration to start without it.',
  ),
  SERVERS_NOT_READY: failure(
    'retry-later',
    { exit: 4, http: 503, rpc: -32603, quotes: true },
    (d: { missing: readonly { server: ServerName; state: string; message?: string }[] }) =>
      d.missing
        .map((each) => `Server "${each.server}" is not ready (${each.state}).${each.message ? ` ${each.message}` : ''}`)
        .join('\n'),
    () => 'Wait longer with ready({ timeoutMs }), or name the servers you need with ready({ servers }).',
  ),
  RUNTIME_CLOSED: failure(
    'fix-call',
    { exit: 70, http: 503, rpc: -32603 },
    (d: Partial<ToolId>) =>
      `The runtime is closed${d.tool === undefined ? '' : `: "${d.tool}" on server "${d.server}" was not called`}; nothing was sent.`,
    () => 'Call before close(), or make a new runtime with createRuntime().',
  ),
  TOOL_UNKNOWN: failure(
    'fix-call',
    NOT_FOUND,
    (d: UnknownName & { name: QualifiedName; searchWith?: string; listWith?: string }) =>
      thereIsNo(`tool "${d.name}"`, d),
    (d) =>
      d.searchWith
        ? `Look for what there is with ${d.searchWith}.`
        : `See all tools with: ${d.listWith ?? 'plexus tools'}`,
  ),
  RESOURCE_UNKNOWN: failure(
    'fix-call',
    { ...NOT_FOUND, quotes: true },
    (d: UnknownName & { uri: string; server?: ServerName }) => thereIsNo(`resource "${d.uri}"${onServer(d)}`, d),
    () => 'See all resources with: plexus resources',
  ),
  RESOURCE_AMBIGUOUS: failure(
    'fix-call',
    NOT_FOUND,
    (d: { uri: string; servers: readonly ServerName[] }) =>
      `The resource "${d.uri}" may be of several servers: ${d.servers.join(', ')}.`,
    (d) => `Name the server with it: plexus read ${shellWord(d.uri)} --server ${shellWord(d.servers[0] ?? 'NAME')}`,
  ),
  PROMPT_UNKNOWN: failure(
    'fix-call',
    { ...NOT_FOUND, quotes: true },
    (d: UnknownName & { name: string; server?: ServerName }) => thereIsNo(`prompt "${d.name}"${onServer(d)}`, d),
    () => 'See all prompts with: plexus prompts',
  ),
  NOT_OFFERED: failure(
    'fix-call',
    { exit: 2, http: 501, rpc: -32601 },
    (d: { server: ServerName; what: string }) => `Server "${d.server}" does not offer that: ${d.what}.`,
    (d) => `See what it offers with: plexus get ${shellWord(d.server)}`,
  ),
  CURSOR_INVALID: failure(
    'fix-call',
    { exit: 1, http: 400, rpc: -32602 },
    (_: { cursor: string }) => 'The cursor is not one that Plexus returned.',
    () => 'Ask without a cursor for the first page, then pass on the cursor of each answer unchanged.',
  ),
  LIST_TOO_LONG: failure(
    'retry-later',
    UNREACHABLE,
    (d: ServerFault) => `The list of server "${d.server}" was cut off: ${faultReason(d)}`,
    (d) => `Report it to the author of "${d.server}"; what was listed until then can be used.`,
  ),
  CALL_DENIED: failure(
    'ask-user',
    REFUSED,
    (d: ToolId & { because: string }) => `The call of "${d.tool}" on server "${d.server}" was denied: ${d.because}.`,
    () => 'Change what denies it if the call should be allowed.',
  ),
  APPROVAL_REFUSED: failure(
    'ask-user',
    REFUSED,
    (
      d: ToolId & {
        name: QualifiedName;
        because: string;
        advice?: ApprovalAdvice;
        /** No stored approval answers the question: `plexus approve` would not help. */
        isUnstored?: true;
        /** How the tool differs from what was reviewed; not in the sentences, since a server wrote it and a model reads them. */
        changes?: readonly string[];
      },
    ) => `The call of "${d.tool}" on server "${d.server}" needs an approval that was not given: ${d.because}.`,
    (d) => `Approve it when asked${howElse[d.advice ?? 'add-rule'](d)}.`,
  ),
  TOOL_DRIFTED: failure(
    'ask-user',
    { ...REFUSED, quotes: true },
    (d: ToolId & { changes: readonly string[] }) =>
      `The tool "${d.tool}" of server "${d.server}" differs from plexus.lock, and only tools that match it may be called: ${d.changes.join('; ')}.`,
    (d) => `Review it, then run: plexus lock ${shellWord(d.server)}`,
  ),
  LOCK_INVALID: failure(
    'fix-config',
    CONFIG,
    (d: { file: string; line?: number; problem: string }) =>
      `The lock ${d.file}${d.line === undefined ? '' : `:${d.line}`} cannot be used: ${d.problem}.`,
    () => 'Restore it from your version control, or delete it and run: plexus lock',
  ),
  ARGUMENTS_BAD: failure(
    'fix-call',
    { exit: 1, http: 400, rpc: -32602, quotes: true },
    (d: ToolId & { problems: readonly string[]; instead?: string }) =>
      `The arguments for "${d.tool}" on server "${d.server}" do not fit: ${ended(d.problems.join('; '))}`,
    (d) => d.instead ?? 'Correct the arguments and call again.',
  ),
  REQUEST_REFUSED: failure(
    'fix-call',
    { exit: 4, http: 502, rpc: -32603, quotes: true },
    (d: {
      server: ServerName;
      reason: string;
      /** The kind of list that was asked for, such as "resources": nothing of such a request can be corrected. */
      list?: string;
    }) =>
      d.list === undefined
        ? `Server "${d.server}" refused the request: ${ended(d.reason)}`
        : `Server "${d.server}" answered with an error when asked for its ${d.list}: ${ended(d.reason)}`,
    (d) =>
      d.list === undefined
        ? 'Correct the call if it can be corrected; the same one is refused again.'
        : `Ask again later, or report it to the author of "${d.server}"; its tools can be used all the same.`,
  ),
  RATE_LIMITED: failure(
    'retry-later',
    { exit: 4, http: 429, rpc: -32603, reconnect: true, quotes: true },
    (d: {
      server: ServerName;
      reason: string;
      waitMs?: number;
      /** It refused the connection itself, not a call. */
      isAtStart?: true;
    }) =>
      d.isAtStart
        ? `Server "${d.server}" refused the connection, because it has had too many requests: ${ended(d.reason)}`
        : `Server "${d.server}" has had too many requests and did not handle this one: ${ended(d.reason)}`,
    (d) => {
      const wait = d.waitMs === undefined ? undefined : seconds(d.waitMs);
      if (!d.isAtStart) return wait === undefined ? 'Ask again later.' : `Ask again in ${wait}.`;
      return `Connect again ${wait === undefined ? 'in a minute' : `in ${wait}`}; if it stays so, look up its limits, which often depend on the token that it is given.`;
    },
  ),
  REQUEST_TIMEOUT: failure(
    'retry-later',
    { exit: 4, http: 504, rpc: -32603, outage: true },
    (d: { server: ServerName; what: string; afterMs: number; isFixed?: boolean }) =>
      `Server "${d.server}" did not answer ${d.what} within ${seconds(d.afterMs)}; nothing was changed by it.`,
    (d) => (d.isFixed ? 'Ask again later.' : `Ask again, or give it longer: tool_timeout_sec of "${d.server}".`),
  ),
  ANSWER_BROKEN: failure(
    'none',
    { exit: 4, http: 502, rpc: -32603 },
    (d: { server: ServerName; what: string; problem: string }) =>
      `Server "${d.server}" answered ${d.what}, but ${d.problem}; nothing was changed by it.`,
    (d) => `Report it to the author of "${d.server}".`,
  ),
  CIRCUIT_OPEN: failure(
    'retry-later',
    { exit: 4, http: 503, rpc: -32603 },
    (d: { server: ServerName; retryInMs: number }) =>
      `Server "${d.server}" failed repeatedly; calls to it are refused for another ${seconds(d.retryInMs)}.`,
    (d) => `Wait, or reconnect it: runtime.reconnect(${JSON.stringify(d.server)})`,
  ),
  MESSAGE_TOO_LARGE: failure(
    'check-first',
    { exit: 4, http: 502, rpc: -32603 },
    (d: { server: ServerName; limitBytes: number }) =>
      `Server "${d.server}" answered with one message of more than ${megabytes(d.limitBytes)}, which was dropped; the request itself was carried out.`,
    (d) => `Ask the tool for less, or raise max_message_bytes of "${d.server}".`,
  ),
  RESULT_BROKEN: failure(
    'check-first',
    { exit: 4, http: 502, rpc: -32603 },
    (d: ToolId & { problem: string }) =>
      `The tool "${d.tool}" on server "${d.server}" answered, but ${d.problem}; it has most likely been performed.`,
    (d) => `Check its effect before calling again, and report it to the author of "${d.server}".`,
  ),
  CALL_ID_TAKEN: failure(
    'fix-call',
    { exit: 1, http: 409, rpc: -32602 },
    (d: { callId: string }) => `A call with the id "${d.callId}" is still running; nothing was sent.`,
    () => 'Give each call an id of its own, or leave callId out.',
  ),
  CALL_TIMEOUT: failure(
    'check-first',
    { exit: 4, http: 504, rpc: -32603, outage: true },
    (d: ToolId & { afterMs: number; silence: boolean; isOwn?: boolean }) =>
      `The call of "${d.tool}" on server "${d.server}" ${
        d.silence ? `was silent for ${seconds(d.afterMs)}` : `took longer than ${seconds(d.afterMs)}`
      } and was cancelled; whether it took effect is unknown.`,
    (d) =>
      d.isOwn
        ? 'Check its effect before calling again; the caller set this time limit.'
        : `Check its effect before calling again; the limit is ${
            d.silence
              ? `tool_idle_timeout_sec of the tool or of "${d.server}"`
              : `tool_timeout_sec of the tool or of "${d.server}", or else MCP_TOOL_TIMEOUT`
          }.`,
  ),
  OUTCOME_UNKNOWN: failure(
    'check-first',
    { exit: 4, http: 502, rpc: -32603, outage: true, quotes: true },
    (d: ToolId & { reason: string }) =>
      `The connection to server "${d.server}" ended during the call of "${d.tool}" (${d.reason}); whether it took effect is unknown.`,
    () => 'Check its effect before calling again.',
  ),
  QUESTIONS_EXCEEDED: failure(
    'check-first',
    { exit: 4, http: 502, rpc: -32603 },
    (d: { server: ServerName; most: number }) =>
      `Server "${d.server}" asked more than ${d.most} questions during one call, which was cancelled; whether it took effect is unknown.`,
    (d) => `Check its effect before calling again, and report it to the author of "${d.server}".`,
  ),
  CALL_CANCELLED: failure(
    'none',
    { exit: 130, http: 499, rpc: -32603 },
    (d: Partial<ToolId> & { wasSent?: false }) =>
      `The call${d.tool ? ` of "${d.tool}" on server "${d.server}"` : ''} was cancelled; ${
        d.wasSent === false ? 'nothing was sent' : 'if it had been sent, whether it took effect is unknown'
      }.`,
    (d) =>
      d.wasSent === false
        ? 'If it is still wanted, call again.'
        : 'If it is still wanted, check its effect and call again.',
  ),
  GATEWAY_RUNNING: failure(
    'none',
    { exit: 1, http: 409, rpc: -32603 },
    (d: { pid: number; port: number; folder: string }) =>
      `A gateway runs already on ${d.folder}: process ${d.pid}, port ${d.port}.`,
    (d) =>
      `Use that one: clients join it with plexus connect, or at http://127.0.0.1:${d.port}/mcp with the token in ${d.folder}/gateway.token. Or end it first: kill ${d.pid}. A second one needs a state folder of its own (XDG_STATE_HOME).`,
  ),
  GATEWAY_NEWER: failure(
    'fix-config',
    { exit: 1, http: 409, rpc: -32603 },
    (d: { pid: number }) => `The running gateway, process ${d.pid}, is of a newer version of Plexus than this one.`,
    () => 'Update this Plexus, or end that gateway; it was left as it is.',
  ),
  GATEWAY_UNREACHABLE: failure(
    'retry-later',
    { exit: 4, http: 502, rpc: -32603, quotes: true },
    (d: {
      reason: string;
      /** It runs, and does not take this client. */
      isRefusal?: true;
    }) => `The gateway ${d.isRefusal ? 'refuses this client' : 'cannot be reached'}: ${d.reason.replace(/\.$/, '')}.`,
    (d) =>
      d.isRefusal
        ? 'Correct the command of the client, or the configuration of the gateway.'
        : 'Run this in a terminal to see why: plexus serve',
  ),
  SESSION_UNKNOWN: failure(
    'fix-call',
    NOT_FOUND,
    (d: { session: string }) => `There is no session "${d.session}".`,
    () => 'Initialize a new session.',
  ),
  CONVERSATION_UNKNOWN: failure(
    'fix-call',
    NOT_FOUND,
    (d: { conversation: string }) => `There is no conversation "${d.conversation}".`,
    () => 'Start a new conversation.',
  ),
  INTERNAL: failure(
    'report-bug',
    { exit: 70, http: 500, rpc: -32603, quotes: true },
    (d: { problem: string }) => `Something went wrong inside Plexus: ${d.problem}.`,
    () => 'Please report it, with the command and the output of: plexus --version',
  ),
} as const;

export type FailureCode = keyof typeof failures;
export type FailureData<Code extends FailureCode> = Parameters<(typeof failures)[Code]['happened']>[0];

/** Everything that the runtime throws. The message holds both sentences and is for people only. */
export class RuntimeError<Code extends FailureCode = FailureCode> extends Error {
  override readonly name = 'RuntimeError';
  /** Never changes between versions, unlike the message. */
  readonly code: Code;
  /** The facts in the sentences: `isFailure(error, code)` gives them the type that belongs to the code. */
  readonly data: FailureData<Code>;

  constructor(code: Code, data: FailureData<Code>, options?: { cause?: unknown }) {
    super(describe(code, data), options);
    this.code = code;
    this.data = data;
  }

  /** The kind of step that helps. */
  get remedy(): Remedy {
    return failures[this.code].remedy;
  }
  /** Whether the circuit breaker of the server counts it. */
  get outage(): boolean {
    return failures[this.code].outage;
  }
  /** Whether waiting can cure it: the connection is tried again. */
  get reconnect(): boolean {
    return failures[this.code].reconnect;
  }
  /** The exit code of `plexus` for this failure. */
  get exitCode(): number {
    return failures[this.code].exit;
  }

  /** For output outside the process: no stack, no cause, and no data beyond the sentences. */
  toJSON(): { code: FailureCode; message: string; remedy: Remedy } {
    return { code: this.code, message: this.message, remedy: this.remedy };
  }
}

/** The HTTP status and the JSON-RPC code of a failure. */
export function wireCodesOf({ code }: Pick<RuntimeError, 'code'>): { readonly http: number; readonly rpc: number } {
  const { http, rpc } = failures[code];
  return { http, rpc };
}

/** Whether an error has this code; then `error.data` has that code's fields. */
export function isFailure<Code extends FailureCode>(error: unknown, code: Code): error is RuntimeError<Code> {
  return error instanceof RuntimeError && error.code === code;
}

/** An error that is no RuntimeError is a bug in Plexus: it is reported as INTERNAL, never silently retried. */
export function asRuntimeError(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error;
  return new RuntimeError(
    'INTERNAL',
    { problem: error instanceof Error ? error.message : String(error) },
    { cause: error },
  );
}

/** Whether a server answered 401: it wants other credentials than it was given. */
export function isRefusedLogin(error: unknown): error is RuntimeError {
  if (!(error instanceof RuntimeError)) return false;
  if (error.code === 'AUTH_REQUIRED') return true;
  return error.code === 'AUTH_FAILED' && (error.data as FailureData<'AUTH_FAILED'>).status === 401;
}

interface NamedTool {
  readonly id: ToolId;
  readonly name: QualifiedName;
}

/** What the model saw of the former server says nothing about the one that has its name now. */
export function toolReplaced({ id, name }: NamedTool): RuntimeError {
  const becauseForModel = `server "${id.server}" is gone, or another one now`;
  return new RuntimeError('TOOL_UNKNOWN', { name, nearest: [], ...inNewTurn(becauseForModel) });
}

/** The approval was for another definition of the tool. */
export function toolChanged({ name }: NamedTool): RuntimeError {
  const becauseForModel = 'its definition has changed since it was approved';
  return new RuntimeError('TOOL_UNKNOWN', { name, nearest: [], ...inNewTurn(becauseForModel) });
}

/** A turn is begun by the host, never by a model. */
const inNewTurn = (becauseForModel: string) => ({ because: `${becauseForModel}; begin a new turn`, becauseForModel });

/** Whether the first sentence holds words that a server may have written: a model must not take them for ours. */
export function quotesServer({ code, data }: RuntimeError): boolean {
  return failures[code].quotes || ('quoted' in data && data.quoted !== undefined);
}

/** The two sentences of an error's message, separately. */
export function sentencesOf<Code extends FailureCode>({
  code,
  data,
}: Pick<RuntimeError<Code>, 'code' | 'data'>): { readonly happened: string; readonly next: string } {
  // The table's row and its data belong together by construction; the compiler cannot follow the pair through an index.
  const row = failures[code] as unknown as Failure<FailureData<Code>>;
  return { happened: row.happened(data), next: row.next(data) };
}

function describe<Code extends FailureCode>(code: Code, data: FailureData<Code>): string {
  const { happened, next } = sentencesOf({ code, data });
  return joinSentences(happened, next);
}

/** A server's text may already end like a sentence. */
const ended = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);
const joinSentences = (first: string, second: string) => `${first}${first.endsWith('\n') ? '' : ' '}${second}`;
export const seconds = (ms: number) => (ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`);
const megabytes = (bytes: number) => `${Math.round((bytes / (1024 * 1024)) * 10) / 10} MiB`;
