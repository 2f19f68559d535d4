// Owns the proof that an unapproved entry gets no longer limits than one that says nothing, and may still ask for shorter ones.

import { expect, test } from 'vitest';
import { defineServer } from '../../../src/config/define.ts';
import { withoutClaims } from '../../../src/config/unapproved-limits.ts';
import type { ServerDefinition } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';

function define(value: Readonly<Record<string, unknown>>, defaults = {}): ServerDefinition {
  const provenance = { scope: 'project', inWorkspace: true, file: '.mcp.json', key: ['a'] } as const;
  const { definition } = defineServer({ name: 'a', value, provenance }, { defaults, mayLoosen: false });
  return definition ?? expect.fail('it is not valid');
}

const limitsOf = ({ settings }: ServerDefinition) => [
  settings.required,
  settings.startupTimeoutMs,
  settings.toolTimeoutMs,
  settings.toolIdleTimeoutMs,
  settings.maxMessageBytes,
];

const web = { url: 'https://a.example' };
const endless = { startupTimeoutMs: 0, toolTimeoutMs: 0, toolIdleTimeoutMs: 0, maxMessageBytes: 2 ** 40 };
const endlessTool = { toolTimeoutMs: 0, toolIdleTimeoutMs: 0 };

verifies('EXT-10', 'what an unapproved entry claims counts as the default, for its tools too', () => {
  const claims = define({ ...web, required: true, ...endless, tools: { read: endlessTool } });
  const limited = withoutClaims(claims, {});
  expect(limitsOf(limited)).toEqual(limitsOf(define(web)));
  const { toolTimeoutMs, toolIdleTimeoutMs } = define(web).settings;
  expect(limited.settings.tools).toEqual({ read: { toolTimeoutMs, toolIdleTimeoutMs } });
  expect([Object.isFrozen(limited), Object.isFrozen(limited.settings)]).toEqual([true, true]);
});

test('shorter limits count, and so do the defaults that the person’s variables set', () => {
  const modest = define({ ...web, startupTimeoutMs: 5, toolTimeoutMs: 6, toolIdleTimeoutMs: 7, maxMessageBytes: 8 });
  expect(withoutClaims(modest, {})).toBe(modest);
  const mine = { startupTimeoutMs: 600_000 };
  expect(withoutClaims(define(web, mine), mine).settings.startupTimeoutMs).toBe(600_000);
  expect(withoutClaims(define({ ...web, startupTimeoutMs: 0 }, mine), mine).settings.startupTimeoutMs).toBe(600_000);
  const silent = define({ command: 'x' });
  expect(withoutClaims(silent, {})).toBe(silent);
});
