// Owns the proof that a server is opened only when it may be, with what it may see, and as the host wants it started.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { neutralPlaces } from '../../../src/config/away-from-workspace.ts';
import { type AskInput, inputName } from '../../../src/config/inputs.ts';
import type { ListedServers } from '../../../src/config/lists.ts';
import type { LoadedConfig } from '../../../src/config/load.ts';
import { previewLaunch } from '../../../src/config/preview.ts';
import { plexusSchema } from '../../../src/config/schema.ts';
import { createProtocolCache } from '../../../src/connection/protocol-cache.ts';
import { SandboxNotifier } from '../../../src/connection/sandbox-state.ts';
import type { Session } from '../../../src/connection/session.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createMemoryStore, type Store } from '../../../src/kernel/store.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import type {
  Launch,
  Launcher,
  RemoteLaunch,
  Scope,
  ServerDefinition,
  StdioLaunch,
} from '../../../src/model/server.ts';
import { ServerApprovals } from '../../../src/servers/approve-server.ts';
import { createServerOpener, type OpenerDeps } from '../../../src/servers/open-server.ts';
import { createSessionOpener, type SessionDeps } from '../../../src/servers/open-session.ts';
import { createServerResolver, type ResolverDeps } from '../../../src/servers/resolve-server.ts';
import { createRedactor, KnownSecrets } from '../../../src/shaping/redact.ts';
import type { Secrets } from '../../../src/store/secrets.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import { createFakeServer } from '../../../src/testing/fake-server.ts';
import type { ApprovalAnswer, ApprovalRequest, Approve } from '../../../src/trust/approval.ts';
import { createServerApproval } from '../../../src/trust/server-approval.ts';
import { faulty } from '../../servers/faulty.ts';
import { eventually, pidsIn, temporaryFile } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { defaultSettings } from '../config/folder.ts';
import { configOf } from './registry.ts';

/** Runners of the person's own servers are started in a folder below it. */
const HOME = temporaryFile('home');
mkdirSync(HOME);
const nowhere: Launcher = () => ({ command: '/no/such/program', args: [] });

interface World
  extends Partial<
    Pick<OpenerDeps, 'clientInfo' | 'handlers' | 'runtimeId' | 'sandbox'> &
      Pick<ResolverDeps, 'askInput' | 'launcher' | 'secrets' | 'clock'> &
      Pick<SessionDeps, 'logs' | 'protocolCache' | 'emit'>
  > {
  readonly approve?: Approve;
  readonly env?: Record<string, string>;
  readonly config?: Partial<LoadedConfig>;
  readonly store?: Store;
}

/** Nobody approves or answers, and what would be started is written down instead of started: a test changes what it is about. */
function setUp({ env = {}, config = {}, store, ...change }: World = {}) {
  const clock = change.clock ?? createFakeClock();
  const environment = { cwd: '/work', home: HOME, platform: 'linux', env } as const;
  const seen = {
    requests: [] as ApprovalRequest[],
    launches: [] as Parameters<Launcher>[0][],
    warnings: [] as (readonly [string, readonly string[]])[],
    errors: [] as unknown[],
    answers: new Map<string, string>(),
  };
  const secrets: Secrets = {
    get: async (name) => seen.answers.get(name),
    set: async (name, value) => void seen.answers.set(name, value),
    delete: async (name) => void seen.answers.delete(name),
    lock: async () => async () => undefined,
  };
  const knownSecrets = new KnownSecrets();
  const redactor = createRedactor(knownSecrets);
  const { approve = async () => 'no', launcher = nowhere } = change;
  const gate = createServerApproval(environment, store ?? createMemoryStore(clock), clock);
  const onError = (error: unknown) => void seen.errors.push(error);
  const configNow = () => configOf(config);
  const opener = createServerOpener({
    environment,
    sharesRemote: false,
    logins: { signerFor: async () => undefined },
    approvals: new ServerApprovals({
      gate,
      approve: (request, options) => {
        seen.requests.push(request);
        return approve(request, options);
      },
      preview: (definition) => previewLaunch(definition, environment, secrets),
      clock,
      onError,
    }),
    resolver: createServerResolver({
      environment,
      config: configNow,
      secrets: change.secrets ?? secrets,
      askInput: change.askInput,
      launcher: (launch) => {
        seen.launches.push(launch);
        return launcher(launch);
      },
      knownSecrets,
      onResolved: (server, { warnings }) => void seen.warnings.push([server, warnings]),
      elsewhere: undefined,
      clock,
      onError,
    }),
    openSession: createSessionOpener({
      environment,
      settingsOf: () => undefined,
      connectConcurrency: () => configNow().settings.connectConcurrency,
      installTimeoutMs: () => configNow().settings.startup.installTimeoutMs,
      installs: new Map(),
      closing: new AbortController().signal,
      protocolCache:
        change.protocolCache ??
        createProtocolCache({ store: createMemoryStore(clock), seal: async (text) => text, clock, onError }),
      logs: change.logs,
      clientInfo: change.clientInfo,
      redactor,
      clock,
      emit: change.emit ?? (() => undefined),
    }),
    clientInfo: change.clientInfo,
    handlers: change.handlers ?? {},
    sandbox: change.sandbox ?? new SandboxNotifier(),
    runtimeId: change.runtimeId ?? 'test',
    onError,
  });
  return {
    ...seen,
    gate,
    clock,
    environment,
    known: knownSecrets,
    open: (definition: ServerDefinition, signal = new AbortController().signal) => opener.open(definition, signal),
  };
}

