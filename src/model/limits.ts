// Owns the limits that cannot be configured. A setting that a user may write is in `config/schema.ts`, with its default.

export const limits = {
  /** A list of resources or prompts: a server that sends endless pages, or too many items, is cut off here. */
  listPages: 100,
  listItems: 2_048,
  /** The same for a list of tools: servers that put others together have thousands. */
  toolList: { pages: 400, items: 10_000 },
  cursorBytes: 64 * 1024,
  listTimeoutMs: 60_000,
  /** Delays before a failed list is fetched again. */
  listAgainMs: [250, 500, 1_000],
  /** Delay between a server's `list_changed` and fetching the list: changes come in groups. */
  listChangedMs: 250,
  /**
   * Each `list_changed` within `calmMs` of the last list doubles that delay, up to so many times: to a minute, or to four
   * seconds where each list brings something new.
   */
  listChanges: { calmMs: 10_000, doublings: 8, doublingsWithNews: 4 },
  /** A list that failed on all attempts is fetched again after this, whether or not the server announces changes. */
  listFailedMs: 30_000,
  /** The shortest lifetime of a list, even if the server asks for less. */
  shortestTtlMs: 1_000,
  /** How many broken definitions of a list are reported. */
  listProblems: 20,
  /** Signals in a list of tools: how many are reported, and how many texts of one schema are searched. */
  flaggedTexts: { told: 5, schemaParts: 2_000 },
  /** How long a start waits for the cached lists of tools; how long a list is kept (`tool_cache_ttl_ms` says how long it counts as fresh); an unchanged one is written again after a day, so that it does not expire. */
  toolCache: { readMs: 2_000, keptMs: 30 * 24 * 3_600_000, writeAgainMs: 24 * 3_600_000, problemChars: 500 },

  /** Resources and prompts: the longest uri, how much one definition may weigh, how many arguments a prompt takes. */
  resourceDefinition: { uriChars: 8 * 1024, definitionChars: 64 * 1024, arguments: 100 },
  /** How long a caller waits for a list that is being fetched, and how long a list without `ttlMs` counts as fresh. */
  listWaitMs: 5_000,
  resourcesFreshMs: 300_000,
  /** A template longer than this, or for a uri longer than this, is not compared. */
  templateChars: 2 * 1024,
  /**
   * How much of a list of resources or prompts a model is shown at once, and of the description of each. Even with the longest
   * cursor that stays below the limit at which results are cut.
   */
  listShown: { items: 50, chars: 15_000, descriptionChars: 200 },
  /** The longest quote of a server's refusal. */
  refusalChars: 500,
  /** The longest name, version and title that is kept of a server. */
  serverInfoChars: 200,
  /** The protocol's limit for one completion response. */
  completionValues: 100,
  /** Updates of resources: how long they are gathered, how many at once, and how many read resources are subscribed to. */
  updates: { gatherMs: 500, waiting: 100, followed: 100 },
  /** How long a server may take to confirm a subscription. */
  subscribeMs: 10_000,
  /** The shortest time between two progress events of a call. */
  progressMs: 100,
  /** The longest text of a progress event. */
  progressChars: 1_000,
  /** The longest time between two events of a running call. */
  heartbeatMs: 30_000,
  /** A server's log messages: so many per window, the rest is only counted; and the longest message. */
  logMessages: { count: 50, windowMs: 1_000, chars: 4_000 },

  /** The longest name of a tool that every provider accepts. */
  toolNameLength: 64,
  nameHashLength: 10,
  /** The longest name a server may give to a tool. */
  nameChars: 1_024,
  /** A larger definition is left out: no real server sends one, and reading it would slow down every turn. */
  definition: { depth: 100, parts: 100_000 },
  /** The most that a model is shown of a tool. */
  descriptionBytes: 2_048,
  schemaBytes: 8 * 1024,
  /** How much of a schema is read for that: parts in total and inlined, how deep references nest and how often one recurs, how
   * much is read again because several references lead to it, and how many names are collected at one place (more could not
   * be shown). */
  shownSchema: {
    parts: 4_000,
    inlined: 1_500,
    nesting: [12, 3, 1],
    recursions: 2,
    repeatedChars: 2_000_000,
    names: 2_048,
  },
  /** Descriptions within a schema that is too large are cut, but not below this. */
  partDescriptionBytes: 80,

  /** Which tools a model is shown: the assumed context window, and how many tools. How many one search returns is `search.hits`. */
  exposure: {
    window: 200_000,
    percent: 10,
    /** The fewest characters per token, to estimate tokens from characters. */
    charsPerToken: 2.5,
    /** Once on, search stays on down to this fraction of the threshold. */
    stays: 0.8,
    /**
     * The most tools that a model is shown whole, by its provider. OpenAI refuses a request with more than 128, Google one with more
     * than 512; the rest is room for tools of the host's own and for those that a search finds.
     */
    tools: { any: 100, openai: 100, google: 400 },
    /** What a model that cannot search is shown: so many tools, in this fraction of its window. */
    best: { tools: 20, share: 0.2 },
  },
  /** A model's search for tools: how much it may ask for, and how long the answer is. */
  search: {
    hits: 5,
    mostHits: 20,
    names: 20,
    queryChars: 1_000,
    /** Description lengths: of a tool whose definition the model gets anyway, and of one that it knows only from the answer. */
    loadedChars: 300,
    carriedChars: 1_000,
    entryChars: 4_000,
    answerChars: 24_000,
    servers: 60,
    titleChars: 80,
    /** All names and titles of servers in the definition of a builtin tool. */
    serverListChars: 2_000,
    remarks: 5,
  },
  /** Ranking tools: how much of a tool and of a query is read, and how many unknown words are explained. */
  ranking: {
    fieldChars: 16 * 1024,
    schemaParts: 2_000,
    queryChars: 4_000,
    queryWords: 128,
    queryParts: 12,
    explainedWords: 5,
  },
  /** Servers' instructions for the model: how many servers, and how many characters each and in total. */
  instructions: { servers: 128, perServer: 2_048, total: 16_384 },

  /** A server that does not answer `server/discover` within this is taken to be of the older era; a late answer still counts. */
  probeMs: 1_000,
  /** How long to wait for that late answer when the server refuses the older handshake. */
  lateProbeMs: 2_000,
  /** Rounds of a modern call that asks for input, and the pause before a round that only carries state. */
  inputRounds: 10,
  inputPacingMs: 250,

  /** How many requests of one server may be open at once. */
  openServerRequests: 16,
  /** How often a server may ask its client something: during one call, and in a minute; and how long the time limits of one call
   * may stand still in all because a person is asked. */
  questions: { perCall: 10, perMinute: 30, suspendedMs: 600_000 },
  /** What a server may show to the user: the length of message, texts and names, and how many fields and options. */
  elicitation: { messageChars: 4_000, textChars: 1_000, nameChars: 128, fields: 50, options: 500 },
  /** Pages that a server may ask the user to open before one call; how many completed ones are remembered for late readers. */
  pages: { atOnce: 5, urlChars: 8 * 1024, idChars: 1_024, remembered: 32 },

  /** After how many outages in a row calls to a server are refused, and for how long. */
  breaker: { outages: 3, openMs: 300_000 },
  /** A session that lived this long was stable: losing it resets the count of attempts. */
  stableMs: 30_000,
  /** A local server that keeps dying is not started more often than this, however many calls need it. */
  startBurst: { starts: 5, windowMs: 30_000 },
  /** After so many attempts without a success, only the user can start the server again. */
  attemptsInAll: 500,
  backgroundJitter: 0.2,
  /** How long calls in flight may go on when their server is restarted because its entry or its approval changed. */
  restartDrainMs: 30_000,
  /** How long after a failed request the end of its session may go unnoticed. */
  lossMs: 1_500,
  /** A stalled server gives its slot to the next one after this long. */
  slotMs: 250,
  /** A lost notification stream is reopened after this long, then after twice as long, up to the maximum. */
  listenAgainMs: 1_000,
  listenAgainMostMs: 60_000,
  /** How long the protocol version and transport of a server are cached. */
  protocolCacheMs: 7 * 24 * 3_600_000,
  /** Results for several servers within this time are written together: the protocol and the list of tools of each. */
  cacheWriteMs: 1_000,
  /** How long the user may take to approve; after that the answer is no. */
  approvalMs: 300_000,
  /** How much of a call's arguments the user is shown: values, and characters of each text. */
  approvalPreview: { parts: 1_000, chars: 4_000 },
  /** How much of a tool's definition is stored to show and compare it later; its hash covers the whole definition. */
  pin: { descriptionChars: 4_000, lineChars: 300, lines: 64, levels: 6 },
  /** How much of a tool's change is shown: lines, places in one text, the length of a quotation; and the largest table of words
   * that is built to find the change. */
  toolChanges: { lines: 12, places: 4, quoteChars: 240, compared: 1_000_000 },
  /** Granted tools per server name, in all folders; how long a grant is cached before it is read again; and how often a write is
   * retried that other processes overtake. */
  grants: { most: 500, freshMs: 1_000, tries: 100 },

  /** Files that an approval may pin: how many, how many words of an entry are looked up, and up to which size their contents count. */
  pinnedFiles: { most: 100, words: 1_000, bytes: 16 * 1024 * 1024 },

  /** Ending a process group: the grace after closing its input and after SIGTERM; and how often to check whether it is gone. */
  endOfInputGraceMs: 2_000,
  terminateGraceMs: 1_000,
  /** How much longer a call waits for the failure of a start whose time is up: it comes when the process has ended. */
  startFailureMs: 5_000,
  goneCheckMs: 20,
  /** After a server's exit: how long its output is still read when a descendant holds it open. */
  drainMs: 500,
  /** After the host died: how long its servers have until SIGTERM, and then until SIGKILL. */
  orphanGraceMs: 700,
  /** How long an installation may go on when its host has ended, and after which time without an answer it is told of. */
  installGoesOnMs: 300_000,
  installNoticeMs: 2_000,
  /** How often a watchdog that keeps dying is started. */
  watchdogStarts: 5,
  /** How many bytes may be buffered for a server that does not read its input. */
  unreadInputBytes: 64 * 1024 * 1024,
  /** The longest command line of cmd.exe, less room for its own name. */
  batchLineChars: 8_000,
  /** How long the server may take to answer the close frame of a WebSocket. */
  goodbyeMs: 1_000,
  /** The longest response of a proxy to CONNECT. */
  proxyHeadBytes: 16 * 1024,
  /** HTTP: how long opening a connection may take, and how long an unfinished response may be silent. */
  connectMs: 10_000,
  httpIdleMs: 300_000,
  /** TCP keep-alive: when an idle connection is probed for the first time. */
  socketProbeMs: 60_000,
  /** Delays before a temporarily refused request is retried; a server's `Retry-After` counts up to `retryAfterMs`. */
  httpRetryDelaysMs: [250, 1_000],
  retryAfterMs: 30_000,
  redirects: 10,
  /** Remote servers of a workspace that are connected although nobody approved them. */
  unapprovedServers: 32,
  /** A call that must not be repeated follows one redirect; every call waits once after a 429: for as long as the server asks, up to a limit. */
  callRedirects: 1,
  rateLimit: { defaultMs: 1_000, maxMs: 5_000 },
  /** How long the ping may take that shows whether a session is gone. */
  sessionCheckMs: 5_000,
  /** How often in a row a stream that broke off before its response is resumed, and after which delay. */
  streamResumes: 3,
  streamResumeMs: 1_000,
  /** How long requests on an expired session may take to end. */
  expiredDrainMs: 1_000,
  /** How long the first request waits until the server has accepted the end of the handshake. */
  initializedMs: 1_000,
  /** How many streams a server may leave open after its response; beyond that the oldest is closed. */
  answeredStreams: 16,
  /** How much of an error response is read. */
  refusalBytes: 64 * 1024,
  /** How much text that is not MCP a server may write to its output in total; a banner is a thousandth of it. */
  noiseBytes: 4 * 1024 * 1024,
  noiseLineCost: 256,
  /** How much of a line that is no message is reported, and how much of it an error quotes. */
  noiseLineChars: 2_000,
  noiseQuoteChars: 200,
  /** A line over the limit is read up to here to find its end; after that it counts as endless. */
  endlessLineBytes: 256 * 1024 * 1024,
  /** A longer message is parsed in slices, between which the event loop runs. */
  slicedMessageBytes: 1024 * 1024,
  /** The longest id that is read from a message over the limit. */
  messageIdBytes: 1024,
  closeMs: 10_000,
  /**
   * Tokens: how long before its end one is refreshed, how long that may hold the lock between processes, which is longer than two
   * requests take, and how long an authorization server that is down is left alone.
   */
  refresh: { aheadMs: 60_000, lockMs: 75_000, pauseMs: 5_000 },
  /** How often a model can ask the person to log in to one server. */
  askLoginMs: 15 * 60_000,

  /**
   * A login: the largest document of an authorization server, and how long one request may take; how long the person has for the
   * page; the ports that are registered for its answer; how often a server can demand more rights of one login; the longest address
   * of a page, which programs and servers take; the longest scope or address in a document; the longest lifetime that is believed.
   */
  login: {
    bodyBytes: 1024 * 1024,
    requestMs: 30_000,
    pageMs: 300_000,
    pendingMs: 600_000,
    callbackPorts: [47_310, 47_311, 47_312],
    assertionSeconds: 300,
    quoteChars: 300,
    stepUps: 5,
    pageChars: 16_000,
    wordChars: 2_000,
    lifetimeSeconds: 100 * 365 * 86_400,
  },

  /** How much of a server's stderr is kept, and how much of it an error quotes. */
  stderrBytes: 64 * 1024,
  stderrQuoteChars: 2_000,
  /** The head of an HTTP response, and a line between the chunks of its body. */
  responseHeadBytes: 16 * 1024,
  chunkLineBytes: 1024,
  /** How long an HTTP connection stays open without a request, unless the server says how long it waits: then so much shorter, up to a limit. */
  socketIdle: { ms: 4_000, marginMs: 2_000, mostMs: 600_000 },
  /** A server's log file: the size at which it is rotated, and the longest line. */
  log: { bytes: 1024 * 1024, lineChars: 16 * 1024 },
  /** Log writes are batched for so long, the first ones for longer, and up to so much; closing waits so long for the last write. */
  logBatch: { firstMs: 1_000, ms: 100, bytes: 256 * 1024, closeMs: 1_000 },
  /** How often a followed log is checked for new lines, and how many lines are shown beside other output. */
  logView: { lookMs: 250, briefLines: 10 },
  /** Shorter values are not redacted: they occur in too many texts by chance. */
  secretChars: 8,
  /** How deep data is searched for secrets; deeper parts are left out. */
  redactionDepth: 100,

  /** How much of the arguments a rule examines, and how much a rule may require: no real rule needs more. */
  ruleValues: { parts: 1_000, depth: 32, pathChars: 4_096, textChars: 100_000, needs: 1_000 },
  /** For how many tools the matching rules are cached. */
  judgedTools: 20_000,
  /** Checking arguments: how much work a schema may cost before the check is left to the server, and how many problems are shown. */
  schemaCheck: { steps: 200_000, problems: 5 },
  /** The largest arguments of a call: they are written and parsed recursively, as one text, and a proxy may claim any length. */
  arguments: { depth: 200, parts: 6_000_000, chars: 64 * 1024 * 1024 },
  /** Searching for values that stand for "not given": how far, how many, and the work per attempt. */
  placeholders: { parts: 1_000, depth: 8, most: 16, check: { steps: 20_000, problems: 100 } },
  /** Repairing arguments: how many schemas deep, the work, how many characters of JSON text are read, and the most repairs of one call. */
  repair: { depth: 24, steps: 100_000, textChars: 1024 * 1024, most: 1_000 },

  /** Per result: how many blocks besides text are read, and how long a name or an address in a placeholder is. */
  resultAttachments: 1_000,
  placeholderChars: 500,
  /** A result that is nested deeper counts as broken. */
  resultDepth: 500,
  /**
   * Structured content: the depth and the number of parts that are shown; the length from which a text without spaces may be
   * binary data; how many texts and characters are compared to see whether they hold the same value.
   */
  structured: { depth: 100, parts: 1_000_000, binaryChars: 256, comparedTexts: 1_000, comparedChars: 4_000_000 },
  /** The largest result limit that a trusted tool may request for itself. */
  askedResultChars: 500_000,
  /** Beyond what the model reads: how much is searched for signals, and for a secret that the cut could split. */
  resultEdge: { signals: 4 * 1024, secrets: 256 * 1024 },
  /** Whole results and blobs on disk: how long they are kept, how many files and bytes, and how long one write may take. */
  artifacts: {
    keptMs: 7 * 24 * 3_600_000,
    files: 5_000,
    bytes: 256 * 1024 * 1024,
    writeMs: 5_000,
    /** Files per result; and after how many files or bytes the folder is cleaned up again. */
    perResult: 50,
    sweepFiles: 500,
    sweepBytes: 32 * 1024 * 1024,
    /** Rate limits: files in a burst and per second, and the same for bytes. */
    burst: 256,
    perSecond: 16,
    burstBytes: 32 * 1024 * 1024,
    bytesPerSecond: 2 * 1024 * 1024,
  },

  /** The largest result that an event carries. */
  eventResultBytes: 1024 * 1024,
  suggestions: 3,
  /** What a model is told of an error: 4,000 characters at most, with the labels of its parts and the marks of cuts. */
  failureText: { nameChars: 120, happenedChars: 1_600, nextChars: 700 },
  /** The longest result of a builtin tool. */
  builtinResultChars: 50_000,
  configBytes: 10 * 1024 * 1024,
  /** Of one configuration file of the workspace, which is refused whole beyond any of these. */
  workspaceFile: { bytes: 1024 * 1024, servers: 500, rules: 1_000, arguments: 256 },
  /** The largest file with a list of tools or questions that the user passes, unpacked. */
  toolFileBytes: 256 * 1024 * 1024,
  /** How long a value may become when its placeholders are filled in; time and output of a command that provides a value. */
  expandedChars: 256 * 1024,
  helper: { ms: 10_000, bytes: 64 * 1024 },
  /** Docker's gateway: how long its CLI and its daemon may take to answer, and how long the answer is cached. */
  gateway: { cliMs: 5_000, daemonMs: 3_000, askAgainMs: 60_000, idleStopMs: 300_000 },
  /**
   * The agent's model: delays before it is asked again, how long it may ask to wait, one event of its answer and all of it, how much of
   * its error is quoted, how long an answer may become where the provider wants to be told; and for the list of models, how long a
   * model server of this machine and one elsewhere may take, and how large the list may be.
   */
  model: {
    retryDelaysMs: [1_000, 2_000, 4_000, 8_000],
    longestWaitMs: 60_000,
    eventBytes: 16 * 1024 * 1024,
    answerBytes: 128 * 1024 * 1024,
    errorChars: 300,
    outputTokens: 8_192,
    list: { localMs: 1_000, remoteMs: 10_000, bytes: 4 * 1024 * 1024 },
  },
  /**
   * The agent's context: the window of a model that does not say its own, the part of it that is left for the answer, the part that
   * stays filled when old results are taken out, and what an image counts.
   */
  context: { window: 200_000, answerShare: 0.15, keptShare: 0.6, imageTokens: 1_500 },
  /**
   * The agent's conversations: how long and how many are kept; how long one waits for another process that has it open; how much
   * of a file and of its first prompt a list reads and shows.
   */
  conversations: {
    ageMs: 30 * 24 * 3_600_000,
    count: 200,
    lockMs: 24 * 3_600_000,
    lockWaitMs: 1_000,
    startBytes: 64 * 1024,
    titleChars: 80,
  },
  /**
   * The served agent: the longest time between two progress messages of a call; how long a conversation stays open after its last
   * reply, and how many; the longest name of its tools, the most rules that a client gives, and how long they are together.
   */
  servedAgent: { progressMs: 10_000, idleMs: 300_000, open: 64, nameChars: 48, rules: 100, ruleChars: 16_384 },
  /** The agent's run: the same call in so many steps in a row ends it; so often a step is repeated whose answer broke off. */
  agentRun: { sameCalls: 3, repeatedSteps: 2 },
  /** The agent's work on one prompt: defaults of the settings under `plexus.agent`. */
  agentBudget: { steps: 50, tokens: 1_000_000, timeMs: 600_000 },
  /** A changed file is read once it has not changed for this long. */
  settleMs: 500,

  /** The server side: defaults of the settings under `plexus.serving`. */
  serving: {
    messageBytes: 16 * 1024 * 1024,
    inFlight: 256,
    waiting: 128,
    connections: 2_000,
    sessions: 1_000,
    streams: 32,
    sessionIdleMs: 3_600_000,
    headersMs: 10_000,
    bodyMs: 30_000,
    questionMs: 600_000,
    suspendedCalls: 1_000,
  },
  /** The server side: messages in a batch; when a legacy call without an answer gets a stream, and when a stream without messages
   * a comment; the pause before a client comes back; sent events that are kept for it, of one stream and of all finished ones
   * of a session; how much of a value is checked; how long a stopping server waits for its calls, and for the last bytes of its
   * answers to leave; streams for subscriptions, in all; and resources that one session, or one such stream, may subscribe to. */
  served: {
    batch: 64,
    streamAfterMs: 1_000,
    keepAliveMs: 15_000,
    retryMs: 1_000,
    keptEvents: { events: 128, chars: 4 * 1024 * 1024 },
    keptStreams: { streams: 32, chars: 8 * 1024 * 1024 },
    check: { steps: 100_000, problems: 3 },
    drainMs: 10_000,
    flushMs: 500,
    /** A connection without a request is closed; clients are told so beforehand. */
    idleConnectionMs: 5_000,
    subscriptions: 1_000,
    subscribedUris: 10_000,
  },
  /**
   * The gateway: how long the first list waits for the roots of a session, how many workspaces may be open, how often a client with a
   * progress token hears of its call, how many calls may wait for one server, how long a call waits for a server that has another
   * client at the moment, how long a modern client may take for a round of questions, how many rounds keep an approval, and how many
   * rounds a modern server gets for a call of a legacy client.
   */
  relay: {
    ...{ rootsMs: 1_000, workspaces: 64, progressMs: 14_000, queuedCalls: 64, turnMs: 30_000 },
    ...{ roundMs: 3_600_000, approvedRounds: 1_000, inputRounds: 8 },
  },
  /** How long a gateway that was started for its clients stays without any. */
  gatewayIdleMs: 600_000,
  /** How often such a gateway looks whether it is in use. */
  gatewayLookMs: 15_000,
  /** How long a command waits for a running gateway, before it starts the servers itself. */
  fleetAnswerMs: 3_000,
} as const;
