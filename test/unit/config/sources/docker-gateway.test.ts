// Owns the proof of when Docker's gateway is a server, and of the diagnostics when it cannot be. No Docker engine is available
// here: the `docker` of these tests is a stand-in (`stand-in-docker.ts`), a real program on the path that answers as the
// documented command line does and runs a real MCP server as the gateway.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { LoadOptions } from '../../../../src/config/discover.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { type Resolving, resolveLaunch } from '../../../../src/config/resolve.ts';
import { createDockerDetector } from '../../../../src/config/sources/docker-gateway.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../../../src/index.ts';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { limits } from '../../../../src/model/limits.ts';
import type { ServerDefinition } from '../../../../src/model/server.ts';
import { createFakeClock, type FakeClock } from '../../../../src/testing/fake-clock.ts';
import { eventually, isRunning, pidsOnce } from '../../../servers/processes.ts';
import { verifies } from '../../../verifies.ts';
import { waitFor } from '../../../wait-for.ts';
import {
  createFolder,
  defaultSettings,
  environment,
  type Files,
  messagesOf,
  SYSTEM,
  servers,
  USER,
} from '../folder.ts';
import { createDocker, type Docker, type StandIn, writeDocker } from './stand-in-docker.ts';

const gateway = (word: string) => `[plexus]\ngateway = "${word}"\n`;
const namesOf = (definitions: readonly ServerDefinition[]) => definitions.map(({ name }) => name);

/** Without this, the tests would find a Docker that is installed on the machine. */
const detectorOf = (clock = systemClock) => createDockerDetector(clock, () => []);

/** A machine with a docker on its PATH, or with none, and none in the usual places. */
async function setUp(standIn: StandIn | undefined, clock = systemClock) {
  const docker = standIn && (await createDocker(standIn));
  const detector = detectorOf(clock);
  const env = { PATH: [docker?.folder ?? '/no/such/folder', '/no/other/folder'].join(':') };
  const load = async (files: Files, change: Partial<LoadOptions> = {}) =>
    loadConfig({ ...environment(await createFolder(files)), env, docker: detector, ...change });
  return { docker: docker as Docker, detector, env, load, environment: { ...environment('/work'), env } };
}

const definition: ServerDefinition = {
  name: 'docker-gateway',
  launch: {
    kind: 'stdio',
    command: 'docker',
    args: ['mcp', 'gateway', 'run'],
    env: {},
    inheritEnv: [
      'DOCKER_HOST',
      'DOCKER_CONTEXT',
      'DOCKER_CONFIG',
      'DOCKER_TLS_VERIFY',
      'DOCKER_CERT_PATH',
      'DOCKER_API_VERSION',
      'XDG_RUNTIME_DIR',
    ],
  },
  settings: {
    ...defaultSettings,
    description: "Docker's MCP gateway: the servers that are switched on in Docker's MCP Toolkit.",
    lifecycle: 'lazy',
    idleStopMs: 300_000,
  },
  provenance: { scope: 'user', provider: 'docker', key: ['plexus', 'gateway'] },
};