const stdio = (change: Partial<StdioLaunch> = {}): StdioLaunch => ({
  ...{ kind: 'stdio', command: 'x', args: [], env: {}, inheritEnv: 'safe' },
  ...change,
});
/** Everything is filled in, and then nothing is reached. */
const unreached: Partial<LoadedConfig> = { lists: [{ allowlist: ['https://nobody.example'], denylist: [] }] };
/** An address at which nobody is. */
const nobody = (change: Partial<RemoteLaunch> = {}): RemoteLaunch => ({
  ...{ kind: 'ws', url: 'ws://127.0.0.1:1/', headers: {} },
  ...change,
});
const http = (change: Partial<RemoteLaunch> = {}): RemoteLaunch => ({
  ...{ kind: 'http', url: 'https://a.example/mcp', headers: {} },
  ...change,
});

function define(scope: Scope, launch: Launch): ServerDefinition {
  return {
    name: 'it',
    launch,
    settings: { ...defaultSettings, startupTimeoutMs: 5_000 },
    provenance: {
      scope,
      ...(scope === 'project' && { inWorkspace: true }),
      file: '/work/.mcp.json',
      key: ['mcpServers', 'it'],
    },
  };
}

/** The failure as its row: code and data. */
async function failureOf(work: Promise<unknown>): Promise<[code: string, data: unknown]> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RuntimeError)) throw new Error(`no RuntimeError but ${String(error)}`);
  return [error.code, error.data];
}

/** What the process behind a session sees, by its own word. */
async function environmentOf(session: Session): Promise<Record<string, string | undefined>> {
  const answer = await session.request('tools/call', { name: 'env', arguments: {} });
  if (answer.kind !== 'result') throw new Error(`no result but ${answer.kind}`);
  const { content } = answer.result as { content: [{ text: string }] };
  return JSON.parse(content[0].text);
}

const codeOf = async (work: Promise<unknown>) => (await failureOf(work))[0];
const answering =
  (...answers: ApprovalAnswer[]): Approve =>
  async () =>
    answers.shift() ?? 'no';

const asking = stdio({ command: 'npx', args: ['-y', 'pkg', '${TOKEN}'], env: { KEY: '${API_KEY}', MODE: 'fast' } });
const host = { TOKEN: 't0', API_KEY: 'k1', OTHER: 'o' };

