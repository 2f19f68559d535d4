// Owns the proof that a model reads of every failure what it can do itself: no command, no method, no setting and no file.

import { expect } from 'vitest';
import { failureAsOutcome } from '../../../src/call/failure-as-outcome.ts';
import {
  type FailureCode,
  type FailureData,
  RuntimeError,
  toolChanged,
  toolReplaced,
} from '../../../src/model/errors.ts';
import { modelSentencesOf } from '../../../src/model/model-sentences.ts';
import { whyMissing } from '../../../src/servers/missing-tool.ts';
import { verifies } from '../../verifies.ts';

const files = { server: 'files', tool: 'read' };
const down = { server: 'files', reason: 'it went away' };
const name = 'mcp__files__read';
const file = '/home/ada/.mcp.json';
const another = 'use another tool (mcp_search finds one, if you have it)';
const notBefore = `Calling again does not help before that; ${another}.`;

/** Each with data that would carry a file, a command or a setting into the text. */
const examples: { readonly [Code in FailureCode]: readonly [data: FailureData<Code>, next: string] } = {
  CONFIG_INVALID: [
    { problem: 'a comma is missing', file, line: 3 },
    'Only the user can correct them: tell them. Calling again does not help before that.',
  ],
  CONFIG_UNREADABLE: [
    { file, problem: 'no permission' },
    'Only the user can change that: tell them. Calling again does not help before that.',
  ],
  CONFIG_UNWRITABLE: [
    { file, problem: 'no permission' },
    'Only the user can change that: tell them. Calling again does not help before that.',
  ],
  OUTPUT_UNWRITABLE: [{ file, problem: 'no permission' }, 'Name another place, or tell the user.'],
  ENV_MISSING: [
    { server: 'files', variable: 'KEY' },
    `Tell the user that server "files" needs that variable. ${notBefore}`,
  ],
  INPUT_MISSING: [
    { server: 'files', input: 'key' },
    `Tell the user that server "files" needs their answer. ${notBefore}`,
  ],
  SERVER_UNKNOWN: [{ server: 'file', nearest: ['files'] }, `Name a server that you were told of, or ${another}.`],
  SERVER_DENIED: [
    { server: 'files', because: 'nobody approved it; approve it with: plexus approve files' },
    `Do not try it again or in another way. Instead ${another}.`,
  ],
  STORE_UNWRITABLE: [
    { folder: '/home/ada/.local', reason: 'the disk is full' },
    'Only the user can change that: tell them. Calling again does not help before that.',
  ],
  STORE_UNREADABLE: [{ what: 'the tools of server "files"' }, 'You need not do anything: go on.'],
  SERVER_UNTRUSTED: [
    { server: 'files', file, command: 'node x', changes: ['command'], variables: ['KEY'] },
    `Tell the user that server "files" waits for their approval. ${notBefore} Do not start it in another way.`,
  ],
  LOGINS_UNUSABLE: [
    { file, problem: 'torn', reason: 'it is damaged' },
    'Only the user can repair that: tell them. Calling again does not help before that.',
  ],
  MODEL_REFUSED: [
    { model: 'gpt', reason: 'no' },
    'Only the user can repair that: tell them. Calling again does not help before that.',
  ],
  MODEL_UNSET: [
    { missing: 'model' },
    'Only the user can set it up: tell them. Calling again does not help before that.',
  ],
  MODEL_UNAVAILABLE: [{ model: 'gpt', reason: 'no' }, 'Tell the user, who can try again later.'],
  CONVERSATION_UNUSABLE: [{ conversation: 'c1', problem: 'newer' }, 'Start a new conversation.'],
  AUTH_REQUIRED: [{ server: 'files' }, `Tell the user that server "files" needs a login. ${notBefore}`],
  AUTH_FAILED: [
    { server: 'files', reason: 'it refused the token' },
    `Tell the user that server "files" refuses the login it was given. ${notBefore}`,
  ],
  LOGIN_FAILED: [
    { server: 'files', fault: { kind: 'refused', error: 'access_denied' } },
    `Tell the user that server "files" needs a login. ${notBefore}`,
  ],
  LOGIN_UNAVAILABLE: [
    { server: 'files', address: 'https://login.example', reason: 'it hung up' },
    `Call again in a minute; if that fails too, ${another}, and tell the user.`,
  ],
  SPAWN_FAILED: [
    { ...down, command: '/usr/bin/x --serve', culprit: 'command', path: '/usr/bin/x' },
    `Tell the user that server "files" cannot be started. ${notBefore}`,
  ],
  STARTUP_TIMEOUT: [
    { ...down, afterMs: 1_000, retryInMs: 4_000 },
    `Call again in 4 s; if that fails too, ${another}, and tell the user.`,
  ],
  CONNECTION_LOST: [down, `Call again in a moment; if that fails too, ${another}, and tell the user.`],
  PROTOCOL_BROKEN: [down, `Tell the user that server "files" does not work. ${notBefore}`],
  REQUIRED_NOT_READY: [
    { missing: [{ server: 'files', state: 'needs-auth', message: 'Run: plexus login files' }] },
    'Try again in a moment; if that fails too, tell the user.',
  ],
  SERVERS_NOT_READY: [
    { missing: [{ server: 'files', state: 'needs-auth', message: 'Run: plexus login files' }] },
    'Try again in a moment; if that fails too, tell the user.',
  ],
  RUNTIME_CLOSED: [files, 'No tool can be called any more: tell the user.'],
  CALL_ID_TAKEN: [{ callId: 'call-1' }, 'Wait for the result of that call, then call again if it is still wanted.'],
  TOOL_UNKNOWN: [
    { name, nearest: [], because: 'run: plexus approve files', becauseForModel: 'its server is idle' },
    'Call one of the tools that you were given, by its name.',
  ],
  RESOURCE_UNKNOWN: [
    { uri: 'note:b', nearest: ['note:a'] },
    'See what there is with ListMcpResources, and give a uri as it stands there.',
  ],
  RESOURCE_AMBIGUOUS: [{ uri: 'note:b', servers: ['a', 'b'] }, 'Call again with "server": one of a, b.'],
  PROMPT_UNKNOWN: [
    { name: 'b', nearest: ['a'] },
    'See what there is with ListMcpPrompts, and give a name as it stands there.',
  ],
  NOT_OFFERED: [{ server: 'files', what: 'prompts' }, `Calling again does not help: ${another}.`],
  CURSOR_INVALID: [
    { cursor: 'x' },
    'Ask without a cursor for the first page, then pass on the cursor of each answer unchanged.',
  ],
  LIST_TOO_LONG: [down, 'Go on with what was listed until then.'],
  CALL_DENIED: [
    { ...files, because: 'a rule says so' },
    'Do not try it again or in another way. If the task needs it, tell the user.',
  ],
  APPROVAL_REFUSED: [
    { ...files, name, because: 'no rule matches', advice: 'review-lock' },
    'Do not try it again or in another way. Tell the user what you wanted to do, and why; they decide.',
  ],
  TOOL_DRIFTED: [
    { ...files, changes: ['its description'] },
    `Tell the user that server "files" has changed that tool, which waits for their review. ${notBefore}`,
  ],
  LOCK_INVALID: [
    { file: './plexus.lock', problem: 'it is no JSON' },
    'Only the user can repair it: tell them. Calling again does not help before that.',
  ],
  ARGUMENTS_BAD: [{ ...files, problems: ['"path" is missing'] }, 'Correct the arguments and call again.'],
  REQUEST_REFUSED: [
    { server: 'files', reason: 'no' },
    'Correct the call if it can be corrected; the same one is refused again.',
  ],
  RATE_LIMITED: [{ server: 'files', reason: 'too many', waitMs: 7_000 }, 'Call again in 7 s.'],
  REQUEST_TIMEOUT: [{ server: 'files', what: 'a list', afterMs: 1 }, 'Ask again later, or for less.'],
  ANSWER_BROKEN: [
    { server: 'files', what: 'a list', problem: 'it is no list' },
    `Asking again gives the same: ${another}, or tell the user.`,
  ],
  CIRCUIT_OPEN: [{ server: 'files', retryInMs: 90_000 }, `Call again in 90 s; until then ${another}.`],
  MESSAGE_TOO_LARGE: [
    { server: 'files', limitBytes: 1_048_576 },
    'Check its effect before calling again. Ask for less: fewer items, or one page at a time.',
  ],
  RESULT_BROKEN: [{ ...files, problem: 'it is no object' }, 'Check its effect before calling again.'],
  CALL_TIMEOUT: [
    { ...files, afterMs: 1_000, silence: true },
    'Check its effect before calling again. If it was not performed, ask for less at once.',
  ],
  OUTCOME_UNKNOWN: [{ ...files, reason: 'it exited' }, 'Check its effect before calling again.'],
  QUESTIONS_EXCEEDED: [{ server: 'files', most: 10 }, 'Check its effect before calling again.'],
  CALL_CANCELLED: [files, 'If it is still wanted, check its effect and call again.'],
  GATEWAY_RUNNING: [
    { pid: 7, port: 9_000, folder: '/s' },
    'Only the user can end the gateway that runs: tell them. Calling again does not help before that.',
  ],
  GATEWAY_NEWER: [{ pid: 7 }, 'Only the user can update Plexus: tell them. Calling again does not help before that.'],
  GATEWAY_UNREACHABLE: [{ reason: 'it ended' }, 'Call again in a moment; if that fails too, tell the user.'],
  SESSION_UNKNOWN: [{ session: 's' }, 'Initialize a new session.'],
  CONVERSATION_UNKNOWN: [{ conversation: 'c' }, 'Start a new conversation.'],
  INTERNAL: [{ problem: 'x is not a function' }, 'Try another way, and tell the user of this failure.'],
};

