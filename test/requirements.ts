// Owns what Plexus promises its users: one id, one sentence, nothing else.
// `verifies.ts` lets a test name a promise, `owed.ts` lists those without one, `requirements.test.ts` keeps all three honest.

export const requirements = {
  // Config sources, scopes, formats
  'CFG-01':
    '`[plexus] enabled` is true by default; when false, no other file is read, no tool is registered, and the CLI says why.',
  'CFG-02':
    'Servers merge by name and keep their source: enterprise over host, local, project, user, plugin, imported (`mergeOrder` may put user over project); an unapproved workspace entry displaces none of another scope and is listed with the command that approves it; `plexus add` approves what it wrote.',
  'CFG-03':
    'An enterprise config hides all other scopes by default, or merges with them on request; the hidden servers are listed with the reason.',
  'CFG-04':
    'A JSON file may list its servers as an array of named entries or as a map; in an array a missing or repeated name is an error.',
  'CFG-05':
    '`mcpServers` in `.mcp.json` is read, and so are `mcp.json`, `servers` in `.vscode/mcp.json`, and `mcp.servers`.',
  'CFG-06':
    'TOML `[mcp_servers.<name>]` takes `command` or `program`; both at once with different values is a validation error.',
  'CFG-07': 'A host hands in its own settings through `extraSources`, and they rank as local.',
  'CFG-08':
    'A server from a plugin is called `plugin:<plugin>:<server>`, and one that is also configured directly is connected only once.',
  'CFG-09':
    'Servers of ten other agents and of the five sources are imported once by `plexus import`, or at every start with `import: auto`; by default never.',
  'CFG-10':
    'Where a server was declared stays known before and after it connects: on its config, status, events and errors.',
  'CFG-11': 'A tool is labelled `mcp:<server> via <provider>`, the same in the CLI, the logs and its metadata.',
  'CFG-12':
    'Project files are on by default but start nothing without trust and approval per server; switching them off or on takes effect at once.',
  'CFG-13':
    'A server with `enabled: false` is never started and still owns its name against lower scopes, also by an unapproved workspace entry, which is told; of `disabledServers` and `enabledServers`, the first wins.',
  'CFG-14': 'A server entry may carry a `title` and a `description` for display.',
  'CFG-15':
    'A server that a native tool of the host replaces is left out and its key handed over, unless extra tools are asked for; the rules are data, and none applies unasked.',
  'CFG-16':
    'Browser servers step aside while the host has a browser of its own, and return as soon as that setting changes.',
  'CFG-17':
    'A file that cannot be read yields an error with path, line and column, while all other files still load; of a broken file of the user’s own the last readable lists and deny and ask rules count, and where none were kept nothing of workspace, plugins and imports starts.',
  'CFG-18': 'A server that fails to load is recorded under its name, and neither the others nor the session notice.',
  'CFG-19':
    'Configs are kept as written and resolved anew at each connect; secrets live only in the transport, never in cache keys or fingerprints.',
  'CFG-20':
    'A child process gets the `env` of its entry plus a safe list of variables, or all, or those named; it never gets the API keys of the host by default.',
  'CFG-21':
    'Environment references with or without a default, `!command` in trusted scopes (10 s) and `headersHelper` (10 s, 64 KiB) are resolved before connecting.',

  // Validation
  'VAL-01':
    'A missing command or url, both at once, or an unknown type gets a precise message; an unknown key gets a warning with the likely spelling, and a JSON Schema is published.',
  'VAL-02': 'An invalid server is shown as `invalid` with file and field, and the others load.',
  'VAL-03':
    'A command means stdio; a bare url tries Streamable HTTP first, falls back to SSE on 400, 404 or 405, and remembers what worked.',
  'VAL-04':
    '`type` and `transport` mean the same, and the common spellings of http, stdio and remote are all understood.',
  'VAL-05':
    'A server name has up to 100 characters of letters, digits, `_.:-` and single spaces; names that only look alike once sanitised stay two servers.',
  'VAL-06':
    'Durations are read in seconds or milliseconds, 0 switches a limit off where documented, and negative or non-numeric values are rejected.',

  // Trust, policy, secrets
  'TRU-01':
    'In an untrusted workspace a stdio server from the repository is not spawned and a diagnostic says so; user and enterprise servers start.',
  'TRU-02':
    'A remote server from an untrusted repository may connect, but until it is approved gets no stored login, environment value, client capability or sandbox news and has no place in any turn; loopback, private and link-local addresses ask first, and at most 32 such servers connect.',
  'TRU-03':
    'When the server allowlist is not empty, only servers matching it by name, command or url connect, and the list is checked again at each call.',
  'TRU-04':
    'The server denylist always wins and also matches command and url, so that renaming a server does not evade it.',
  'TRU-05':
    'The docs say that a server runs with the permissions of the user, and a `launcher` hook can start it inside a sandbox.',
  'TRU-06':
    'A workspace server expands variables from its own `env` and the names an approval grants, others also from the environment; credential-like ones in url or headers need `--allow-env`.',
  'TRU-07':
    'An unset variable leaves a workspace header out with a warning, and keeps a server of another scope from starting with `ENV_MISSING`; `unresolvedEnv` decides otherwise.',
  'TRU-08':
    'Secrets are redacted in logs, events, errors, diagnostics, traces and spilled files; the text for the model loses only values that Plexus itself resolved.',
  'TRU-09':
    'A repository config that puts the variable ANTHROPIC_API_KEY into its Authorization header does not get the key.',

  // Transports
  'TRN-01':
    'Over stdio answers are matched by id, stray output lines are logged and skipped, and a message over 64 MiB fails its call but not the connection.',
  'TRN-02':
    'The last 64 KiB of what a server writes to stderr are kept, shown in its details and in failures, and never reach the terminal UI.',
  'TRN-03': 'Legacy SSE servers work, and their `endpoint` event is followed only to the same origin.',
  'TRN-04':
    'Streamable HTTP carries session id and protocol version, resumes a broken stream from its last event, and starts anew when the session is gone (404).',
  'TRN-05': 'A server can be reached over WebSocket with the subprotocol `mcp`.',
  'TRN-06':
    'The Docker gateway is one lazy stdio server; `gateway: auto` adds it only when no server is configured and Docker is detected, `on` and `off` decide it.',
  'TRN-07':
    'The gateway CLI is detected with `docker mcp --help` within 5 s, also at the usual install paths; the result is cached and probed again on demand.',
  'TRN-08':
    'The Docker daemon is asked for its version within 3 s, and a missing CLI, a stopped daemon and a ready one each have their own message.',
  'TRN-09':
    'Any server with `lifecycle: lazy` starts at its first call, and its tools are offered from the disk cache until then.',
  'TRN-10':
    'A server that is idle for `idleStopMs` (5 minutes for the gateway) is stopped without reconnecting, and its tools stay on offer.',
  'TRN-11': 'Each server is `eager` (the default), `lazy` or `manual`, whatever the others are.',
  'TRN-12': 'The gateway is one server among others; the stats report `isGatewayMode` when it is the only one.',
  'TRN-13':
    'The background event stream opens only after `notifications/initialized`, waits at most 1 s or a quarter of the timeout, and its failure harms nothing.',
  'TRN-14':
    'Protocol headers win over configured ones in any case, configured ones never follow a redirect to another origin, and a POST follows only 307 and 308.',
  'TRN-15':
    'A bearer token or header can come from a named environment variable; a literal `bearer_token` is rejected with a hint.',
  'TRN-16': 'Plexus introduces itself with its package name, title and version, and a host can replace them.',
  'TRN-17':
    'A server that asks for ping, roots or elicitation is answered, sampling only if opted in, and anything else gets -32601.',

  // Connection lifecycle and state
  'LIF-01':
    'A server moves from config to notifications through one table of states, and each transition is one event.',
  'LIF-02':
    'A server starts with initialize, then tools; resources and prompts follow, and their failure does not stop it.',
  'LIF-03':
    'A connection is idle, connecting, ready, waiting, blocked, failed or closed; the finer `state` and the four-word `status` are derived from that.',
  'LIF-04':
    'Status is read from one record per server, by `status()` and `ready()` alike: connected once a session has listed its tools, connecting while a connect, its first list or a reconnect is pending, failed or disconnected otherwise; all but connected have a reason.',
  'LIF-05': 'A server is visible as connecting from the moment it is asked for.',
  'LIF-06': 'Asking twice for the same server and config opens one connection.',
  'LIF-07':
    '`apply(config)` keeps unchanged servers, applies settings live, restarts a server after its calls (30 s at most) where launch, `max_message_bytes`, `log_level`, `elicitation` or `per_client` changed, and ends those that are removed, denied, revoked or shadowed at once; `replaceAll` starts everything over.',
  'LIF-08':
    'Servers connect in parallel, 3 spawns and 20 remotes at a time (`connectConcurrency`); a slot frees at the first answer or after 250 ms, so a stalled server blocks nobody.',
  'LIF-09':
    'The handshake tries 2026-07-28 first and falls back through 2025-11-25, 2025-06-18 and 2025-03-26 to 2024-11-05.',
  'LIF-10': 'Plexus advertises roots, elicitation and sampling only when a handler is registered for them.',
  'LIF-11':
    'Connecting takes at most 60 s, changed by `startupTimeoutMs` per server or by `MCP_TIMEOUT`, and 0 switches the limit off.',
  'LIF-12': 'When initialize fails or times out, the transport is closed and the child process ended.',
  'LIF-13': 'A connected server shows `connectedAt` and its uptime, and both are gone once it drops.',
  'LIF-14': 'An attempt begun before a reload or a close never becomes a connection.',
  'LIF-15':
    'An edited config file is noticed, settles for 500 ms and is applied between turns, touching only what changed; no call in flight is cut for a setting that applies live.',

  // Reconnect, health, breaker
  'REC-01': 'The preset `doubling` waits 1, 2 and 4 s, never over 30 s, and gives up after 3 attempts.',
  'REC-02':
    'The preset `quick` starts at 100 ms and doubles up to 10 s for 5 attempts, whatever the ping threshold is.',
  'REC-03':
    'The default preset `steady` waits 500, 1000, 2000 and 4000 ms; remote servers are then retried in the background from 15 s up to 5 min.',
  'REC-04': 'The preset `patient` waits 2, 5 and 15 s, then fails until someone reconnects by hand.',
  'REC-05': 'The preset `none` never reconnects, and calls to a lost server fail.',
  'REC-06':
    '`reconnect` takes a preset, a list of delays or a formula, with jitter (0.2) and background retries (15 s to 300 s, or off).',
  'REC-07':
    'Only an unexpected close starts a reconnect; a transport error is a diagnostic, and a close we asked for starts nothing.',
  'REC-08':
    'A first connect that times out or is refused is retried; one that fails on validation, login or policy is not.',
  'REC-09': 'After a reconnect the tools are listed again, and `toolsChanged` is emitted only if they differ.',
  'REC-10': 'All who need the same lost server share one reconnect.',
  'REC-11':
    'While a server reconnects its tools stay on offer, marked stale; only disabling or removing it takes them away.',
  'REC-12':
    'A call that loses its server is sent again only if it was provably not sent or is trusted as repeatable, else `OUTCOME_UNKNOWN`; a call also pulls a waiting retry forward once.',
  'REC-13': 'Listing tools is retried after 250, 500 and 1000 ms when the connection drops.',
  'REC-14':
    'When its attempts are used up, a server is failed, says so, and shows the time of the next retry if there is one.',
  'REC-15': 'No timer of ours keeps the process alive or outlives a close.',
  'REC-16':
    'Remote servers are pinged every 30 s with 5 s to answer and reconnected after 5 misses, but not during traffic, on -32601 or when stateless; `health` changes it.',
  'REC-17':
    'A stateful remote session that is idle for 50 s (`keepAliveMs`) gets a ping, from the same scheduler as the health check.',
  'REC-18': 'The breaker counts transport failures once per call; tool errors and -3260x answers do not count.',
  'REC-19':
    'After 3 failures in a row the breaker opens, and calls fail at once with how long it lasts and the command that reconnects.',
  'REC-20':
    'After 5 minutes one trial call passes: success closes the breaker, failure reopens it; a reconnect closes it as well.',
  'REC-21': 'A reconnect by hand resets the breaker, the burst window and the attempt counter.',

  // Startup gate and caches
  'STA-01': 'An interactive or cached start returns within the gate plus 50 ms, with 1, 10 or 100 stalled servers.',
  'STA-02':
    'The start returns at once if every pending server has a cached list, else when all have settled or after 250 ms (`startup.gateMs`).',
  'STA-03': 'A server that is up by the end of the gate offers its live tools.',
  'STA-04': 'A server that failed by the end of the gate is reported with its own error.',
  'STA-05':
    'A tool known from last time can be called before its server is up, marked `fromCache` with its definition pinned; the call waits for the server.',
  'STA-06':
    'A server without cache loads in the background when interactive; a headless start waits up to 10 s (`startup.waitMs`) and reports who was not ready.',
  'STA-07':
    'A server that finishes after the gate replaces its own tools between turns, refreshes its cache and emits an event; only such a late failure is logged.',
  'STA-08': 'Once a server that was waited for is up, `toolsChanged` brings its tools to the session without asking.',
  'STA-09':
    'Tool lists are cached on disk for 30 days in 0600 files, written atomically, keyed by unresolved config, account and protocol; `cacheable: false` opts out.',
  'STA-10':
    'A tool list stays fresh for 5 minutes (`toolCacheTtlMs`) and is served while it is renewed; the `ttlMs` of the server or its list_changed takes over.',
  'STA-11':
    'A tool list is dropped by its TTL, by refresh, by reconnect, by list_changed, or by invalidating one server or all.',
  'STA-12': '`ready({ timeoutMs })` waits for the servers, and the list of tools is a snapshot that never waits.',
  'STA-13': 'Tools of the host are available at once and never wait for a server.',
  'STA-14': 'When servers are missing the session goes on without them, with one status line and one event.',

  // Naming, dedup, filters
  'NAM-01':
    'A tool is called `mcp__<server>__<tool>`; `naming` can choose compact, single or bare for the name on the wire.',
  'NAM-02': '`mcp__<server>_<tool>` is accepted in calls and rules when it means exactly one tool.',
  'NAM-03': '`mcp_<server>_<tool>` is accepted in calls and rules when it means exactly one tool.',
  'NAM-04':
    'A server always receives the original name of its tool; calls are routed by the pair of server and tool, never by parsing a name.',
  'NAM-05': 'A name is looked up before it is parsed, parsing serves rules only, and an ambiguous name is not found.',
  'NAM-06': 'Whether a name is ours is decided by lookup, with the prefix as a shortcut only.',
  'NAM-07': 'No server tool takes the name of a built-in tool or of a tool of another server.',
  'NAM-08':
    'Tools with the same name on several servers are all kept and found by that name; `server.tool` selects one, and bare names get a hash when they collide.',
  'NAM-09':
    'A clean name of up to 64 characters stays as it is; any other is sanitised and gets 10 hex digits of its identity, whatever order servers arrive in.',
  'NAM-10':
    '`enabled_tools`, `disabled_tools` and `tools.<name>.enabled` take globs and work at discovery and at call; a deny subtracts from an allow.',
  'NAM-11': 'A tool with `enabled: false` is left out, and the status shows both the total and the visible count.',
  'NAM-12': 'Tools are always sorted by name.',
  'NAM-13': 'Descriptions can be prefixed with the server they come from (`descriptionPrefix`).',
  'NAM-14': 'Every tool carries its server, title, category, tags, version and annotations as metadata.',
  'NAM-15':
    'Schemas are normalised for providers (without one named they keep what Anthropic and OpenAI take), an invalid tool is set apart, over 8 KiB descriptions shrink first, and calls are validated against the original schema.',

  // Permissions and approval
  'PER-01': 'Server tools pass the same permission gate as built-in ones, and a host may bring its own.',
  'PER-02':
    'A deny wins, then the strongest scope, the closest pattern, ask before allow, else ask; workspace files only tighten until a person approves their content, and no grant lives in them.',
  'PER-03': 'A rule that names one tool matches exactly that server and tool.',
  'PER-04': '`mcp__server__*` and bare `mcp__server` match every tool of that server.',
  'PER-05': 'After the server part `*` and `?` match anywhere, so `mcp__server__create_*` does what it says.',
  'PER-06': '`mcp__*` matches every tool of every server, and `doctor` warns about it.',
  'PER-07':
    'Every tool asks first; `auto`, `prompt`, `writes` or `approve` change that per server or tool, and hints of a server count only with `trustHints`.',
  'PER-08':
    'Before the call a person sees arguments, server, source and annotations, and allows it once, for the session or always.',
  'PER-09': 'A remembered approval holds for the same server fingerprint and tool definition, not for the same name.',

  // Tool-call path
  'CAL-01': 'A name resolves to one tool, or to not found with suggestions.',
  'CAL-02': 'A call takes a tool, its arguments, an abort signal, a progress callback and a timeout.',
  'CAL-03': 'A call reaches the server as JSON-RPC 2.0 `tools/call` with name and arguments.',
  'CAL-04': 'Missing arguments are sent as `{}`, and anything but an object is rejected.',
  'CAL-05':
    'A call ends after 100000000 ms at most, and on remote servers after 300 s without a sign of life; progress resets that, and both can be set per server or tool.',
  'CAL-06': 'A call that times out is cancelled on the server, and its failure says that the outcome is unknown.',
  'CAL-07': 'The host hears of each progress notification, and at least every 30 s while a call runs.',
  'CAL-08': 'An aborted call is cancelled on the server and rejects as an abort, not as a failed result.',
  'CAL-09':
    'A call to a tool known from the cache waits for its server, no longer than the startup timeout or until it is aborted.',
  'CAL-10':
    '`turn.call` throws a `RuntimeError`; `failureAsOutcome` turns it into bounded, redacted text that tells the model what failed, who can fix it and what comes next.',
  'CAL-11':
    'A tool that is not found is answered with the nearest names, or with the reason that it is disabled or needs a login.',
  'CAL-12': 'A malformed answer fails the call with a code of its own.',
  'CAL-13':
    'A result tells how long it took, which server and tool gave it, how many attempts it needed and whether the tool was known from the cache.',
  'CAL-14': 'Calls run in parallel, and `parallel: false` runs those of one server in order.',

  // Result rendering and safety
  'OUT-01': 'Text, image, audio, resource, resource link and structured content are all understood.',
  'OUT-02':
    'Text is passed on verbatim, images and audio as native blocks or a placeholder, blobs as files, and the rest as JSON.',
  'OUT-03': 'Structured content is shown beside the text unless the text says the same, and base64 is never inlined.',
  'OUT-04': 'An error result stays marked as an error.',
  'OUT-05': 'A result is cut at 50 000 characters, with the total named; each server can have its own limit.',
  'OUT-06':
    'A result is also cut at 25 000 tokens (`MAX_MCP_OUTPUT_TOKENS`); head and tail stay, the full text goes to a file, and a trusted tool may raise it to 500k.',
  'OUT-07':
    'Results are extracted, flagged, truncated and wrapped in that order; flagging reads 4 KiB beyond the cut, and no limit removes the closing mark.',
  'OUT-08':
    'Eight kinds of injection signal in results, descriptions and instructions are reported by an event; nothing is blocked or changed unless the policy says annotate or ask.',
  'OUT-09':
    'Output is wrapped in `<mcp_tool_output>` with a nonce per call in both marks, and a closing tag inside it is disarmed; failures for models that quote a server are wrapped too; the structured API keeps it raw.',
  'OUT-10': 'Names in the wrapping attributes keep only letters, digits and `._-`.',
  'OUT-11': '`systemPromptFragment()` gives the words that tell a model that tool output is data and not instructions.',

  // Resources, prompts, notifications
  'RES-01':
    'Resources are listed page by page where a server declares them, and -32601 on templates means that there are none.',
  'RES-02': 'A failure to list templates leaves the resources in place.',
  'RES-03':
    'Prompts become `/mcp__<server>__<prompt>` commands with named arguments, values of several words, and completion.',
  'RES-04':
    'Resource subscriptions are opt-in, settle for 500 ms, are renewed after a reconnect, and use `subscriptions/listen` on 2026 servers.',
  'RES-05': 'A tool lists resources across servers or of one, bounded and with a cursor.',
  'RES-06':
    'A tool reads a resource by uri, finding its server if only one has it; blobs go to files, and text is cut and wrapped like any result.',
  'RES-07':
    'When a server says that its tools changed, they are listed again after 250 ms and applied at the next turn.',
  'RES-08': 'When a server says that its resources or prompts changed, they are listed again in the same way.',
  'RES-09': 'Progress carries token, progress, total and message, and is throttled.',
  'RES-10': 'Log messages of a server are kept in its log, and their level can be set where the protocol allows it.',
  'RES-11':
    'Servers that ask for the sandbox state get it on every change, after every reconnect, and in `_meta` of calls if they read it there.',
  'RES-12':
    'A list ends after 100 pages, 2048 items, a repeated cursor or a cursor over 64 KiB, within one overall timeout.',

  // Auto-search and exposure
  'SRC-01': 'Tool search is `auto` by default and can be on, off or `auto:N`.',
  'SRC-02':
    'Search takes over when the tools need a tenth of the context (2.5 characters per token), and a margin keeps it from flapping.',
  'SRC-03': 'Search needs a context window of at least 32 000 tokens.',
  'SRC-04': 'Search is used only with models that call tools and opt in; others get the best matches loaded directly.',
  'SRC-05':
    '`mcp_search` finds tools by query, selection and limit, and `mcp_call` calls them for models that cannot load them.',
  'SRC-06':
    'The index follows every list change and ranks exact names first, then name, server, title, description and parameters by BM25; for a question that only reads, no tool that destroys ranks above a matching tool that reads.',
  'SRC-07':
    'A server is loaded, deferred or reached by a carrier tool (`exposure`); `alwaysLoad` excepts tools, and the hint of a server counts only under defer, with trusted hints and within `always_load_chars`.',

  // Events, status, commands
  'EVT-01': 'Every call emits one begin event with server, tool and call id.',
  'EVT-02': 'Every begin is followed by one end, also on error, abort and timeout, with a result of at most 1 MiB.',
  'EVT-03': 'Each change of state of a starting server is an event.',
  'EVT-04':
    'Each `apply()` ends with one event that lists the servers that are up and those that failed, leaving lazy ones out.',
  'EVT-05':
    'The status of a server tells its state, tool counts, transport, source, pid, protocol, breaker, next retry, stderr tail, login and a readable error.',
  'EVT-06': 'A UI gets a snapshot when it opens and events from then on, so it need not poll.',
  'EVT-07':
    '`getStats()` counts connected servers, tools in all, unique and per server, calls and failures, and reports the gateway mode.',
  'EVT-08': '`reload()` applies what changed, and `--hard` disconnects everything and discovers it anew.',
  'EVT-09': 'The host is handed the new snapshot through `onToolsChanged`.',
  'EVT-10': 'One server can be reconnected by name, from the CLI and from the library.',
  'EVT-11':
    'The CLI lists, shows, adds, removes, enables, disables, logs in and out, tests, diagnoses, imports and approves servers and shows their logs, all with `--json`.',
  'EVT-12':
    'Errors of loading and connecting are logged per server, and can be asked for: `failures()`, `diagnostics()`.',

  // Auth
  'AUT-01':
    'A server that demands a login starts OAuth with discovery, registration or a given client, PKCE and resource, through a loopback page or a pasted code.',
  'AUT-02':
    'Tokens are refreshed under a lock across processes, and a stale `invalid_grant` never deletes a newer token.',
  'AUT-03': 'Tokens are kept in the keychain, else in a 0600 file, or in the `TokenStore` of the host.',
  'AUT-04':
    'Tokens are kept per issuer, server URL, resource, client id and account, never by the name a repository gives the server.',
  'AUT-05': 'A 401 is reported as a needed login, or as a bad header when one was configured.',

  // Teardown
  'TDN-01':
    'Disconnecting a server drops all that belongs to it and takes away its own tools only, whatever their names look like.',
  'TDN-02': 'Disconnecting all closes every server, even if some fail to close, and nothing under way comes back.',
  'TDN-03':
    'Closing ends stdin, waits 2 s, terminates the process group, waits 1 s and kills it, deletes HTTP sessions, and takes 10 s at most.',
  'TDN-04':
    'No child process survives its host: `await using`, exit hooks, the Windows tree kill and stdin EOF for Docker see to it.',
  'TDN-05': 'Disconnecting takes tools, resources and prompts away, with an event for each.',

  // MCP server role
  'SRV-01':
    'The served agent reads, works and writes independently with a queue of 128, keeps its answers in order, and finishes its work when the input ends.',
  'SRV-02':
    'A tool of configurable name starts a conversation from a prompt, with optional model, folder, approval and sandbox, and answers with session id and response.',
  'SRV-03':
    'A second tool continues a conversation by its id, one message at a time, and an unknown id is an error result.',
  'SRV-04': 'The served agent answers initialize once, and a second one gets -32600.',
  'SRV-05': 'The served agent answers ping with `{}`.',
  'SRV-06': 'The served agent lists its two tools with output schema and annotations.',
  'SRV-07': 'A call to the served agent reports progress at least every 30 s and can be cancelled.',
  'SRV-08': 'The served agent answers the listing of resources and prompts, or says -32601, but is never silent.',
  'SRV-09':
    'The served agent advertises what it has: tools, resources and prompts if any, and `codex/sandbox-state` as an empty object.',
  'SRV-10': 'A sandbox state sent to the served agent tightens the policy of its sessions.',
  'SRV-11': 'Bad input gets -32600, -32601, -32602, -32603, -32700 or -32002 as fits, and no line ends the process.',
  'SRV-12': 'A served session asks its client for approval if the client can be asked, and denies at once if not.',

  // Failure table
  'ERR-01': 'When discovery fails the session starts without tools and with one error that says why.',
  'ERR-02': 'A server that does not start is skipped with a warning that shows the end of its stderr.',
  'ERR-03': 'A server that does not connect in time is recorded and retried with backoff, and the others go on.',
  'ERR-04':
    'A server whose tools cannot be listed stays connected, keeps its resources and prompts, and is asked again.',
  'ERR-05': 'A failure after the gate is an event and a line in the log.',
  'ERR-06': 'A server that drops while in use is reconnected, and its tools stay on offer.',
  'ERR-07': 'A failed call reaches the model as a result it can react to.',
  'ERR-08': 'A failing cache, resource list or prompt list is a warning and never fails a connection.',

  // Integration surface
  'INT-01':
    '`plexus/langchain` offers each tool as a `StructuredTool` with its JSON Schema untouched, and LangChain stays an optional peer.',
  'INT-02':
    'A sub-agent inherits the tools, none, or a list (`subagents`); it can only narrow them, and it starts no process of its own.',
  'INT-03':
    'The tools come in the form that the Vercel AI SDK, OpenAI and Anthropic expect, ready to stand beside built-in ones.',
  'INT-04': '`createRuntime()` and `discoverMCPServers()` are the public way in.',
  'INT-05': 'One runtime serves all sessions of a process and counts who uses it.',
  'INT-06': 'There is one package, and each part that can be used alone has a door of its own.',
  'INT-07': 'A catalogue of popular servers with verified names adds one of them in a single step.',
  'INT-08': 'The docs explain how Plexus works together with skills and several agents.',

  // Beyond the sources
  'EXT-01':
    'Protocol 2026-07-28 is spoken in full where a server knows it (discover, `_meta`, input_required, listen, ttlMs), and older versions elsewhere.',
  'EXT-02':
    'A server may ask by form or url, -32042 is retried after the visit, policy and hooks may answer, and a headless run declines.',
  'EXT-03':
    'Of the approval modes of server and tool the stricter holds, a destructive hint beats a read-only one, and a missing hint means ask.',
  'EXT-04': 'A grant is bound to the real path of the executable, its arguments, folder, environment and url.',
  'EXT-05': 'A tool whose name, description or schema changed since approval asks again and shows the difference.',
  'EXT-06': 'A call that may have run is never repeated blindly, and its result says that the outcome is unknown.',
  'EXT-07': 'Two processes never refresh the same login at once, and the loser keeps the token of the winner.',
  'EXT-08':
    'A server ends together with all its descendants on every platform, and is first asked politely by closing its stdin.',
  'EXT-09': 'On Windows commands are found by PATHEXT, quoted safely for cmd.exe, and npm shims are bypassed.',
  'EXT-10': 'A headless run exits non-zero when a `required` server is not ready, with a report of who is.',
  'EXT-11': 'A tool with a broken schema is repaired or set apart, and the other tools stay usable.',
  'EXT-12':
    'Within a turn the tools are frozen and in a fixed order, and the list is not rebuilt when nothing changed.',
  'EXT-13': 'Sessions and sub-agents share connections, and a child starts no server again.',
  'EXT-14': '`plexus doctor` shows command, exit code, stderr tail, timing, login and schema problems of each server.',
  'EXT-15':
    'Instructions of servers are labelled, can be switched off, and share a limited space fairly; while tools are searched for, they come with the first result that shows a tool of the server.',
  'EXT-16':
    'Descriptions are capped at 2048 bytes and schemas at 8 KiB, and control and zero-width characters are removed.',
  'EXT-17': 'A server that needs a login offers one `authenticate` tool, and that state is remembered for 15 minutes.',
  'EXT-18':
    'Over HTTP initialize and tool lists are retried after 250 and 1000 ms, up to 10 redirects stay on one origin, and OAuth bodies end at 1 MiB.',
  'EXT-19': '`plexus add` writes atomically, under a lock and with mode 0600, and keeps the comments of the file.',
  'EXT-20': 'Proxy, NO_PROXY, CA bundle and client certificate are honoured, each per server.',
  'EXT-21': 'Optional arguments that hold only a placeholder are left out of the call.',
  'EXT-22': 'Servers can be searched for and installed from the official registry.',
  'EXT-23': 'Directories of resources, skills of servers and `.mcpb` bundles can be used.',
  'EXT-24': 'A long call can run in the background as a task: as a client, for the served agent, and passed through.',
  'EXT-25': 'A server that lives inside the host process works like any other.',
  'EXT-26': 'Servers imported from other agents come with placeholders in place of their secrets.',
  'EXT-27': 'Each call leaves a telemetry span with server, tool, duration and kind of error.',
  'EXT-28': 'The traffic with a server can be recorded without secrets and replayed for a bug report.',
  'EXT-29':
    'Arguments are repaired by the schema alone and only where that is unambiguous; `outcome.meta.repaired` says so, and a value that fits is never touched.',
  'EXT-30':
    'A host can send `_meta` with a call; a short 429 wait is honoured within the deadline, a longer one is told with its time.',
  'EXT-31': 'Several accounts of one server are chosen by folder, without a second entry.',
  'EXT-32': 'Shared processes are keyed by definition and workspace: no client gets results from another worktree.',
  'EXT-33':
    'A gateway profile has its own address, which covers list, search, call, resources and prompts alike; single-server routes answer with true status codes.',
  'EXT-34':
    'The gateway can override a tool: its name, its description, pinned or hidden arguments; the lock pins the original.',
  'EXT-35':
    'A call of a tool marked `keep_running` survives its client: the same call of the same caller joins it or gets its result once.',
  'EXT-36': 'A question to a client that cannot ask goes to the inbox or is declined at once; it never hangs.',
  'EXT-37':
    'Every merged list carries the outcome of each server in `_meta`, and models have a status tool: a broken server is never silently zero.',
  'EXT-38': 'Names and counts fit the client: its own prefix, 64 characters, its tool limits.',
  'EXT-39':
    'MCP Apps survive aggregation; app-only tools are hidden from models, and the dashboard shows them for terminal agents.',
  'EXT-40':
    'Replicas behind a plain load balancer share sessions, inbox, quotas and tokens on Redis; a dead replica costs no wrong or doubled call.',
  'EXT-41':
    'An audit of who called what is chained and can be exported; quotas count per caller and tool and tell when they reset.',
  'EXT-42':
    'Behind a shared gateway each person logs in upstream for themselves; no token is passed through, and inbound OAuth is checked as a resource server.',
  'EXT-43': 'Skills over MCP are listed, verified, locked and aggregated.',
  'EXT-44': 'A start loads only the parts it needs: listing the tools of a server loads neither the SDK nor zod.',
  'EXT-45':
    '`plexus connect` and `plexus install` give all agents one gateway, however many start at once, and can be undone without a trace.',
} as const satisfies Record<string, string>;

export type RequirementId = keyof typeof requirements;