describe('a process from the workspace', () => {
  const told = {
    server: 'it',
    command: "KEY='${API_KEY}' MODE=fast npx -y pkg '${TOKEN}'",
    variables: ['API_KEY', 'TOKEN'],
    file: '/work/.mcp.json',
  };

  verifies(
    ['TRU-01', 'TRU-06'],
    'is not started when the person says no, having been told what it runs and reads',
    async () => {
      const { open, requests, launches, warnings } = setUp({ env: host });
      expect(await failureOf(open(define('project', asking)))).toEqual(['SERVER_UNTRUSTED', told]);
      expect(requests).toEqual([{ kind: 'server', ...told }]);
      expect([launches, warnings]).toEqual([[], []]);
    },
  );

  verifies('TRU-01', 'leaves no trace on the machine before it is approved', async () => {
    const trace = temporaryFile('trace');
    const { open } = setUp({ launcher: ({ command, args }) => ({ command, args }), clock: systemClock });
    const touching = stdio({ command: '/bin/sh', args: ['-c', `echo > ${trace}`], env: { A: `!echo > ${trace}` } });
    expect(await codeOf(open(define('project', touching)))).toBe('SERVER_UNTRUSTED');
    expect(existsSync(trace)).toBe(false);
  });

  verifies(
    ['TRU-01', 'EXT-04'],
    'that has changed since it was approved asks again, and says what is different',
    async () => {
      const { open, gate, requests } = setUp({ env: host });
      await gate.approve(define('project', { ...asking, args: ['-y', 'pkg'], env: { ...asking.env, MODE: 'slow' } }));
      const changes = ['argument 3 was added: (hidden)', 'variable MODE has another value'];
      const [code, data] = await failureOf(open(define('project', asking)));
      expect([code, data]).toEqual(['SERVER_UNTRUSTED', { ...told, changes: expect.arrayContaining(changes) }]);
      expect(requests).toEqual([{ kind: 'server', ...told, changes: expect.arrayContaining(changes) }]);
    },
  );

  verifies('TRU-06', 'gets exactly the variables that were told with the question', async () => {
    const { open, launches, warnings } = setUp({ env: host, approve: answering('once') });
    expect(await codeOf(open(define('project', asking)))).toBe('SPAWN_FAILED');
    expect(launches).toEqual([
      { ...asking, server: 'it', args: ['-y', 'pkg', 't0'], env: { KEY: 'k1', MODE: 'fast' } },
    ]);
    expect(warnings).toEqual([['it', []]]);
  });

  test('approved once asks each time; for the session, until it changes; always, also later and with the same variables', async () => {
    const kinds = async (requests: readonly ApprovalRequest[], ...opened: Promise<unknown>[]) => {
      const codes = [];
      for (const each of opened) codes.push(await codeOf(each));
      return [codes, requests.length];
    };
    const definition = define('project', asking);
    const once = setUp({ approve: answering('once', 'no') });
    await codeOf(once.open(definition));
    expect(await kinds(once.requests, once.open(definition))).toEqual([['SERVER_UNTRUSTED'], 2]);

    const session = setUp({ approve: answering('session', 'no') });
    await codeOf(session.open(definition));
    expect(await kinds(session.requests, session.open(definition))).toEqual([['SPAWN_FAILED'], 1]);
    const changed = define('project', { ...asking, args: [] });
    expect(await kinds(session.requests, session.open(changed))).toEqual([['SERVER_UNTRUSTED'], 2]);

    const store = createMemoryStore(createFakeClock());
    const always = setUp({ approve: answering('always'), store });
    await codeOf(always.open(definition));
    const later = setUp({ env: host, store });
    expect(await kinds(later.requests, later.open(definition))).toEqual([['SPAWN_FAILED'], 0]);
    expect(later.launches.map(({ env }) => env)).toEqual([{ KEY: 'k1', MODE: 'fast' }]);
    expect((await later.gate.approvals('it')).map(({ grants }) => grants)).toEqual([['API_KEY', 'TOKEN']]);
  });

  test('is not started by a host that throws, answers nonsense or says nothing', async () => {
    const failure = new Error('no terminal');
    const throwing = setUp({ approve: () => Promise.reject(failure) });
    expect(await codeOf(throwing.open(define('project', asking)))).toBe('SERVER_UNTRUSTED');
    expect(throwing.errors).toEqual([failure]);
    const odd = setUp({ approve: (async () => 'yes') as unknown as Approve });
    expect(await codeOf(odd.open(define('project', asking)))).toBe('SERVER_UNTRUSTED');
    expect(odd.errors).toHaveLength(1);
    const clock = createFakeClock();
    const silent = setUp({ clock, approve: () => new Promise(() => undefined) });
    const opened = codeOf(silent.open(define('project', asking)));
    await clock.advance(limits.approvalMs);
    expect([await opened, clock.pending()]).toEqual(['SERVER_UNTRUSTED', 0]);
  });

  test('starts although the approval cannot be remembered, and that is told', async () => {
    const failure = new Error('the disk is full');
    const store: Store = { ...createMemoryStore(createFakeClock()), compareAndSet: () => Promise.reject(failure) };
    const { open, errors } = setUp({ approve: answering('always'), store });
    expect(await codeOf(open(define('project', asking)))).toBe('SPAWN_FAILED');
    expect(errors).toEqual([failure]);
    expect(await codeOf(open(define('project', asking)))).toBe('SPAWN_FAILED');
  });

  test('is not started when nobody wants it any more while the person thinks', async () => {
    const clock = createFakeClock();
    const { open, launches } = setUp({ clock, approve: () => new Promise(() => undefined) });
    const controller = new AbortController();
    const opened = open(define('project', asking), controller.signal);
    const reason = new Error('closing');
    setImmediate(() => controller.abort(reason));
    await expect(opened).rejects.toBe(reason);
    expect([launches, clock.pending()]).toEqual([[], 0]);
  });

  verifies('TRU-01', 'that is approved runs, and one of the person needs no approval', async () => {
    const launcher: Launcher = ({ command, args }) => ({ command, args });
    for (const scope of ['project', 'user'] as const) {
      const { open, requests } = setUp({ approve: answering('once'), launcher, clock: systemClock });
      const session = await open(define(scope, stdio({ ...faulty(), cwd: '/' })));
      onTestFinished(() => session.close());
      expect([session.pid, requests.length]).toEqual([expect.any(Number), scope === 'project' ? 1 : 0]);
      await session.close();
    }
  });
});