const notForModels: Readonly<Record<string, RegExp>> = {
  'a command': /\bplexus [a-z-]|\b[Rr]un:/,
  'a flag': /\s--[a-z]/,
  'a method or a turn': /\bruntime\.|\w\(\)|\bturn\b/,
  'a setting': /config|\bMCP_[A-Z]|\b(?!mcp_search\b)[a-z]+_[a-z_]+\b(?<!mcp__files__read)/,
  'a file': /(?:^|[\s"(])~?\.{0,2}\/[\w.]|plexus\.lock/,
};

function expectForModel(failure: RuntimeError): void {
  const { text } = failureAsOutcome(failure, { wrap: false });
  for (const [what, pattern] of Object.entries(notForModels))
    expect(text, `${failure.code} names ${what}`).not.toMatch(pattern);
}

for (const [code, [data, next]] of Object.entries(examples) as [FailureCode, (typeof examples)[FailureCode]][])
  verifies(
    ['ERR-07', 'CAL-10'],
    `${code} tells a model what it can do, and nothing that only a person or a program can`,
    () => {
      const failure = new RuntimeError(code, data);
      expect(modelSentencesOf(failure).next).toBe(next);
      expectForModel(failure);
    },
  );

verifies('CAL-10', 'a model that can search is told to, and no model is told of turns', () => {
  const unknown = new RuntimeError('TOOL_UNKNOWN', { name, nearest: [], searchWith: 'mcp_search' });
  expect(failureAsOutcome(unknown).text).toContain('\nnext step: Look for what there is with mcp_search.\n');
  for (const failure of [toolReplaced({ id: files, name }), toolChanged({ id: files, name })]) expectForModel(failure);
});

verifies('CAL-11', 'why a tool is missing is told a model without what a person can do about it', () => {
  const causes = [
    new RuntimeError('SERVER_UNTRUSTED', { server: 'files', file, command: 'node x' }),
    new RuntimeError('AUTH_REQUIRED', { server: 'files' }),
    new RuntimeError('SPAWN_FAILED', { ...down, command: '/usr/bin/x', culprit: 'command' }),
    undefined,
  ];
  for (const error of causes) {
    const reason = whyMissing(name, [{ server: 'files', state: error ? 'failed' : 'connecting', error, hidden: [] }]);
    const failure = new RuntimeError('TOOL_UNKNOWN', { name, nearest: [], ...reason });
    expectForModel(failure);
    expect(failureAsOutcome(failure).text).toContain('server "files" is ');
  }
});

verifies('CAL-10', 'where a person must act, the model is told to ask the user', () => {
  const remedies = (['AUTH_REQUIRED', 'SPAWN_FAILED', 'ARGUMENTS_BAD', 'CIRCUIT_OPEN', 'INTERNAL'] as const).map(
    (code) => /remedy: (.*)$/.exec(failureAsOutcome(new RuntimeError(code, examples[code][0] as never)).text)?.[1],
  );
  expect(remedies).toEqual(['ask-user', 'ask-user', 'fix-call', 'retry-later', 'report-bug']);
});
