// Owns the proof that every failure says what happened and what comes next, and carries nothing else over a border.

import { describe, expect, test } from 'vitest';
import {
  type ApprovalAdvice,
  asRuntimeError,
  type FailureCode,
  type FailureData,
  failures,
  RuntimeError,
} from '../../../src/model/errors.ts';

const files = { server: 'files', tool: 'read' };
const down = { server: 'files', reason: 'it went away' };

/** One example of each row, so that a sentence that breaks on its own data is seen. */
const examples: { readonly [Code in FailureCode]: readonly [data: FailureData<Code>, message: string] } = {
  CONFIG_INVALID: [
    { problem: 'a comma is missing', file: '/a/mcp.json', line: 3 },
    'The configuration is not valid (/a/mcp.json:3): a comma is missing. Correct it in /a/mcp.json, then run: plexus config check /a/mcp.json',
  ],
  CONFIG_UNREADABLE: [
    { file: '/a/mcp.json', problem: 'no permission' },
    'The configuration file /a/mcp.json cannot be read: no permission. Check that /a/mcp.json exists and that you may read it.',
  ],
  CONFIG_UNWRITABLE: [
    { file: '/a/mcp.json', problem: 'you may not write it' },
    'The configuration file /a/mcp.json cannot be written: you may not write it. Make /a/mcp.json a file that you may write, then do it again; nothing was changed.',
  ],
  INPUT_MISSING: [
    { server: 'files', input: 'key' },
    'Server "files" needs your answer to the input "key", which was not given. Run this in a terminal and answer; it is remembered: plexus tools files',
  ],
  OUTPUT_UNWRITABLE: [
    { file: '/a/x', problem: 'its folder does not exist' },
    '/a/x cannot be written: its folder does not exist. Name another file, or make this one writable, then do it again.',
  ],
  ENV_MISSING: [
    { server: 'files', variable: 'KEY' },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
    'Server "files" needs the environment variable KEY, which is not set. Set KEY, or give it a default in the configuration: ${KEY:-value}.',
  ],
  SERVER_UNKNOWN: [
    { server: 'file', nearest: ['files', 'tiles'] },
    'There is no server "file". Did you mean files or tiles? See the configured ones with: plexus list',
  ],
  SERVER_DENIED: [
    { server: 'files', because: 'the denylist names it' },
    'Server "files" is not in use: the denylist names it. Change that setting, or ask whoever set it.',
  ],
  STORE_UNWRITABLE: [
    { folder: '/a/state', reason: 'the disk is full' },
    'Plexus cannot store anything in /a/state: the disk is full. Make /a/state a folder that you may write and that has room, then do it again.',
  ],
  STORE_UNREADABLE: [
    { what: 'the tools of server "files"' },
    'The stored data about the tools of server "files" could not be read and was dropped. You need not do anything: Plexus collects it again.',
  ],
  SERVER_UNTRUSTED: [
    { server: 'my files', file: '/a/.mcp.json', command: 'node x' },
    `Server "my files" was not started: /a/.mcp.json defines it and nobody has approved it. It would run: node x. If you trust it, run: plexus approve 'my files'`,
  ],
  LOGINS_UNUSABLE: [
    { file: '/a/logins.json', problem: 'newer', reason: 'it has version 2' },
    'The logins in /a/logins.json were written by a newer Plexus: it has version 2. Nothing of it was changed. Update Plexus.',
  ],
  MODEL_REFUSED: [
    { model: 'gpt', reason: 'it answered with HTTP 401: no such key', status: 401 },
    'The model "gpt" did not take the request: it answered with HTTP 401: no such key. Check the key that it is given.',
  ],
  MODEL_UNSET: [
    { missing: 'key', address: 'https://api.openai.com/v1', variable: 'OPENAI_API_KEY' },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
    'There is no key for the model at https://api.openai.com/v1. Set the environment variable OPENAI_API_KEY, or "key" under [plexus.agent] in your own file, such as key = "${NAME}".',
  ],
  MODEL_UNAVAILABLE: [
    { model: 'gpt', reason: 'it answered with HTTP 429: too many requests', waitMs: 90_000 },
    'The model "gpt" gave no answer: it answered with HTTP 429: too many requests. Try again in 90 s.',
  ],
  CONVERSATION_UNUSABLE: [
    { conversation: 'c1', problem: 'newer' },
    'Conversation "c1" was written by a newer Plexus. Update Plexus.',
  ],
  AUTH_REQUIRED: [
    { server: 'my files' },
    `Server "my files" needs a login (HTTP 401). Log in with: plexus login 'my files'`,
  ],
  AUTH_FAILED: [
    { server: 'files', reason: 'the code was wrong' },
    'The login to server "files" failed: the code was wrong. Check the token or the headers in the configuration of "files".',
  ],
  LOGIN_FAILED: [
    { server: 'my files', fault: { kind: 'state-missing' } },
    `The login to server "my files" failed: the answer of the login page has no state, so it may belong to another login. Log in again: plexus login 'my files'`,
  ],
  LOGIN_UNAVAILABLE: [
    { server: 'files', address: 'https://login.example', reason: 'it answered HTTP 503' },
    'The authorization server of "files" (https://login.example) cannot be used now: it answered HTTP 503. Try again later; the login that is stored stays as it is.',
  ],
  SPAWN_FAILED: [
    { ...down, command: 'npx', culprit: 'command' },
    'Server "files" could not be started (npx): it went away. Install npx or correct "command" in the configuration of "files".',
  ],
  STARTUP_TIMEOUT: [
    { ...down, afterMs: 60_000 },
    'Server "files" did not become ready within 60 s: it went away. Give it longer (startup_timeout_sec of "files"), or start its command by hand to see what it waits for.',
  ],
  CONNECTION_LOST: [
    { ...down, stderr: 'first\nsecond\n' },
    'There is no connection to server "files": it went away. It wrote on stderr:\n  | first\n  | second\nTo see why it fails, start the command of "files" by hand.',
  ],
  PROTOCOL_BROKEN: [
    down,
    'Server "files" does not speak MCP as agreed: it went away. Check that the command of "files" starts an MCP server, and update it if it does.',
  ],
  TOOL_UNKNOWN: [
    { name: 'mcp__files__raed', nearest: ['mcp__files__read'], because: 'server "files" is disabled' },
    'There is no tool "mcp__files__raed": server "files" is disabled. Did you mean mcp__files__read? See all tools with: plexus tools',
  ],
  RESOURCE_UNKNOWN: [
    { uri: 'note://b', server: 'files', nearest: ['note://a'], because: 'it was deleted' },
    'There is no resource "note://b" on server "files": it was deleted. Did you mean note://a? See all resources with: plexus resources',
  ],
  RESOURCE_AMBIGUOUS: [
    { uri: 'note://a', servers: ['files', 'notes'] },
    'The resource "note://a" may be of several servers: files, notes. Name the server with it: plexus read note://a --server files',
  ],
  PROMPT_UNKNOWN: [
    { name: 'reveiw', server: 'files', nearest: ['review'] },
    'There is no prompt "reveiw" on server "files". Did you mean review? See all prompts with: plexus prompts',
  ],
  NOT_OFFERED: [
    { server: 'files', what: 'it has no resources' },
    'Server "files" does not offer that: it has no resources. See what it offers with: plexus get files',
  ],
  CURSOR_INVALID: [
    { cursor: 'x' },
    'The cursor is not one that Plexus returned. Ask without a cursor for the first page, then pass on the cursor of each answer unchanged.',
  ],
  LIST_TOO_LONG: [
    down,
    'The list of server "files" was cut off: it went away. Report it to the author of "files"; what was listed until then can be used.',
  ],
  CALL_DENIED: [
    { ...files, because: 'a rule says so' },
    'The call of "read" on server "files" was denied: a rule says so. Change what denies it if the call should be allowed.',
  ],
  APPROVAL_REFUSED: [
    { ...files, name: 'mcp__files__read', because: 'no rule matches' },
    'The call of "read" on server "files" needs an approval that was not given: no rule matches. Approve it when asked, or allow it with a rule: tool = "mcp__files__read", action = "allow".',
  ],
  TOOL_DRIFTED: [
    { ...files, changes: ['title was removed: "Read"', 'parameter path was removed'] },
    'The tool "read" of server "files" differs from plexus.lock, and only tools that match it may be called: title was removed: "Read"; parameter path was removed. Review it, then run: plexus lock files',
  ],
  LOCK_INVALID: [
    { file: '/a/plexus.lock', line: 3, problem: 'its version is not 1' },
    'The lock /a/plexus.lock:3 cannot be used: its version is not 1. Restore it from your version control, or delete it and run: plexus lock',
  ],
  ARGUMENTS_BAD: [
    { ...files, problems: ['"a" is missing', '"b" is not known'] },
    'The arguments for "read" on server "files" do not fit: "a" is missing; "b" is not known. Correct the arguments and call again.',
  ],
  REQUEST_REFUSED: [
    { server: 'files', reason: 'it answered HTTP 400' },
    'Server "files" refused the request: it answered HTTP 400. Correct the call if it can be corrected; the same one is refused again.',
  ],
  RATE_LIMITED: [
    { server: 'files', reason: 'it answered HTTP 429 (Too Many Requests) and asks to wait 90 s', waitMs: 90_000 },
    'Server "files" has had too many requests and did not handle this one: it answered HTTP 429 (Too Many Requests) and asks to wait 90 s. Ask again in 90 s.',
  ],
  REQUEST_TIMEOUT: [
    { server: 'files', what: 'resources/read', afterMs: 60_000 },
    'Server "files" did not answer resources/read within 60 s; nothing was changed by it. Ask again, or give it longer: tool_timeout_sec of "files".',
  ],
  ANSWER_BROKEN: [
    { server: 'files', what: 'resources/read', problem: 'its contents are not a list' },
    'Server "files" answered resources/read, but its contents are not a list; nothing was changed by it. Report it to the author of "files".',
  ],
  CIRCUIT_OPEN: [
    { server: 'files', retryInMs: 299_950 },
    'Server "files" failed repeatedly; calls to it are refused for another 300 s. Wait, or reconnect it: runtime.reconnect("files")',
  ],
  MESSAGE_TOO_LARGE: [
    { server: 'files', limitBytes: 67_108_864 },
    'Server "files" answered with one message of more than 64 MiB, which was dropped; the request itself was carried out. Ask the tool for less, or raise max_message_bytes of "files".',
  ],
  RESULT_BROKEN: [
    { ...files, problem: 'its result is not an object' },
    'The tool "read" on server "files" answered, but its result is not an object; it has most likely been performed. Check its effect before calling again, and report it to the author of "files".',
  ],
  REQUIRED_NOT_READY: [
    { missing: [{ server: 'files', state: 'failed', message: 'It is gone.' }] },
    'Server "files" is required and not ready (failed). It is gone. Fix it, or set required = false in its configuration to start without it.',
  ],
  SERVERS_NOT_READY: [
    { missing: [{ server: 'files', state: 'failed', message: 'It is gone.' }] },
    'Server "files" is not ready (failed). It is gone. Wait longer with ready({ timeoutMs }), or name the servers you need with ready({ servers }).',
  ],
  RUNTIME_CLOSED: [
    files,
    'The runtime is closed: "read" on server "files" was not called; nothing was sent. Call before close(), or make a new runtime with createRuntime().',
  ],
  CALL_ID_TAKEN: [
    { callId: 'c1' },
    'A call with the id "c1" is still running; nothing was sent. Give each call an id of its own, or leave callId out.',
  ],
  CALL_TIMEOUT: [
    { ...files, afterMs: 500, silence: false },
    'The call of "read" on server "files" took longer than 500 ms and was cancelled; whether it took effect is unknown. Check its effect before calling again; the limit is tool_timeout_sec of the tool or of "files", or else MCP_TOOL_TIMEOUT.',
  ],
  QUESTIONS_EXCEEDED: [
    { server: 'files', most: 10 },
    'Server "files" asked more than 10 questions during one call, which was cancelled; whether it took effect is unknown. Check its effect before calling again, and report it to the author of "files".',
  ],
  OUTCOME_UNKNOWN: [
    { ...files, reason: 'it exited' },
    'The connection to server "files" ended during the call of "read" (it exited); whether it took effect is unknown. Check its effect before calling again.',
  ],
  CALL_CANCELLED: [
    files,
    'The call of "read" on server "files" was cancelled; if it had been sent, whether it took effect is unknown. If it is still wanted, check its effect and call again.',
  ],
  GATEWAY_RUNNING: [
    { pid: 7, port: 9_000, folder: '/s' },
    'A gateway runs already on /s: process 7, port 9000. Use that one: clients join it with plexus connect, or at http://127.0.0.1:9000/mcp with the token in /s/gateway.token. Or end it first: kill 7. A second one needs a state folder of its own (XDG_STATE_HOME).',
  ],
  GATEWAY_NEWER: [
    { pid: 7 },
    'The running gateway, process 7, is of a newer version of Plexus than this one. Update this Plexus, or end that gateway; it was left as it is.',
  ],
  GATEWAY_UNREACHABLE: [
    { reason: 'it ended.' },
    'The gateway cannot be reached: it ended. Run this in a terminal to see why: plexus serve',
  ],
  SESSION_UNKNOWN: [{ session: 's1' }, 'There is no session "s1". Initialize a new session.'],
  CONVERSATION_UNKNOWN: [{ conversation: 'c1' }, 'There is no conversation "c1". Start a new conversation.'],
  INTERNAL: [
    { problem: 'a gap' },
    'Something went wrong inside Plexus: a gap. Please report it, with the command and the output of: plexus --version',
  ],
};