describe('gateway = "auto", which is the default,', () => {
  verifies('TRN-06', 'is one lazy local server where no server is configured and Docker is ready', async () => {
    const { load } = await setUp({});
    const loaded = await load({});
    expect(loaded.definitions).toEqual([definition]);
    expect(loaded.diagnostics).toEqual([]);
  });

  verifies('TRN-06', 'is nothing, and asks nothing, where any server is configured, even one that is off', async () => {
    const { docker, load } = await setUp({});
    const off = '[mcp_servers.a]\ncommand = "x"\nenabled = false\n';
    for (const files of [{ '.mcp.toml': servers('a') }, { [USER]: off }, { [USER]: '[mcp_servers.a]\ncommand = 5\n' }])
      expect(namesOf((await load(files)).definitions)).not.toContain('docker-gateway');
    expect(namesOf((await load({}, { servers: { a: { command: 'x' } } })).definitions)).toEqual(['a']);
    expect(await docker.asked()).toEqual([]);
  });

  verifies('TRN-06', 'is nothing beside a file that cannot be read, which may have said anything', async () => {
    const { load } = await setUp({});
    expect((await load({ [USER]: '[' })).definitions).toEqual([]);
  });

  const unready: Record<string, StandIn | undefined> = {
    'there is no docker': undefined,
    'docker has no command for it': { mcp: 'absent' },
    'its daemon is down': { daemon: 'down' },
  };
  for (const [why, standIn] of Object.entries(unready)) {
    verifies('TRN-06', `is nothing, without a word, where ${why}`, async () => {
      const { definitions, diagnostics } = await (await setUp(standIn)).load({});
      expect([definitions, diagnostics]).toEqual([[], []]);
    });
  }
});

describe('gateway = "on"', () => {
  verifies(['TRN-06', 'TRN-12'], 'is one server among the others', async () => {
    const { load } = await setUp({});
    const loaded = await load({ [USER]: gateway('on') + servers('a', 'z') });
    expect(namesOf(loaded.definitions)).toEqual(['a', 'docker-gateway', 'z']);
    expect(loaded.definitions[1]).toEqual(definition);
    expect(loaded.diagnostics).toEqual([]);
  });

  verifies('TRN-06', 'leaves its name to whoever defines a server of that name', async () => {
    const { load } = await setUp({});
    const loaded = await load({ [USER]: gateway('on') + servers('docker-gateway') });
    expect(loaded.definitions).toMatchObject([{ launch: { command: 'docker-gateway' } }]);
    expect(loaded.shadowed).toMatchObject([{ name: 'docker-gateway', provenance: { provider: 'docker' } }]);
  });

  const off = 'Without Docker, set it to "off".';
  const install = `Install Docker Desktop with its MCP Toolkit, or put "docker" with its "mcp" command on your PATH. ${off}`;
  const start = `Start Docker, and it is used when it is next needed. ${off}`;
  const answers: Record<string, [standIn: StandIn | undefined, problem: string, remedy: string]> = {
    'no program at all': [undefined, 'there is no program "docker"', install],
    'a program without the command': [
      { mcp: 'absent' },
      '/docker has no command "mcp": it ended with exit code 1',
      install,
    ],
    'a program that shows its own help for it': [
      { mcp: 'absent-politely' },
      '/docker has no command "mcp": its help does not name it',
      install,
    ],
    'a daemon that is down': [
      { daemon: 'down' },
      'the Docker daemon does not answer: it ended with exit code 1',
      start,
    ],
    'a daemon that tells nothing': [
      { daemon: 'mute' },
      'the Docker daemon does not answer: it reports no version',
      start,
    ],
  };
  for (const [what, [standIn, problem, remedy]] of Object.entries(answers)) {
    verifies(['TRN-06', 'TRN-07', 'TRN-08'], `is there and says what to do about ${what}`, async () => {
      const { docker, load } = await setUp(standIn);
      const loaded = await load({ [USER]: gateway('on') });
      expect(loaded.definitions).toEqual([definition]);
      const said = loaded.diagnostics.map((each) => ({
        ...each,
        message: each.message.replace(docker?.folder ?? '', ''),
      }));
      expect(said).toEqual([
        {
          severity: 'warning',
          code: 'SPAWN_FAILED',
          server: 'docker-gateway',
          message: `"plexus.gateway" is "on", but ${problem}`,
          remedy,
        },
      ]);
    });
  }

  verifies('TRN-06', 'is the person’s to say: a file of the workspace needs approval', async () => {
    const { load } = await setUp({});
    const files = { '.mcp.toml': gateway('on') + servers('a') };
    const refused = await load(files);
    expect([namesOf(refused.definitions), messagesOf(refused)]).toEqual([
      ['a'],
      ['warning: a file in the workspace cannot set "plexus.gateway", so this is ignored'],
    ]);
    const approved = await load(files, { isApproved: async () => true });
    expect(namesOf(approved.definitions)).toEqual(['a', 'docker-gateway']);
  });
});

