// Owns the ceilings nobody configures. A setting that a user may write is in `config/schema.ts`, with its default.

export const limits = {
  /** A list of tools: a server that pages for ever, or names too much, is cut off here. */
  listPages: 100,
  listItems: 2_048,
  cursorBytes: 64 * 1024,
  listTimeoutMs: 60_000,

  /** What every provider accepts as the name of a tool. */
  toolNameLength: 64,
  nameHashLength: 10,
  /** The longest name a server may give to a tool. */
  nameChars: 1_024,
  /** A definition beyond this is left out: nobody writes one, and reading it would cost everyone. */
  definition: { depth: 100, parts: 100_000 },

  /** A server that does not answer `server/discover` for so long is of the older era; a late answer is still honored. */
  probeMs: 1_000,
  /** Rounds of a modern call that asks for input, and the pause before one that only carries state. */
  inputRounds: 10,
  inputPacingMs: 250,

  /** How a lost connection is tried again, and when calls to a failing server are given a rest. */
  reconnect: { delaysMs: [500, 1_000, 2_000, 4_000], jitter: 0.2 },
  breaker: { failures: 3, openMs: 300_000 },
  /** A session that lived this long was stable: losing it starts the attempts anew. */
  stableMs: 30_000,
  /** How long a person may think about an approval; after it the answer is no. */
  approvalMs: 300_000,

  /** Ending a process group: after the end of its input, after SIGTERM; and how often to look whether it is gone. */
  endOfInputGraceMs: 2_000,
  terminateGraceMs: 1_000,
  goneCheckMs: 20,
  /** After a server's exit: how long its output is read on when a descendant holds it open. */
  drainMs: 500,
  /** After the host's sudden death: how long its servers have until SIGTERM, and then until SIGKILL. */
  orphanGraceMs: 700,
  /** A watchdog that keeps dying is not started for ever. */
  watchdogStarts: 5,
  /** What may wait for a server that does not read its input. */
  unreadInputBytes: 64 * 1024 * 1024,
  /** A line that is no message is told up to here; a failure quotes less of it. */
  /** Text that is not MCP, on a server's output, in all; a banner is a thousandth of it. */
  noiseBytes: 4 * 1024 * 1024,
  noiseLineCost: 256,
  noiseLineChars: 2_000,
  noiseQuoteChars: 200,
  /** The longest id that is still read from a message over the limit. */
  messageIdBytes: 1024,
  closeMs: 10_000,

  /** What is kept of a server's stderr, and how much of it a failure quotes. */
  stderrBytes: 64 * 1024,
  stderrQuoteChars: 2_000,

  /** Checking arguments: how much work a schema may ask for before it is left to the server, and how much is told. */
  schemaCheck: { steps: 200_000, problems: 5 },

  /** What an event may carry of a call's result. */
  eventResultBytes: 1024 * 1024,
  suggestions: 3,
  /** What a model is told of a failure. */
  failureTextChars: 4_000,
  configBytes: 10 * 1024 * 1024,
  /** How much the placeholders of one value may stand for, and what a command that gives a value may take and print. */
  expandedChars: 256 * 1024,
  helper: { ms: 10_000, bytes: 64 * 1024 },
  /** A changed file is read when it has been left alone for this long. */
  settleMs: 500,
} as const;
