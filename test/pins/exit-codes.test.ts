// Owns the failure table as others rely on it: scripts on the exit, hosts on the remedy, the breaker and the reconnect on the rest.

import { expect, test } from 'vitest';
import { type FailureCode, failures, RuntimeError } from '../../src/model/errors.ts';

type Row = readonly [exit: number, remedy: string, outage: boolean, reconnect: boolean];

const table: Record<FailureCode, Row> = {
  CONFIG_INVALID: [1, 'fix-config', false, false],
  CONFIG_UNREADABLE: [1, 'fix-config', false, false],
  CONFIG_UNWRITABLE: [1, 'fix-config', false, false],
  OUTPUT_UNWRITABLE: [1, 'fix-call', false, false],
  ENV_MISSING: [1, 'fix-config', false, false],
  INPUT_MISSING: [3, 'ask-user', false, false],
  SERVER_UNKNOWN: [2, 'fix-config', false, false],
  SERVER_DENIED: [3, 'fix-config', false, false],
  STORE_UNWRITABLE: [1, 'fix-config', false, false],
  STORE_UNREADABLE: [1, 'none', false, false],
  SERVER_UNTRUSTED: [3, 'ask-user', false, false],
  LOGINS_UNUSABLE: [1, 'fix-config', false, false],
  MODEL_REFUSED: [1, 'fix-config', false, false],
  MODEL_UNSET: [1, 'fix-config', false, false],
  MODEL_UNAVAILABLE: [4, 'retry-later', false, false],
  CONVERSATION_UNUSABLE: [2, 'fix-call', false, false],
  AUTH_REQUIRED: [3, 'log-in', false, false],
  AUTH_FAILED: [3, 'log-in', false, false],
  LOGIN_FAILED: [3, 'log-in', false, false],
  LOGIN_UNAVAILABLE: [4, 'retry-later', true, true],
  SPAWN_FAILED: [4, 'fix-config', true, false],
  STARTUP_TIMEOUT: [4, 'retry-later', true, true],
  CONNECTION_LOST: [4, 'retry-later', true, true],
  PROTOCOL_BROKEN: [4, 'retry-later', true, true],
  REQUIRED_NOT_READY: [4, 'retry-later', false, false],
  SERVERS_NOT_READY: [4, 'retry-later', false, false],
  RUNTIME_CLOSED: [70, 'fix-call', false, false],
  TOOL_UNKNOWN: [2, 'fix-call', false, false],
  RESOURCE_UNKNOWN: [2, 'fix-call', false, false],
  RESOURCE_AMBIGUOUS: [2, 'fix-call', false, false],
  PROMPT_UNKNOWN: [2, 'fix-call', false, false],
  NOT_OFFERED: [2, 'fix-call', false, false],
  CURSOR_INVALID: [1, 'fix-call', false, false],
  LIST_TOO_LONG: [4, 'retry-later', true, true],
  CALL_DENIED: [3, 'ask-user', false, false],
  APPROVAL_REFUSED: [3, 'ask-user', false, false],
  TOOL_DRIFTED: [3, 'ask-user', false, false],
  LOCK_INVALID: [1, 'fix-config', false, false],
  ARGUMENTS_BAD: [1, 'fix-call', false, false],
  REQUEST_REFUSED: [4, 'fix-call', false, false],
  RATE_LIMITED: [4, 'retry-later', false, true],
  REQUEST_TIMEOUT: [4, 'retry-later', true, false],
  ANSWER_BROKEN: [4, 'none', false, false],
  CIRCUIT_OPEN: [4, 'retry-later', false, false],
  MESSAGE_TOO_LARGE: [4, 'check-first', false, false],
  RESULT_BROKEN: [4, 'check-first', false, false],
  CALL_ID_TAKEN: [1, 'fix-call', false, false],
  CALL_TIMEOUT: [4, 'check-first', true, false],
  OUTCOME_UNKNOWN: [4, 'check-first', true, false],
  QUESTIONS_EXCEEDED: [4, 'check-first', false, false],
  CALL_CANCELLED: [130, 'none', false, false],
  GATEWAY_RUNNING: [1, 'none', false, false],
  GATEWAY_NEWER: [1, 'fix-config', false, false],
  GATEWAY_UNREACHABLE: [4, 'retry-later', false, false],
  SESSION_UNKNOWN: [2, 'fix-call', false, false],
  CONVERSATION_UNKNOWN: [2, 'fix-call', false, false],
  INTERNAL: [70, 'report-bug', false, false],
};

/** Enough for every sentence of the table. */
const data = {
  server: 's',
  tool: 't',
  name: 'n',
  nearest: [],
  problems: [],
  reason: 'r',
  afterMs: 1,
  limitBytes: 1,
  missing: [],
  fault: { kind: 'cancelled' },
  servers: [],
  uri: 'u',
  changes: [],
};

test('every code has exactly this exit, remedy, outage and reconnect', () => {
  const codes = Object.keys(failures) as FailureCode[];
  const rows = codes.map((code) => {
    const error = new RuntimeError(code, data as never);
    return [code, [error.exitCode, error.remedy, error.outage, error.reconnect]];
  });
  expect(Object.fromEntries(rows)).toEqual(table);
});