describe('it is silent, and Docker is asked nothing,', () => {
  const cases: Record<string, [files: Files, change?: Partial<LoadOptions>]> = {
    'when it is off': [{ [USER]: gateway('off') }],
    'when nothing is looked for': [{ [USER]: gateway('on') }, { discover: false }],
    'when another file was named': [{ [USER]: gateway('on'), 'mine.toml': '[plexus]' }, { configFile: 'mine.toml' }],
    'when MCP as a whole is off': [{ [USER]: '[plexus]\nenabled = false\ngateway = "on"\n' }],
    'when the enterprise’s file replaces all others': [{ [SYSTEM]: '[plexus]', [USER]: gateway('on') }],
  };
  for (const [when, [files, change]] of Object.entries(cases)) {
    verifies('TRN-06', when, async () => {
      const { docker, load } = await setUp({});
      const cwd = await createFolder(files);
      const options = change?.configFile ? { ...change, configFile: join(cwd, change.configFile) } : change;
      expect((await load(files, options)).definitions).toEqual([]);
      expect(await docker.asked()).toEqual([]);
    });
  }

  verifies(
    'CFG-03',
    'is listed with the reason where an enterprise’s file alone keeps it from a person who wants it',
    async () => {
      const { docker, load } = await setUp({});
      const listed = async (files: Files) => {
        const { definitions, suppressed, diagnostics } = await load(files);
        expect([definitions, diagnostics]).toEqual([[], []]);
        return suppressed.map(({ name, provenance, because }) => [name, provenance.provider, because]);
      };
      expect(await listed({ [SYSTEM]: '[plexus]', [USER]: gateway('on') })).toEqual([
        [
          'docker-gateway',
          'docker',
          expect.stringMatching(/^the enterprise configuration .*mcp\.toml replaces all others$/),
        ],
      ]);
      expect(await listed({ [SYSTEM]: '[plexus]', [USER]: gateway('auto') })).toEqual([]);
      expect(await listed({ [SYSTEM]: gateway('off'), [USER]: gateway('on') })).toEqual([]);
      expect(await docker.asked()).toEqual([]);
    },
  );

  verifies('TRN-06', 'unless that enterprise’s file asks for it', async () => {
    const { load } = await setUp({});
    const loaded = await load({ [SYSTEM]: gateway('on'), '.mcp.toml': servers('a') });
    expect(namesOf(loaded.definitions)).toEqual(['docker-gateway']);
  });
});