describe('a server that may be reached but is not trusted', () => {
  const entry = http({
    url: 'https://${TENANT}.example/${input:path}/${PLAIN}',
    headers: { Authorization: 'Bearer ${API_KEY}', 'X-Pin': '${input:pin}' },
    env: { PLAIN: 'p' },
  });

  verifies(
    ['TRU-02', 'TRU-06'],
    'gets no variable and no answer of the person’s, not even an old one, and nobody is asked',
    async () => {
      const asked: string[] = [];
      const askInput: AskInput = async ({ id }) => String(asked.push(id));
      const { open, requests, answers, warnings } = setUp({
        env: { ...host, TENANT: 'acme' },
        askInput,
        config: unreached,
      });
      answers.set(inputName({ file: '/work/.mcp.json' }, 'pin'), '1234');
      expect(await codeOf(open(define('project', entry)))).toBe('SERVER_DENIED');
      const lacks = (name: string) =>
        `it asks for your variable ${name} and does not get it; give it with: plexus approve it --allow-env ${name}`;
      expect(warnings).toEqual([
        [
          'it',
          [
            lacks('API_KEY'),
            lacks('TENANT'),
            'the input "pin" was not given, so it is empty',
            'the input "path" was not given, so it is empty',
          ],
        ],
      ]);
      expect([asked, requests]).toEqual([[], []]);
    },
  );

  verifies('TRU-06', 'gets, once approved, the variables that were given with it and no other', async () => {
    const { open, gate, requests, warnings } = setUp({
      env: { ...host, TENANT: 'acme' },
      askInput: async ({ id }) => `the-${id}`,
      // The lists see what it was filled in with.
      config: { lists: [{ allowlist: [], denylist: ['https://acme.example/the-path/p'] }] },
    });
    await gate.approve(define('project', entry), ['TENANT']);
    expect(await codeOf(open(define('project', entry)))).toBe('SERVER_DENIED');
    expect(warnings).toEqual([
      [
        'it',
        ['it asks for your variable API_KEY and does not get it; give it with: plexus approve it --allow-env API_KEY'],
      ],
    ]);
    expect(requests).toEqual([]);
  });

  verifies('TRU-06', 'is never given a credential for its url or headers by a yes: it does not ask', async () => {
    const { open, requests, gate } = setUp({ env: host, approve: answering('always'), config: unreached });
    const credential = http({ headers: { Authorization: '${API_KEY}' }, bearerTokenEnvVar: 'TOKEN' });
    await failureOf(open(define('project', credential)));
    expect([requests, await gate.approvals('it')]).toEqual([[], []]);
  });

  test('may be a process that the person brought here: it starts with nothing of theirs', async () => {
    const { open, requests, launches } = setUp({ env: host });
    expect(await codeOf(open(define('imported', asking)))).toBe('SPAWN_FAILED');
    expect(requests).toEqual([]);
    const { folder, shell } = neutralPlaces({ home: HOME, platform: 'linux', env: {} });
    expect(launches).toEqual([
      {
        ...asking,
        server: 'it',
        args: ['--prefix', folder, '--script-shell', shell, '-y', 'pkg', ''],
        env: { KEY: '', MODE: 'fast', PLEXUS_WORKSPACE: '/work' },
        cwd: folder,
      },
    ]);
  });
});

