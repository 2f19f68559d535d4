// Owns the proof of what a failed `plexus call` prints beside its error.

import { expect, test } from 'vitest';
import { createCallFailures } from '../../../src/cli/call-failures.ts';
import type { Diagnostic } from '../../../src/model/diagnostic.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import type { ApprovalRequest } from '../../../src/trust/approval.ts';
import { createTestContext } from './context.ts';

const error = (server: string): Diagnostic => ({
  ...{ severity: 'error', code: 'CONFIG_INVALID', message: `${server} is broken`, remedy: 'Mend it.', server },
});
const request: ApprovalRequest = {
  ...{
    kind: 'tool',
    callId: 'call-1',
    tool: { server: 'a', tool: 't' },
    name: 'mcp__a__t',
    source: '',
    arguments: {},
    annotations: {},
  },
  ...{ because: 'no rule matches', byRule: false },
};
const options = { signal: new AbortController().signal };
const refused = new RuntimeError('APPROVAL_REFUSED', { server: 'a', tool: 't', name: 'mcp__a__t', because: 'x' });

test('a no of the person is told as such; without a terminal the error says how to allow it', async () => {
  const asked = createCallFailures(createTestContext({ askText: async () => 'n' }).context, 'a');
  await asked.watch(async () => 'no')(request, options);
  await expect(asked.explain(refused)).rejects.toThrow(/^Not called: you said no\.$/);
  const unasked = createCallFailures(createTestContext().context, 'a');
  await unasked.watch(async () => 'no')(request, options);
  await expect(unasked.explain(refused)).rejects.toBe(refused);
});

test.each<[string, RuntimeError, string | undefined, string[]]>([
  ['the own one, where something else failed', new RuntimeError('CALL_CANCELLED', {}), 'a', ['a']],
  ['none, where it is the error itself', new RuntimeError('CONFIG_INVALID', { problem: 'x' }), 'a', []],
  [
    'all, where the server is missing',
    new RuntimeError('SERVER_UNKNOWN', { server: 'c', nearest: [] }),
    'c',
    ['a', 'b'],
  ],
  [
    'all, where no server was named',
    new RuntimeError('TOOL_UNKNOWN', { name: 'x', nearest: [] }),
    undefined,
    ['a', 'b'],
  ],
  ['none, where a call without a server failed', new RuntimeError('CALL_CANCELLED', {}), undefined, []],
])('of the errors of the files it prints %s', async (_, failure, named, told) => {
  const { context, warnings } = createTestContext();
  const failures = createCallFailures(context, named);
  failures.read([error('a'), error('b')]);
  await expect(failures.explain(failure)).rejects.toBe(failure);
  expect(warnings.join('\n').match(/\w(?= is broken)/g) ?? []).toEqual(told);
});
