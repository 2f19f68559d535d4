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

  /** A server that does not answer `server/discover` for so long is of the older era; a late answer is still honored. */
  probeMs: 1_000,
  /** Rounds of a modern call that asks for input, and the pause before one that only carries state. */
  inputRounds: 10,
  inputPacingMs: 250,

  /** Ending a process group: after the end of its input, after SIGTERM; and how often to look whether it is gone. */
  endOfInputGraceMs: 2_000,
  terminateGraceMs: 1_000,
  goneCheckMs: 20,
  closeMs: 10_000,

  /** What is kept of a server's stderr, and how much of it a failure quotes. */
  stderrBytes: 64 * 1024,
  stderrQuoteChars: 2_000,

  /** A schema larger than this, or a pattern that could stall, is not checked here; the server checks it itself. */
  schemaBytes: 256 * 1024,
  patternInputChars: 2_000,

  /** What an event may carry of a call's result. */
  eventResultBytes: 1024 * 1024,
  suggestions: 3,
  configBytes: 10 * 1024 * 1024,
} as const;