describe('the lists', () => {
  const lists = (change: Partial<ListedServers>): Partial<LoadedConfig> => ({
    lists: [{ allowlist: [], denylist: [], ...change }],
  });

  verifies(['TRU-03', 'TRU-04'], 'are asked again with the address filled in', async () => {
    const env = { HOST: 'evil.example' };
    const entry = define('user', http({ url: 'https://${HOST}/mcp' }));
    const denied = setUp({ env, config: lists({ denylist: ['https://evil.example'] }) });
    expect(await failureOf(denied.open(entry))).toEqual([
      'SERVER_DENIED',
      { server: 'it', because: 'mcp_server_denylist names the address https://evil.example' },
    ]);
    const allowing = setUp({ env, config: lists({ allowlist: ['https://good.example'] }) });
    expect(await failureOf(allowing.open(entry))).toEqual([
      'SERVER_DENIED',
      { server: 'it', because: 'mcp_server_allowlist does not name it' },
    ]);
  });

  verifies(['TRU-03', 'TRU-04'], 'are asked again with the command filled in', async () => {
    const env = { TOOL: 'curl' };
    const entry = define('user', stdio({ command: '${TOOL}', args: ['${TOOL}'] }));
    for (const change of [{ denylist: [{ command: 'curl' }] }, { allowlist: [{ command: 'npx' }] }]) {
      const { open, launches } = setUp({ env, config: lists(change) });
      expect([await codeOf(open(entry)), launches]).toEqual(['SERVER_DENIED', []]);
    }
    const { open } = setUp({ env, config: lists({ allowlist: [{ command: ['curl', 'curl'] }] }) });
    expect(await codeOf(open(entry))).toBe('SPAWN_FAILED');
  });
});

describe('the launcher of the host', () => {
  verifies('TRU-05', 'decides how a process is started, with everything filled in', async () => {
    const launcher: Launcher = ({ command, args, env }) => ({
      command: '/usr/bin/env',
      args: ['SANDBOX=yes', command, ...args],
      env: { ...env, ADDED: 'too' },
      cwd: '/',
    });
    const { open, launches } = setUp({ env: { HELLO: 'hi', BIN: process.execPath }, launcher, clock: systemClock });
    const { args } = faulty('--retry-after');
    const entry = stdio({ command: '${BIN}', args: [...args, '${HELLO}'], env: { A: '${HELLO}' }, cwd: '/tmp' });
    const session = await open(define('user', entry));
    onTestFinished(() => session.close());
    expect(launches).toEqual([
      { ...entry, server: 'it', command: process.execPath, args: [...args, 'hi'], env: { A: 'hi' } },
    ]);
    const { A, ADDED, SANDBOX, HELLO } = await environmentOf(session);
    expect({ A, ADDED, SANDBOX, HELLO }).toEqual({ A: 'hi', ADDED: 'too', SANDBOX: 'yes', HELLO: undefined });
    await session.close();
  });

  verifies('TRU-05', 'is asked for no server that is not a process', async () => {
    const { open, launches } = setUp();
    const server = createFakeServer({});
    const session = await open(define('host', { kind: 'in-process', serve: server.entry.serve }));
    await session.close();
    expect(await codeOf(open(define('user', nobody())))).toBe('CONNECTION_LOST');
    expect(launches).toEqual([]);
  });

  test('that fails fails the opening, and nothing is started', async () => {
    const failure = new Error('no sandbox here');
    const { open } = setUp({
      launcher: () => {
        throw failure;
      },
    });
    await expect(open(define('user', stdio()))).rejects.toBe(failure);
  });
});

