// Owns the ceilings nobody configures, as figures: one changes on purpose or not at all.

import { expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';

test('the ceilings are exactly these', () => {
  expect(limits).toEqual({
    listPages: 100,
    listItems: 2_048,
    cursorBytes: 65_536,
    listTimeoutMs: 60_000,
    toolNameLength: 64,
    nameHashLength: 10,
    nameChars: 1_024,
    definition: { depth: 100, parts: 100_000 },
    probeMs: 1_000,
    inputRounds: 10,
    inputPacingMs: 250,
    reconnect: { delaysMs: [500, 1_000, 2_000, 4_000], jitter: 0.2 },
    breaker: { failures: 3, openMs: 300_000 },
    stableMs: 30_000,
    approvalMs: 300_000,
    endOfInputGraceMs: 2_000,
    terminateGraceMs: 1_000,
    goneCheckMs: 20,
    drainMs: 500,
    orphanGraceMs: 700,
    watchdogStarts: 5,
    unreadInputBytes: 67_108_864,
    noiseBytes: 4_194_304,
    noiseLineCost: 256,
    noiseLineChars: 2_000,
    noiseQuoteChars: 200,
    messageIdBytes: 1_024,
    closeMs: 10_000,
    stderrBytes: 65_536,
    stderrQuoteChars: 2_000,
    schemaCheck: { steps: 200_000, problems: 5 },
    eventResultBytes: 1_048_576,
    suggestions: 3,
    failureTextChars: 4_000,
    configBytes: 10_485_760,
    expandedChars: 262_144,
    helper: { ms: 10_000, bytes: 65_536 },
    settleMs: 500,
  });
});
