// Owns the ceilings nobody configures. A setting that a user may write is in `config/schema.ts`, with its default.

export const limits = {
  /** A list of tools: a server that pages for ever, or names too much, is cut off here. */
  listPages: 100,
  listItems: 2_048,
  cursorBytes: 64 * 1024,
  listTimeoutMs: 60_000,
  /** A list that failed is fetched again after these. */
  listAgainMs: [250, 500, 1_000],
  /** A list that is said to have changed is fetched after this: changes come in groups. */
  listChangedMs: 250,
  /**
   * Said again within `calmMs` of the last list, it is fetched after twice as long, up to so many times: after a minute, or
   * after four seconds where each list brings something new.
   */
  listChanges: { calmMs: 10_000, doublings: 8, doublingsWithNews: 4 },
  /** What could not be listed at all is asked for again after this, whatever its server says of changes. */
  listFailedMs: 30_000,
  /** However short a server says that its list holds. */
  shortestTtlMs: 1_000,
  /** What is told of a list's broken definitions. */
  listProblems: 20,
  /** What looks like an order in a list: so many are told, so many texts of one schema are read for it. */
  suspicions: { told: 5, schemaParts: 2_000 },
  /** How long it is remembered what a server offers; what is the same is written again after a day, so that it stays known. */
  knownTools: { keptMs: 30 * 24 * 3_600_000, writeAgainMs: 24 * 3_600_000, problemChars: 500 },

  /** Resources and prompts: the longest uri, how much one definition may weigh, how many arguments a prompt takes. */
  resourceDefinition: { uriChars: 8 * 1024, definitionChars: 64 * 1024, arguments: 100 },
  /** How long a caller waits for a list that is being fetched, and how long a list without `ttlMs` counts as fresh. */
  listWaitMs: 5_000,
  resourcesFreshMs: 300_000,
  /** A template longer than this, or for a uri longer than this, is not compared. */
  templateChars: 2 * 1024,
  /**
   * What a model is shown at once of a list of resources or prompts, and of the description of each. With the longest
   * cursor it is still short enough that nothing is cut out of it.
   */
  listShown: { items: 50, chars: 15_000, descriptionChars: 200 },
  /** What is quoted of a server's refusal. */
  refusalChars: 500,
  /** The protocol's own limit for one answer to a completion. */
  completionValues: 100,
  /** News of a resource are gathered for so long; so many at once, and so many resources followed because they were read. */
  updates: { gatherMs: 500, waiting: 100, followed: 100 },
  /** How long a server may take to confirm a subscription. */
  subscribeMs: 10_000,
  /** How often a host hears of a call's progress. */
  progressMs: 100,
  /** What is told of how far a call is. */
  progressChars: 1_000,
  /** A host hears of a call that runs at least so often. */
  heartbeatMs: 30_000,
  /** A server's log messages: so many in that time, the rest is counted; and how long one is. */
  logMessages: { count: 50, windowMs: 1_000, chars: 4_000 },

  /** What every provider accepts as the name of a tool. */
  toolNameLength: 64,
  nameHashLength: 10,
  /** The longest name a server may give to a tool. */
  nameChars: 1_024,
  /** A definition beyond this is left out: nobody writes one, and reading it would cost everyone. */
  definition: { depth: 100, parts: 100_000 },
  /** What a model is shown of a tool at most. */
  descriptionBytes: 2_048,
  schemaBytes: 8 * 1024,
  /** How much of a schema is read for that: parts in all, those that are inlined, how deep references nest, how often one
   * recurs, how much is read again because several references lead to it, and how many names are gathered at one place
   * (so many are longer than what can be shown). */
  shownSchema: {
    ...{ parts: 4_000, inlined: 1_500, nesting: [12, 3, 1], recursions: 2, repeatedChars: 2_000_000 },
    names: 2_048,
  },
  /** Descriptions within a schema that is too large are cut, but no shorter than this. */
  partDescriptionBytes: 80,

  /** Which tools a model is shown: the window it is taken to have, and the smallest from which on it is left to search. */
  exposure: {
    window: 200_000,
    leastWindow: 32_000,
    percent: 10,
    /** By the count of characters, where a token is said to have no more than these. */
    charsPerToken: 2.5,
    /** Search that is on stays on down to this part of the threshold. */
    stays: 0.8,
    /** What a model that does not search is shown: so many tools, in this part of its window. */
    best: { tools: 20, share: 0.2 },
    /** What servers themselves may put before a searching model: so many tools each, in this part of its window. */
    claimed: { tools: 8, share: 0.05 },
  },
  /** What a model's search may ask for, and how much it is told. */
  search: {
    hits: 5,
    mostHits: 20,
    names: 20,
    queryChars: 1_000,
    /** A description: of a tool whose definition the model gets anyway, and of one that it knows from here alone. */
    loadedChars: 300,
    carriedChars: 1_000,
    entryChars: 4_000,
    answerChars: 24_000,
    servers: 60,
    titleChars: 80,
    remarks: 5,
  },
  /** How much of a tool and of a question is read when tools are ranked, and how many unknown words are explained. */
  ranking: {
    fieldChars: 16 * 1024,
    schemaParts: 2_000,
    queryChars: 4_000,
    queryWords: 128,
    queryParts: 12,
    explainedWords: 5,
  },
  /** What servers say about their use: so many are heard, each gets so much, all together so much. */
  instructions: { servers: 128, perServer: 2_048, total: 16_384 },

  /** A server that does not answer `server/discover` for so long is of the older era; a late answer is still honored. */
  probeMs: 1_000,
  /** How long that late answer is waited for, when the server refuses the older handshake. */
  lateProbeMs: 2_000,
  /** Rounds of a modern call that asks for input, and the pause before one that only carries state. */
  inputRounds: 10,
  inputPacingMs: 250,

  /** What a server may ask at once, of whomever. */
  questionsAtOnce: 16,
  /** What it may put before a person: how long its message, its texts and names are, and how much it may ask for. */
  elicitation: { messageChars: 4_000, textChars: 1_000, nameChars: 128, fields: 50, options: 500 },
  /** Pages that it may send a person to before one call; how many it said were dealt with are remembered, for late readers. */
  pages: { atOnce: 5, urlChars: 8 * 1024, idChars: 1_024, remembered: 32 },

  /** When calls to a failing server are given a rest. */
  breaker: { failures: 3, openMs: 300_000 },
  /** A session that lived this long was stable: losing it starts the attempts anew. */
  stableMs: 30_000,
  /** A local server that keeps dying is not started more often than this, however many calls ask for it. */
  startBurst: { starts: 5, windowMs: 30_000 },
  /** However patient: so many attempts without one success, and only a person starts again. */
  attemptsInAll: 500,
  backgroundJitter: 0.2,
  /** How long after a failed request the end of its session may take to be noticed. */
  lossMs: 1_500,
  /** A stalled server gives its place to the next after this long. */
  slotMs: 250,
  /** A stream of a server's news that was lost is opened again: after this long, then twice as long, up to the most. */
  listenAgainMs: 1_000,
  listenAgainMostMs: 60_000,
  /** How long it is remembered what a server speaks. */
  verdictMs: 7 * 24 * 3_600_000,
  /** What was found out about several servers in this time is written together. */
  verdictWriteMs: 1_000,
  /** How long a person may think about an approval; after it the answer is no. */
  approvalMs: 300_000,
  /** What of a call's arguments a person is shown: so many values, so much of each text. */
  approvalPreview: { parts: 1_000, chars: 4_000 },
  /** What is kept of a tool's definition to read it and to compare it later; its hash is of the whole. */
  pin: { descriptionChars: 4_000, lineChars: 300, lines: 64, levels: 6 },
  /** What is told of a tool that has changed: lines, places in one text, how long a quotation is; and the largest table of
   * words against words that is made to find them. */
  toolChanges: { lines: 12, places: 4, quoteChars: 240, compared: 1_000_000 },
  /** Tools granted to servers of one name, in all folders; how long a yes is remembered before it is looked up again; and
   * how often a write is tried that others overtake. */
  grants: { most: 500, freshMs: 1_000, tries: 100 },

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
  /** The longest line that cmd.exe reads, with room for its own name. */
  batchLineChars: 8_000,
  /** A WebSocket that was told goodbye has so long to say it too. */
  goodbyeMs: 1_000,
  /** The longest answer of a proxy that is asked for a tunnel. */
  proxyHeadBytes: 16 * 1024,
  /** HTTP: how long a connection may take to be open, and an answer that has not ended be silent. */
  connectMs: 10_000,
  httpIdleMs: 300_000,
  /** An open connection on which nothing happens is asked by the system, after this long, whether it still lives. */
  socketProbeMs: 60_000,
  /** A refusal that may pass is asked again after these pauses, or after the server's own as far as it is no longer than this. */
  httpRetryDelaysMs: [250, 1_000],
  retryAfterMs: 30_000,
  redirects: 10,
  /** A stream that broke off before its answer is taken up again so often in a row, after this long. */
  streamResumes: 3,
  streamResumeMs: 1_000,
  /** What still runs on a session that has expired may take so long to end. */
  expiredDrainMs: 1_000,
  /** How long the first request waits for a server to take note that the handshake is over. */
  initializedMs: 1_000,
  /** Streams that a server leaves open although it has answered; the oldest beyond them is closed. */
  answeredStreams: 16,
  /** What is read of an answer that says no. */
  refusalBytes: 64 * 1024,
  /** Text that is not MCP, on a server's output, in all; a banner is a thousandth of it. */
  noiseBytes: 4 * 1024 * 1024,
  noiseLineCost: 256,
  /** A line that is no message is told up to here; a failure quotes less of it. */
  noiseLineChars: 2_000,
  noiseQuoteChars: 200,
  /** A line over the limit is read on for so long to find its end; it is then taken to have none. */
  endlessLineBytes: 256 * 1024 * 1024,
  /** The longest id that is still read from a message over the limit. */
  messageIdBytes: 1024,
  closeMs: 10_000,

  /** What is kept of a server's stderr, and how much of it a failure quotes. */
  stderrBytes: 64 * 1024,
  stderrQuoteChars: 2_000,
  /** A server's log: how big it grows before it becomes the older one, and how long a line of it is. */
  log: { bytes: 1024 * 1024, lineChars: 16 * 1024 },
  /** What a server writes is collected for so long, and up to so much; at the end the disk has so long to take it. */
  logBatch: { ms: 100, bytes: 256 * 1024, closeMs: 1_000 },
  /** How soon whoever follows a log sees what is new, and how much of it is shown beside other things. */
  logView: { lookMs: 250, briefLines: 10 },
  /** A shorter value is too common a word to be hidden wherever it stands. */
  secretChars: 8,
  /** How deep data is looked into for secrets; what lies deeper is left out. */
  redactionDepth: 100,

  /**
   * What a rule looks at in arguments, and how much it may say of them: more than that nobody means, and it is as good as
   * unreadable.
   */
  ruleValues: { parts: 1_000, depth: 32, pathChars: 4_096, textChars: 100_000, needs: 1_000 },
  /** For how many tools it is remembered which rules speak of them. */
  judgedTools: 20_000,
  /** Checking arguments: how much work a schema may ask for before it is left to the server, and how much is told. */
  schemaCheck: { steps: 200_000, problems: 5 },
  /** What may be given to a tool: JSON is written and read level by level, in one text, and a list may claim to be endless. */
  arguments: { depth: 200, parts: 6_000_000, chars: 64 * 1024 * 1024 },
  /** Looking for values that stand for "not given": where, how many, and how much work each try may be. */
  placeholders: { parts: 1_000, depth: 8, most: 16, check: { steps: 20_000, problems: 100 } },

  /** Of one result: how many blocks beside its text are looked at, and how long a name or an address in a placeholder is. */
  resultAttachments: 1_000,
  placeholderChars: 500,
  /** A result that is nested deeper is broken. */
  resultDepth: 500,
  /**
   * Structured content: how deep and of how many parts it is shown; from which length on a text without a space is taken for
   * binary data; how many texts, and how much of them, are read to see whether they say the same.
   */
  structured: { depth: 100, parts: 1_000_000, binaryChars: 256, comparedTexts: 1_000, comparedChars: 4_000_000 },
  /** How much a trusted tool may ask for itself. */
  askedResultChars: 500_000,
  /** Beyond what the model reads: so much is searched for signals, and so much for a secret that the cut could split. */
  resultEdge: { signals: 4 * 1024, secrets: 256 * 1024 },
  /** Whole results and blobs on disk: for how long, how many, how much in all, and how long the disk may take for one. */
  artifacts: {
    ...{ keptMs: 7 * 24 * 3_600_000, files: 5_000, bytes: 256 * 1024 * 1024, writeMs: 5_000 },
    /** How many of one result; and after how many, or how much, the folder is looked through again. */
    ...{ perResult: 50, sweepFiles: 500, sweepBytes: 32 * 1024 * 1024 },
    /** So many in a row, and so many in the long run; the same of their bytes. */
    ...{ burst: 256, perSecond: 16, burstBytes: 32 * 1024 * 1024, bytesPerSecond: 2 * 1024 * 1024 },
  },

  /** What an event may carry of a call's result. */
  eventResultBytes: 1024 * 1024,
  suggestions: 3,
  /** What a model is told of a failure: 4,000 characters at most, with the names of the parts and what marks a cut. */
  failureText: { nameChars: 200, happenedChars: 2_200, nextChars: 800 },
  /** What a model reads of one answer of the runtime's own tools. */
  builtinResultChars: 50_000,
  configBytes: 10 * 1024 * 1024,
  /** A list of tools or of questions that a person gives as a file, unpacked. */
  toolFileBytes: 256 * 1024 * 1024,
  /** How much the placeholders of one value may stand for, and what a command that gives a value may take and print. */
  expandedChars: 256 * 1024,
  helper: { ms: 10_000, bytes: 64 * 1024 },
  /** Docker's gateway: how long its program and its daemon may take to answer, and how long the answer counts. */
  gateway: { cliMs: 5_000, daemonMs: 3_000, askAgainMs: 60_000, idleStopMs: 300_000 },
  /** A changed file is read when it has been left alone for this long. */
  settleMs: 500,
} as const;