describe('what an entry of the person’s own needs', () => {
  test('is told when it is missing, and the server is not started', async () => {
    const { open, launches } = setUp();
    expect(await failureOf(open(define('user', stdio({ args: ['${GONE}'] }))))).toEqual([
      'ENV_MISSING',
      { server: 'it', variable: 'GONE' },
    ]);
    expect(await failureOf(open(define('user', stdio({ args: ['${input:pin}'] }))))).toEqual([
      'INPUT_MISSING',
      { server: 'it', input: 'pin' },
    ]);
    expect(launches).toEqual([]);
  });

  verifies('TRU-07', 'is a warning where the setting says so', async () => {
    const settings = plexusSchema.parse({ unresolvedEnv: 'empty' });
    const { open, warnings } = setUp({ config: { settings } });
    await failureOf(open(define('user', stdio({ args: ['${GONE}'] }))));
    await failureOf(open(define('user', stdio())));
    expect(warnings).toEqual([
      ['it', ['the variable GONE is not set, so it is empty']],
      ['it', []],
    ]);
  });

  verifies('CFG-21', 'is asked of a person as its file declares it, once, and remembered', async () => {
    const asked: unknown[] = [];
    const askInput: AskInput = async (request) => {
      asked.push(request);
      return 'a1';
    };
    const declared = { id: 'pin', description: 'Your pin', password: false, options: ['a1', 'a2'] };
    const { open, launches, answers } = setUp({ askInput });
    const entry = {
      ...define('user', stdio({ args: ['${input:pin}', '${input:undeclared}'] })),
      inputs: [declared],
    };
    for (const _ of [1, 2]) await failureOf(open(entry));
    expect(launches.map(({ args }) => args)).toEqual([
      ['a1', 'a1'],
      ['a1', 'a1'],
    ]);
    expect(asked).toEqual([
      { ...declared, server: 'it' },
      { id: 'undeclared', password: true, server: 'it' },
    ]);
    expect([...answers.values()]).toEqual(['a1', 'a1']);
  });

  verifies(
    'CFG-21',
    'is printed by a command once, however often it is opened, and tried again after a failure',
    async () => {
      const log = temporaryFile('log');
      const { PATH = '' } = process.env;
      const { open, launches } = setUp({ env: { PATH } });
      const good = define(
        'user',
        stdio({ env: { A: `!echo x >> ${log}; echo value`, B: `!echo x >> ${log}; echo value` } }),
      );
      await Promise.all([1, 2].map(() => failureOf(open(good))));
      await failureOf(open(good));
      expect(launches.map(({ env }) => env)).toEqual([1, 2, 3].map(() => ({ A: 'value', B: 'value' })));
      expect(readFileSync(log, 'utf8')).toBe('x\n');
      const bad = define('user', stdio({ env: { A: `!echo y >> ${log}; exit 1` } }));
      for (const _ of [1, 2]) expect(await codeOf(open(bad))).toBe('CONFIG_INVALID');
      expect(readFileSync(log, 'utf8')).toBe('x\ny\ny\n');
    },
  );

  verifies('CFG-21', 'is printed by a command in the home folder, and by a helper anew each time', async () => {
    const { PATH = '' } = process.env;
    const count = temporaryFile('count');
    const { open, launches } = setUp({ env: { PATH } });
    await failureOf(open(define('user', stdio({ env: { FOLDER: '!pwd' } }))));
    expect(launches.map(({ env }) => env['FOLDER'])).toEqual([HOME]);
    const helper = `echo x >> ${count}; echo '{}'`;
    for (const _ of [1, 2]) await failureOf(open(define('user', http({ headersHelper: helper }))));
    expect(readFileSync(count, 'utf8')).toBe('x\nx\n');
  });

  verifies('CFG-19', 'is filled in anew each time; the definition stays as it is written', async () => {
    const env = { TOKEN: 'old' };
    const { open, launches } = setUp({ env });
    const definition = Object.freeze(define('user', Object.freeze(stdio({ args: ['${TOKEN}'] }))));
    await failureOf(open(definition));
    env.TOKEN = 'new';
    await failureOf(open(definition));
    expect(launches.map(({ args }) => args)).toEqual([['old'], ['new']]);
    expect(definition.launch).toEqual(stdio({ args: ['${TOKEN}'] }));
  });
});