test.each(Object.entries(examples))('%s says what happened and what comes next', (code, [data, message]) => {
  const error = new RuntimeError(code as FailureCode, data as never);
  expect({ ...error.toJSON(), name: error.name }).toEqual({
    name: 'RuntimeError',
    code,
    message,
    remedy: failures[code as FailureCode].remedy,
  });
});

test('a border is crossed by code, message and remedy alone', () => {
  const error = new RuntimeError('AUTH_REQUIRED', { server: 'files' }, { cause: new Error('token abc') });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    code: 'AUTH_REQUIRED',
    message: 'Server "files" needs a login (HTTP 401). Log in with: plexus login files',
    remedy: 'log-in',
  });
});

test('the limit for silence names the setting that holds it', () => {
  const { message } = new RuntimeError('CALL_TIMEOUT', { ...files, afterMs: 500, silence: true });
  expect(message).toBe(
    'The call of "read" on server "files" was silent for 500 ms and was cancelled; whether it took effect is unknown. Check its effect before calling again; the limit is tool_idle_timeout_sec of the tool or of "files".',
  );
});

test('a refused approval advises what helps, and quotes nothing that a server wrote', () => {
  const data = { server: 'files', tool: 'a b', name: 'mcp__files__a_b', because: 'so', changes: ['description: evil'] };
  const adviceOf = (advice: ApprovalAdvice) =>
    new RuntimeError('APPROVAL_REFUSED', { ...data, advice }).message.replace(
      /^.*not given: so\. Approve it when asked/,
      '',
    );
  expect(adviceOf('add-rule')).toBe(', or allow it with a rule: tool = "mcp__files__a_b", action = "allow".');
  expect(adviceOf('change-rule')).toBe(', or change that rule.');
  expect(adviceOf('change-cause')).toBe(', or change what asks for it.');
  expect(adviceOf('approve-again')).toBe(", or review it and run: plexus approve files 'a b'.");
  expect(adviceOf('review-lock')).toContain('plexus lock --check, then run: plexus lock files,');
  expect(adviceOf('answer')).toBe('; no rule answers for that.');
});