describe('looking for the program', () => {
  const resolving: Omit<Resolving, 'environment'> = {
    grants: undefined,
    unresolvedEnv: 'scoped',
    input: async () => undefined,
    run: async () => ({ ok: false, problem: 'nothing is run' }),
    runAnew: async () => ({ ok: false, problem: 'nothing is run' }),
  };

  verifies('TRN-07', 'asks it for its help, and then its daemon for a version, once', async () => {
    const { docker, detector, environment } = await setUp({});
    const load = () => loadConfig({ ...environment, docker: detector });
    await Promise.all([load(), load()]);
    await load();
    expect(await docker.asked()).toEqual(['mcp --help', 'info --format {{.ServerVersion}}']);
    expect(await detector.ask(environment)).toMatchObject({ kind: 'ready', version: '29.1.3' });
  });

  verifies('TRN-07', 'keeps the answer for a minute, and asks again on demand', async () => {
    const clock = createFakeClock(1_000);
    const { docker, detector, environment } = await setUp({ daemon: 'down' }, clock);
    const kinds = async () => [(await detector.ask(environment)).kind, (await docker.asked()).length];
    expect(await kinds()).toEqual(['no-daemon', 2]);
    await docker.become({});
    expect(await kinds()).toEqual(['no-daemon', 0]);
    await clock.advance(limits.gateway.askAgainMs - 1);
    expect(await kinds()).toEqual(['no-daemon', 0]);
    expect((await detector.askAgain(environment)).kind).toBe('ready');
    expect(await kinds()).toEqual(['ready', 2]);
    await docker.become({ mcp: 'absent' });
    await clock.advance(limits.gateway.askAgainMs);
    expect(await kinds()).toEqual(['no-cli', 1]);
    expect(clock.pending()).toBe(0);
  });

  verifies('TRN-07', 'goes on to the next one when the first has no such command', async () => {
    const [bare, full] = [await createDocker({ mcp: 'absent' }), await createDocker()];
    const { load } = await setUp(undefined);
    const { definitions } = await load({}, { env: { PATH: `${bare.folder}:${full.folder}` } });
    // Started by its path, since the bare name would start the first docker.
    expect(definitions).toMatchObject([{ launch: { command: full.file, env: {} } }]);
  });

  verifies('TRN-07', 'finds one at a usual place, and shows it the programs beside it', async () => {
    const cwd = await createFolder({ 'home/.docker/bin/other': '' });
    const docker = await writeDocker(join(cwd, 'home/.docker/bin'));
    const env = { PATH: '/no/such/folder' };
    for (const platform of ['linux', 'darwin'] as const) {
      const there = { ...environment(cwd), platform, env };
      const { definitions } = await loadConfig({ ...there, docker: createDockerDetector(systemClock) });
      const [found = definition] = definitions;
      expect(found.launch).toMatchObject({ command: docker.file, env: { PATH: `${docker.folder}:\${PATH:-}` } });
      const { launch } = await resolveLaunch(found, { ...resolving, environment: there });
      expect(launch).toMatchObject({ env: { PATH: `${docker.folder}:/no/such/folder` } });
    }
  });

  test('never runs one that the workspace brings, and none in place of the real one', async () => {
    const { load } = await setUp(undefined);
    const cwd = await createFolder({ 'bin/x': '', 'above/node_modules/.bin/x': '' });
    const brought = await Promise.all([
      writeDocker(join(cwd, 'bin')),
      writeDocker(join(cwd, 'above/node_modules/.bin')),
    ]);
    const real = await createDocker();
    const path = [...brought, real].map(({ folder }) => folder).join(':');
    const { definitions } = await load({}, { ...environment(cwd), docker: detectorOf(), env: { PATH: path } });
    expect(definitions).toMatchObject([{ launch: { command: real.file } }]);
    for (const { asked } of brought) expect(await asked()).toEqual([]);
    const elsewhere = { ...environment(join(cwd, 'elsewhere')), env: { PATH: brought[1]?.folder } };
    expect(await detectorOf().ask(elsewhere)).toMatchObject({ kind: 'no-cli' });
  });

  test('overlooks what is no program', async () => {
    const folder = await createFolder({ 'file/docker': 'not to be run' });
    await mkdir(join(folder, 'folder/docker'), { recursive: true });
    const env = { PATH: `${folder}/file:${folder}/folder:` };
    expect(await detectorOf().ask({ ...environment('/work'), env })).toEqual({
      kind: 'no-cli',
      problem: 'there is no program "docker"',
    });
  });
});