describe('the line in which servers wait to be opened', () => {
  const [first, second] = ['first', 'second'].map((name) => ({ ...define('user', stdio()), name })) as [
    ServerDefinition,
    ServerDefinition,
  ];

  /** One at a time, by a clock that stands still. */
  function setUpLine(flags: Record<string, string[]>) {
    const pids = temporaryFile('pids');
    const settings = plexusSchema.parse({ connectConcurrency: { stdio: 1 } });
    const launcher: Launcher = ({ server }) => ({ ...faulty('--pid-file', pids, ...(flags[server] ?? [])), cwd: '/' });
    const { open, clock } = setUp({ launcher, clock: createFakeClock(), config: { settings } });
    const stop = new AbortController();
    const openings = [first, second].map((definition) => open(definition, stop.signal));
    const ended = Promise.allSettled(openings);
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    onTestFinished(async () => {
      stop.abort();
      while (!isOver) await (clock as FakeClock).advance(100);
      for (const each of await ended) if (each.status === 'fulfilled') await each.value.close();
    });
    return { clock: clock as FakeClock, openings, started: () => pidsIn(pids).length };
  }

  verifies('LIF-08', 'is left by a server that does not answer after 250 ms', async () => {
    const { clock, started } = setUpLine({ first: ['--fault=hang', '--at=any'] });
    await eventually(() => started() === 1);
    await clock.advance(limits.slotMs - 1);
    expect(started()).toBe(1);
    await clock.advance(1);
    await eventually(() => started() === 2);
  });

  verifies('LIF-08', 'is left with the first answer, also by a server that says nothing after it', async () => {
    const { clock, started } = setUpLine({ first: ['--fault=hang', '--at=initialize', '--after=1'] });
    await eventually(() => started() === 2);
    expect(clock.now()).toBe(0);
  });

  verifies('LIF-08', 'is left by any other once it is open', async () => {
    const { openings, started } = setUpLine({});
    const sessions = await Promise.all(openings);
    expect([started(), new Set(sessions.map(({ pid }) => pid)).size]).toEqual([2, 2]);
  });
});

test('a server inside the host is opened, and asks nobody', async () => {
  const server = createFakeServer({ greet: { run: () => 'hello' } });
  const { open, requests, warnings } = setUp();
  const session = await open(define('host', { kind: 'in-process', serve: server.entry.serve }));
  expect(await session.request('tools/list')).toMatchObject({ kind: 'result', result: { tools: [{ name: 'greet' }] } });
  await session.close();
  expect([requests, warnings]).toEqual([[], [['it', []]]]);
});

describe('what is filled in', () => {
  test('lists are final once everything is filled in: text that only looks like a placeholder evades none', async () => {
    const lists = [
      { allowlist: [{ command: ['npx', 'good'] }, 'https://good.example'], denylist: ['https://evil.example'] },
    ];
    const entries = [
      http({ url: 'https://evil.example/?${${A}}', env: { A: 'B' } }),
      stdio({ command: 'npx', args: ['${${A}}'], env: { A: 'B' } }),
      stdio({ command: '${${A}}', env: { A: 'B' } }),
    ];
    for (const entry of entries) {
      const { open, launches } = setUp({ config: { lists } });
      expect([await codeOf(open(define('user', entry))), launches]).toEqual(['SERVER_DENIED', []]);
    }
    const settings = plexusSchema.parse({ unresolvedEnv: 'literal' });
    const { open } = setUp({ config: { lists, settings } });
    expect(await codeOf(open(define('user', http({ url: 'https://evil.example/${GONE}' }))))).toBe('SERVER_DENIED');
  });

  test('is let go when nobody wants it any more while a person is asked for an input, or a command runs', async () => {
    const { PATH = '' } = process.env;
    for (const entry of [stdio({ args: ['${input:a}'] }), stdio({ env: { A: '!sleep 600' } })]) {
      const { open } = setUp({ env: { PATH }, askInput: () => new Promise(() => undefined) });
      const controller = new AbortController();
      const opened = open(define('user', entry), controller.signal);
      const reason = new Error('closing');
      setImmediate(() => controller.abort(reason));
      await expect(opened).rejects.toBe(reason);
    }
  });

  test('a headersHelper runs each time its server is opened', async () => {
    const log = temporaryFile('log');
    const { PATH = '' } = process.env;
    const { open } = setUp({ env: { PATH }, config: unreached });
    for (const _ of [1, 2]) await failureOf(open(define('user', http({ headersHelper: `echo x >> ${log}; echo {}` }))));
    expect(readFileSync(log, 'utf8')).toBe('x\nx\n');
  });

  test('no failure repeats what an address was filled in with', async () => {
    const { open } = setUp({ env: { KEY: 's3cret' } });
    const failure = await failureOf(open(define('user', nobody({ url: 'ws://127.0.0.1:1/?k=${KEY}' }))));
    expect(JSON.stringify(failure)).not.toContain('s3cret');
  });
});