test('what is not ours is our bug, with its cause kept', () => {
  const strange = new TypeError('x is not a function');
  const error = asRuntimeError(strange);
  expect([error.code, error.data, error.cause]).toEqual(['INTERNAL', { problem: 'x is not a function' }, strange]);
  expect(asRuntimeError(error)).toBe(error);
  expect(asRuntimeError('a text').data).toEqual({ problem: 'a text' });
});

test('every failure that gives the reason of a server counts as quoting it', () => {
  const codes = Object.entries(examples).filter(([, [data]]) => 'server' in data && 'reason' in data);
  expect(codes.length).toBeGreaterThan(5);
  const unquoted = codes.filter(([code]) => !failures[code as FailureCode].quotes).map(([code]) => code);
  expect(unquoted).toEqual([]);
});

describe('a remedy fits its cause', () => {
  const told = <Code extends FailureCode>(code: Code, data: FailureData<Code>) => new RuntimeError(code, data).message;

  test('on a full disk no path is to be mended, and none of ours is named', () => {
    const full = { isFull: true } as const;
    const problem = 'the disk is full';
    expect(told('STORE_UNWRITABLE', { folder: '/a/state', reason: problem, ...full })).toBe(
      'Plexus cannot store anything: the disk is full. Free some space on the disk, then do it again.',
    );
    expect(told('CONFIG_UNWRITABLE', { file: '/a/mcp.json', problem, ...full })).toBe(
      'The configuration file /a/mcp.json cannot be written: the disk is full. Free some space on the disk, then do it again; nothing was changed.',
    );
    expect(told('OUTPUT_UNWRITABLE', { file: '/a/x', problem, ...full })).toBe(
      '/a/x cannot be written: the disk is full. Free some space on the disk, then do it again.',
    );
    const state = {
      server: 'a',
      command: 'npx',
      reason: problem,
      culprit: 'state',
      path: '/a/state/away',
      ...full,
    } as const;
    expect(told('SPAWN_FAILED', state)).toBe(
      'Server "a" could not be started (npx): the disk is full. Free some space on the disk, then start it again.',
    );
  });

  test('a variable that a setting names has no placeholder to write a default into', () => {
    expect(told('ENV_MISSING', { server: 'a', variable: 'KEY', setting: 'bearer_token_env_var' })).toBe(
      'Server "a" takes its token from the environment variable KEY (bearer_token_env_var), which is not set. Set KEY to the token before you start, or name another variable in bearer_token_env_var; without a token, remove that setting.',
    );
  });

  test('too many requests at the start, and a list that is refused, are nothing that a caller could correct', () => {
    expect(told('RATE_LIMITED', { server: 'a', reason: 'it answered HTTP 429', isAtStart: true })).toMatch(
      /refused the connection, because it has had too many requests: it answered HTTP 429\. Connect again in a minute;/,
    );
    expect(told('REQUEST_REFUSED', { server: 'a', reason: 'broken', list: 'resources' })).toBe(
      'Server "a" answered with an error when asked for its resources: broken. Ask again later, or report it to the author of "a"; its tools can be used all the same.',
    );
  });
});
