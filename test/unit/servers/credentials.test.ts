// Owns the proof of when commands run again: for a refused login once, and not for what did not change.

import { describe, expect, test } from 'vitest';
import type { CommandOutput } from '../../../src/config/run-command.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import type { RemoteLaunch, ServerDefinition } from '../../../src/model/server.ts';
import { CommandOutputs } from '../../../src/servers/command-outputs.ts';
import { Credentials, runsCommands } from '../../../src/servers/credentials.ts';
import { verifies } from '../../verifies.ts';
import { definitionOf } from '../session.ts';

const launchWith = (token: string): RemoteLaunch => ({
  kind: 'http',
  url: 'https://a.example/mcp',
  headers: { Authorization: token },
});
const remote = (launch: Partial<RemoteLaunch>): ServerDefinition => ({
  ...definitionOf('web'),
  launch: { ...launchWith('fixed'), ...launch },
});
const signal = new AbortController().signal;

describe('renewing credentials', () => {
  const withCommand = remote({ headers: { Authorization: '!print' } });

  function setUp(printed: () => Promise<string>) {
    const log: string[] = [];
    const errors: unknown[] = [];
    const credentials = new Credentials({
      resolve: async () => {
        log.push('resolve');
        return launchWith(await printed());
      },
      forget: ({ name }) => log.push(`forget ${name}`),
      onError: (error) => errors.push(error),
    });
    return { credentials, log, errors };
  }

  verifies('CFG-21', 'gives the launch with another value, and nothing for the same', async () => {
    const { credentials, log } = setUp(async () => 'new');
    expect(await credentials.renew(withCommand, launchWith('old'), signal)).toEqual(launchWith('new'));
    expect(await credentials.renew(withCommand, launchWith('new'), signal)).toBeUndefined();
    expect(log).toEqual(['forget web', 'resolve', 'forget web', 'resolve']);
  });

  verifies('CFG-21', 'runs once for sessions that are refused together', async () => {
    const printed = createDeferred<string>();
    const { credentials, log } = setUp(() => printed.promise);
    const both = [1, 2].map(() => credentials.renew(withCommand, launchWith('old'), signal));
    printed.resolve('new');
    expect(await Promise.all(both)).toEqual([launchWith('new'), launchWith('new')]);
    expect(log).toEqual(['forget web', 'resolve']);
  });

  verifies('CFG-21', 'leaves the login refused where a command fails, and tells why', async () => {
    const problem = new Error('the vault is locked');
    const { credentials, errors } = setUp(() => Promise.reject(problem));
    expect(await credentials.renew(withCommand, launchWith('old'), signal)).toBeUndefined();
    expect(errors).toEqual([problem]);
  });

  verifies('CFG-21', 'touches no entry without commands', async () => {
    const { credentials, log } = setUp(async () => 'new');
    for (const definition of [remote({}), definitionOf('inside')])
      expect(await credentials.renew(definition, launchWith('old'), signal)).toBeUndefined();
    expect(log).toEqual([]);
  });

  test('an entry runs commands in its headers, its variables and its helper', () => {
    const rows: [ServerDefinition, boolean][] = [
      [withCommand, true],
      [remote({ env: { TOKEN: '!print' } }), true],
      [remote({ headersHelper: 'print' }), true],
      [remote({ headers: { 'X-Mark': '!!literal' } }), false],
      [definitionOf('inside'), false],
    ];
    for (const [definition, expected] of rows) expect(runsCommands(definition)).toBe(expected);
  });
});

describe('the outputs of commands', () => {
  function setUp(output: (run: number) => CommandOutput = (run) => ({ ok: true, output: String(run) })) {
    let runs = 0;
    const outputs = new CommandOutputs(async () => output(++runs));
    return { outputs, runs: () => runs };
  }

  verifies('CFG-21', 'are kept for all servers that have the command', async () => {
    const { outputs, runs } = setUp();
    const all = await Promise.all([outputs.get('a', 'x'), outputs.get('a', 'x'), outputs.get('b', 'x')]);
    expect([new Set(all.map((each) => JSON.stringify(each))).size, runs()]).toEqual([1, 1]);
  });

  verifies('CFG-21', 'are forgotten for one server or for all', async () => {
    const { outputs, runs } = setUp();
    const both = () => Promise.all([outputs.get('a', 'x'), outputs.get('b', 'y')]);
    await both();
    outputs.forget('a');
    outputs.forget('nobody');
    expect((await both()).map((each) => each.ok && each.output)).toEqual(['3', '2']);
    outputs.forget();
    await both();
    expect(runs()).toBe(5);
  });

  verifies('CFG-21', 'are not kept where the command failed', async () => {
    const { outputs } = setUp((run) => (run === 1 ? { ok: false, problem: 'no' } : { ok: true, output: 'yes' }));
    expect(await outputs.get('a', 'x')).toMatchObject({ ok: false });
    expect(await outputs.get('a', 'x')).toEqual({ ok: true, output: 'yes' });
  });
});