describe('a secret that is filled in', () => {
  verifies('TRU-08', 'is known from then on, wherever in the entry it stands, and what is none is not', async () => {
    const { open, known } = setUp({
      env: { GH_TOKEN: 'from-the-host-1', REGION: 'eu-central-1' },
      config: unreached,
    });
    const env = { A: '${GH_TOKEN}', STAGE: 'production-like', REGION: '${REGION}', CMD: '!echo printed-value' };
    const args = ['--api-key', 'given-as-argument', 'postgres://u:pass-in-url@h/d'];
    await expect(open(define('user', stdio({ env, args })))).rejects.toThrow();
    const { known: redact } = createRedactor(known);
    const given = 'from-the-host-1 printed-value given-as-argument pass-in-url production-like eu-central-1';
    expect(redact(given)).toBe('[GH_TOKEN] [CMD] [api-key] [password] production-like eu-central-1');
  });

  verifies('TRU-08', 'is known by the header or the parameter that it fills, whatever its name', async () => {
    const env = {
      ...{ MYVAR: 'correct-horse', OTHER: 'battery-staple', HOST_KEY: 'Small-Talk-9', AWS_REGION: 'eu-central-1' },
      ...{ ORG: 'acme-widgets', HOME: '/home/somebody', STAGE: 'production-like' },
    };
    const { open, known } = setUp({ env, config: unreached });
    const url = 'https://${HOST_KEY}.example/${STAGE}/mcp?k=${OTHER}&project=${ORG}&r=${AWS_REGION}&plain=not-a-secret';
    const headers = {
      ...{ 'X-K': '${MYVAR}', 'X-Pair': 'a=${MYVAR};b=2', 'X-Region': '${AWS_REGION}', 'X-Home': '${HOME}' },
      ...{ 'X-Answer': 'Id ${GONE:-by-default}', 'X-Literal': 'as-it-is-written' },
    };
    await expect(open(define('user', http({ url, headers })))).rejects.toThrow();
    const { known: redact } = createRedactor(known);
    expect(redact('correct-horse battery-staple a=correct-horse;b=2 by-default small-talk-9')).toBe(
      '[MYVAR] [OTHER] [X-Pair] [X-Answer] [HOST_KEY.host]',
    );
    const plain = 'eu-central-1 acme-widgets /home/somebody production-like not-a-secret as-it-is-written';
    expect(redact(plain)).toBe(plain);
  });

  verifies('TRU-08', 'is not in what is quoted of a server, not even where the quote was cut', async () => {
    const { open } = setUp({
      clock: systemClock,
      launcher: (launch) => launch,
      env: { PATH: process.env['PATH'] ?? '' },
    });
    const SECRET = 'hush-hush-0123456789';
    const filler = 'x'.repeat(limits.stderrQuoteChars - SECRET.length / 2);
    const script = `process.stderr.write(process.env.API_KEY + '${filler}', () => process.exit(3))`;
    const launch = stdio({ command: process.execPath, args: ['-e', script], env: { API_KEY: SECRET } });
    const error: unknown = await open(define('user', launch)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RuntimeError);
    expect(String(error)).toContain('xxx');
    expect(String(error)).not.toMatch(/[0-9]{4}x|hush/);
  });
});