describe('one that hangs', () => {
  const cases: Record<string, [standIn: StandIn, ms: number, problem: RegExp]> = {
    'is let go after 5 s when it shows no help': [
      { mcp: 'hangs' },
      limits.gateway.cliMs,
      /^\S+\/docker has no command "mcp": it took longer than 5 s$/,
    ],
    'is let go after 3 s when its daemon tells no version': [
      { daemon: 'hangs' },
      limits.gateway.daemonMs,
      /^the Docker daemon does not answer: it took longer than 3 s$/,
    ],
  };
  for (const [sentence, [standIn, ms, problem]] of Object.entries(cases)) {
    verifies(['TRN-07', 'TRN-08'], `${sentence}, and leaves nothing behind`, async () => {
      const clock = createFakeClock();
      const { docker, detector, environment } = await setUp(standIn, clock);
      const asking = detector.ask(environment);
      const pids = await pidsOnce(docker.pids, 2);
      await clock.advance(ms - 1);
      expect(pids.map(isRunning)).toEqual([true, true]);
      await clock.advance(1);
      expect(await asking).toMatchObject({ problem: expect.stringMatching(problem) });
      await eventually(() => !pids.some(isRunning));
      expect(clock.pending()).toBe(0);
    });
  }
});

verifies(
  ['TRN-06', 'TRN-09', 'TRN-12'],
  'the gateway is started on request and called like any other server, and is the only one',
  async () => {
    const { docker } = await setUp({});
    const cwd = await createFolder();
    const runtime = await createRuntime({
      cwd,
      home: join(cwd, 'home'),
      env: { PATH: docker.folder },
      interactive: false,
      permissions: [{ tool: 'mcp__docker-gateway__*', action: 'allow' }],
    });
    try {
      expect(runtime.getStats()).toMatchObject({ servers: 1, isGatewayMode: true });
      expect(await docker.asked(), 'nobody asked for its tools').not.toContain('mcp gateway run');
      await runtime.turn().call('mcp_start', { server: 'docker-gateway' });
      const { text } = await runtime.turn().call('mcp__docker-gateway__echo', { text: 'hello' });
      expect(text).toContain('hello');
      expect((await docker.asked()).at(-1)).toBe('mcp gateway run');
    } finally {
      await runtime.close();
    }
  },
);

describe('a daemon that takes longer than the gate', () => {
  const GATE_MS = 250;
  /** Advances the clock to the end of the gate and no further: a start that waits for more never ends. */
  const passGate = async <Value>(clock: FakeClock, starting: Promise<Value>): Promise<Value> => {
    // A start that fails during the gate is reported below, not as an unhandled rejection.
    starting.catch(() => undefined);
    await waitFor(() => expect(clock.pending()).toBeGreaterThan(0));
    await clock.advance(GATE_MS);
    return starting;
  };

  async function setUpRuntime(standIn: StandIn, files: Files = {}) {
    const [docker, cwd] = [await createDocker(standIn), await createFolder(files)];
    const start = async (options: RuntimeOptions = {}) => {
      const clock = createFakeClock(1_000);
      const loaded: string[] = [];
      const errors: unknown[] = [];
      const starting = createRuntime({
        cwd,
        home: join(cwd, 'home'),
        env: { PATH: docker.folder },
        interactive: true,
        watch: false,
        logs: false,
        clock,
        onError: (error: unknown) => errors.push(error),
        onEvent: (event) => {
          if (event.type === 'config.loaded') loaded.push(event.diagnostics.map(({ message }) => message).join());
        },
        ...options,
      });
      // The probe of the daemon runs now, and only time is left to wait for.
      await pidsOnce(docker.pids, 1);
      return { clock, starting, loaded, errors };
    };
    return { docker, start };
  }

  const serversOf = (runtime: Runtime) => runtime.status().map(({ name }) => name);

  verifies(['STA-01', 'TRN-08'], 'costs the start no more than the gate, and is a server when it answers', async () => {
    const { docker, start } = await setUpRuntime({ daemon: 'slow' });
    const { clock, starting, loaded, errors } = await start();
    const runtime = await passGate(clock, starting);
    try {
      expect([clock.now(), serversOf(runtime), loaded.length]).toEqual([1_250, [], 1]);
      await docker.speak('up');
      await waitFor(() => expect(serversOf(runtime)).toEqual(['docker-gateway']));
      expect(loaded.length).toBe(2);
      // Docker is not asked again: its answer is known.
      await runtime.reload();
      expect([serversOf(runtime), errors]).toEqual([['docker-gateway'], []]);
      expect((await docker.asked()).filter((line) => line.startsWith('info'))).toHaveLength(1);
    } finally {
      await runtime.close();
    }
  });

  verifies(['STA-01', 'TRN-08'], 'and that was asked for is told of when it says no', async () => {
    const { docker, start } = await setUpRuntime({ daemon: 'slow' }, { [USER]: gateway('on') });
    const { clock, starting, loaded } = await start();
    const runtime = await passGate(clock, starting);
    try {
      expect([serversOf(runtime), loaded]).toEqual([[], ['']]);
      await docker.speak('down');
      await waitFor(() => expect(serversOf(runtime)).toEqual(['docker-gateway']));
      expect(loaded.at(-1)).toContain('the Docker daemon does not answer');
    } finally {
      await runtime.close();
    }
  });

  verifies('TRN-08', 'is waited for by a start that waits for servers', async () => {
    const { docker, start } = await setUpRuntime({ daemon: 'slow' });
    const { clock, starting } = await start({ startup: { whenUncached: 'wait' } });
    await waitFor(() => expect(clock.pending()).toBe(1));
    await clock.advance(5_000);
    await docker.speak('up');
    const runtime = await starting;
    expect(serversOf(runtime)).toEqual(['docker-gateway']);
    await runtime.close();
  });

  verifies('TRN-08', 'is asked no longer than somebody wants to know, and then anew', async () => {
    const { docker, start } = await setUpRuntime({ daemon: 'hangs' });
    const one = await start();
    const first = await passGate(one.clock, one.starting);
    const pids = await pidsOnce(docker.pids, 2);
    const other = await start();
    const second = await passGate(other.clock, other.starting);
    await first.close();
    expect(pids.map(isRunning)).toEqual([true, true]);
    await second.close();
    await eventually(() => !pids.some(isRunning));
    expect([...one.loaded, ...other.loaded]).toEqual(['', '']);
    await docker.become({});
    const third = await start({ clock: systemClock, startup: { whenUncached: 'wait' } });
    const runtime = await third.starting;
    expect(serversOf(runtime)).toEqual(['docker-gateway']);
    await runtime.close();
  });

  verifies('TRN-08', 'is asked no more for a runtime that does not come to be', async () => {
    const { docker, start } = await setUpRuntime({ daemon: 'hangs' });
    const broken = () => {
      throw new Error('the host’s own');
    };
    const { clock, starting, errors } = await start({ nativeTools: broken });
    await expect(passGate(clock, starting)).rejects.toThrow('the host’s own');
    const pids = await pidsOnce(docker.pids, 1);
    await eventually(() => !pids.some(isRunning));
    expect(errors).toEqual([]);
  });

  test('says what it last said until it says something else, for as long as the reader lives', async () => {
    const { docker, detector, load } = await setUp({});
    const [known, late, clock] = [{}, vi.fn(), createFakeClock()];
    const waitBudget = { known, onLate: late, clock, limitMs: () => 250, signal: new AbortController().signal };
    const cwd = await createFolder();
    const read = async () => namesOf((await load({}, { cwd, waitBudget })).definitions);
    expect(await read()).toEqual(['docker-gateway']);
    await docker.become({ daemon: 'slow' });
    void detector.askAgain({ ...environment(cwd), env: { PATH: `${docker.folder}:/no/other/folder` } });
    await pidsOnce(docker.pids, 1);
    const reading = read();
    await waitFor(() => expect(clock.pending()).toBe(1));
    await clock.advance(250);
    expect([await reading, late.mock.calls]).toEqual([['docker-gateway'], []]);
    await docker.speak('down');
    await waitFor(() => expect(late).toHaveBeenCalledTimes(1));
    expect(await read()).toEqual([]);
  });
});
