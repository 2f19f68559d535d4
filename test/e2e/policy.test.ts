// Owns the proof, with the built command line and real servers, that people are told which rule decides, and that this is what
// decides about a real call.

import { mkdirSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { withDefaultStore } from '../runtime.ts';
import { faulty } from '../servers/faulty.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';
import { start } from './runtimes.ts';

const USER = '~/.config/plexus/mcp.toml';
const sdk = fileURLToPath(new URL('../servers/sdk.mjs', import.meta.url));
const server = `[mcp_servers.people]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(sdk)}]\n`;

const rule = (tool: string, action: string, ...more: readonly string[]) =>
  ['[[permissions.rules]]', `tool = "${tool}"`, `action = "${action}"`, ...more, ''].join('\n');

let box: Sandbox;
beforeEach(() => {
  box = new Sandbox();
  onTestFinished(() => box.remove());
});

verifies(
  'PER-02',
  'plexus policy why names the rule that decides, its file and line, and why the others do not',
  async () => {
    const file = box.write(
      USER,
      server +
        rule('mcp__people__greet', 'allow', 'args.name = { like = "A*" }') +
        rule('mcp__people__*', 'ask') +
        rule('people.ask', 'deny'),
    );
    const because = `the rule "mcp__people__greet" = allow for name like "A*" in ${file}:4`;
    const { code, out } = await box.plexus('policy', 'why', 'people.greet', '--args', '{"name":"Ada"}');
    expect(code).toBe(0);
    expect(out.split('\n').slice(0, 2)).toEqual([
      'allow  mcp__people__greet with these arguments',
      `  because ${because}`,
    ]);
    expect(out).toMatch(/mcp__people__\* = ask +user +.*mcp\.toml:8 +is less specific/);

    const why = (...args: readonly string[]) => box.json('policy', 'why', ...args);
    expect(await why('people', 'greet', '--args', '{"name":"Ada"}')).toMatchObject({
      ...{ name: 'mcp__people__greet', server: 'people', tool: 'greet', isKnown: true, verdict: 'allow', because },
      rule: { text: 'mcp__people__greet', action: 'allow', scope: 'user', file, line: 4 },
      rules: [{ fate: 'decides' }, { tool: 'mcp__people__*', line: 8, fate: 'beaten', why: 'is less specific' }],
      approval: { mode: 'auto', trustsAnnotations: false },
      grant: 'unknown',
    });
    expect(await why('mcp__people__greet', '--args', '{"name":"Bob"}')).toMatchObject({
      verdict: 'ask',
      rules: [{ fate: 'unmet' }, { fate: 'decides' }],
    });
    expect(await why('mcp__people__greet')).toMatchObject({
      verdict: 'ask',
      rules: [{ fate: 'depends' }, { fate: 'otherwise' }],
    });
    expect(await why('mcp__people__ask')).toMatchObject({ verdict: 'deny', rule: { text: 'people.ask' } });
  },
);

verifies('PER-02', 'what is told of a call is what becomes of it', async () => {
  box.write(
    USER,
    server + rule('mcp__people__greet', 'allow', 'args.name = "Ada"') + rule('*', 'deny', 'args.name = "Eve"'),
  );
  const runtime = await start(box.workspace, {
    ...{ ...withDefaultStore, discover: true, home: box.home, env: { PATH: process.env['PATH'] }, permissions: [] },
    approve: async () => 'no',
  });
  const ends = { allow: undefined, ask: 'APPROVAL_REFUSED', deny: 'CALL_DENIED' } as const;
  for (const name of ['Ada', 'Bob', 'Eve', ' eve']) {
    const { verdict } = await box.json('policy', 'why', 'people', 'greet', '--args', JSON.stringify({ name }));
    const end = await runtime
      .turn()
      .call('mcp__people__greet', { name })
      .then(
        () => undefined,
        ({ code }) => code,
      );
    expect([name, end]).toEqual([name, ends[verdict as keyof typeof ends]]);
  }
});

verifies(
  'PER-06',
  'plexus policy lists rules with their places, and tells which match nothing or everything',
  async () => {
    const file = box.write(
      USER,
      server +
        rule('mcp__people__*', 'ask') +
        rule('mcp__peple__greet', 'deny') +
        rule('mcp__people__wave', 'deny') +
        rule('mcp__*', 'allow'),
    );
    const { rules } = await box.json('policy');
    expect(rules).toEqual([
      { tool: 'mcp__people__*', action: 'ask', scope: 'user', file, line: 4, tools: 2 },
      {
        ...{ tool: 'mcp__peple__greet', action: 'deny', scope: 'user', file, line: 7, tools: 0 },
        remark: {
          kind: 'typo',
          why: 'matches nothing, because no server "peple" is configured; did you mean "people"?',
        },
      },
      {
        ...{ tool: 'mcp__people__wave', action: 'deny', scope: 'user', file, line: 10, tools: 0 },
        remark: { kind: 'missing', why: 'matches nothing now, because "people" has no such tool' },
      },
      {
        ...{ tool: 'mcp__*', action: 'allow', scope: 'user', file, line: 13, tools: 2 },
        remark: { kind: 'broad', why: 'allows every tool of every server, also of servers you add later' },
      },
    ]);
    const { out } = await box.plexus('policy');
    expect(out).toContain('mcp__* = allow');
    expect(out).toContain('mcp__peple__greet = deny: it matches nothing');
  },
);

test('a server that nobody approved is not allowed what is allowed to its name', async () => {
  box.write(USER, rule('mcp__theirs__*', 'allow'));
  box.write('.mcp.json', { mcpServers: { theirs: faulty() } });
  expect(await box.json('policy', 'why', 'theirs', 'echo')).toMatchObject({
    verdict: 'ask',
    because: expect.stringContaining('is not meant for a server that nobody approved'),
    isKnown: false,
  });
  await box.plexus('approve', 'theirs');
  expect(await box.json('policy', 'why', 'theirs', 'echo')).toMatchObject({ verdict: 'allow' });
});

test('a rule that was read and does not count is shown, with why', async () => {
  box.write(
    USER,
    server + rule('mcp__people__greet', 'allow', 'when = "x"') + rule('mcp__people__ask', 'deny', 'when = 1'),
  );
  box.write('.mcp.json', { permissions: { rules: [{ tool: 'mcp__people', action: 'allow' }] } });
  const { rules } = await box.json('policy');
  const remarks = rules.map((each: { tool: string; remark?: { kind: string; why: string } }) => [
    each.tool,
    each.remark?.kind,
    each.remark?.why,
  ]);
  expect(remarks).toEqual([
    ['mcp__people__ask', 'misread', expect.stringContaining('counts without part of it: "when" is not a setting')],
    ['mcp__people', 'ignored', expect.stringContaining('plexus approve --policy')],
    ['mcp__people__greet', 'ignored', expect.stringContaining('allows nothing, because part of it is not understood')],
  ]);
  const { out } = await box.plexus('policy', 'why', 'people', 'greet');
  expect(out).toMatch(/^ask /);
  expect(out).toMatch(/mcp__people__greet = allow +user +.*mcp\.toml:4 +allows nothing, because part of it/);
  expect(out).toMatch(/mcp__people = allow +project +.*is ignored/);
});

test('a condition on an argument that the tool does not have is why its rule is silent', async () => {
  box.write(USER, server + rule('mcp__people__greet', 'deny', 'args.nam = { like = "A*" }'));
  const why = 'never applies now, because the tool "greet" has no argument "nam"; did you mean "name"?';
  expect((await box.json('policy')).rules).toMatchObject([{ tools: 1, remark: { kind: 'argument', why } }]);
  const { rules } = await box.json('policy', 'why', 'people', 'greet', '--args', '{"name":"Ada"}');
  expect(rules).toMatchObject([{ fate: 'unmet', why }]);
});

test('a tool that its server does not have is not explained, and neither is a pattern', async () => {
  box.write(USER, server + rule('mcp__people__*', 'ask'));
  await box.plexus('tools');
  const [unknown, joined, pattern, own] = await Promise.all([
    box.plexus('policy', 'why', 'people', 'gret'),
    box.plexus('policy', 'why', 'people.gret'),
    box.plexus('policy', 'why', 'mcp__people__*'),
    box.plexus('policy', 'why', 'people', 'ReadMcpResource'),
  ]);
  expect([unknown.code, joined.code, pattern.code, own.code]).toEqual([2, 2, 1, 0]);
  expect(unknown.err).toContain('There is no tool "gret": server "people" has none of that name. Did you mean greet?');
  expect(pattern.err).toContain('"mcp__people__*" is a pattern; name one tool');
});

test('of a server whose entry is not valid that is said', async () => {
  box.write(USER, `${server}approval = "sometimes"\n${rule('mcp__people__greet', 'deny')}`);
  const { code, err } = await box.plexus('policy', 'why', 'people', 'greet');
  expect([code, err]).toEqual([1, expect.stringContaining('"approval" must be')]);
  expect((await box.json('policy')).rules).toMatchObject([
    { remark: { kind: 'unusable', why: 'matches nothing now, because the entry of "people" is not valid' } },
  ]);
});

test('what was allowed for good is told as what it is', async () => {
  box.write(USER, server);
  await box.plexus('approve', 'people', 'greet');
  expect(await box.json('policy', 'why', 'people', 'greet')).toMatchObject({
    ...{ verdict: 'allow', grant: 'granted' },
    because: expect.stringContaining('you approved the tool; otherwise it would ask, because no rule matches'),
  });
});

test('a mode is told where no rule speaks', async () => {
  box.write(USER, `${server}approval = "prompt"\n`);
  const { out } = await box.plexus('policy', 'why', 'people', 'greet');
  expect(out).toBe(
    'ask  mcp__people__greet\n  because approval = "prompt" in its entry\n  no rule decides, so approval = "prompt" does\n  it asks each time, even if you approved it before\n  this is about a model\'s call; "plexus call people greet" is your own order and asks too, unless you add --yes\n',
  );
});

test('a link in the workspace does not widen what a rule allows', async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes it
  box.write(USER, server + rule('mcp__people__greet', 'allow', 'args.name = { under = "${workspaceFolder}/out" }'));
  mkdirSync(box.path('out'));
  symlinkSync(box.home, box.path('out/away'));
  const verdict = async (name: string) =>
    (await box.json('policy', 'why', 'people', 'greet', '--args', JSON.stringify({ name }))).verdict;
  expect([await verdict('out/a'), await verdict('out/away/a'), await verdict('out/../a')]).toEqual([
    'allow',
    'ask',
    'ask',
  ]);
});

test('what is not known, or written wrongly, is said', async () => {
  box.write(USER, server);
  const [unknown, noServer, odd, broken] = await Promise.all([
    box.plexus('policy', 'why', 'nobody.knows'),
    box.plexus('policy', 'why', 'peple', 'greet'),
    box.plexus('policy', 'what'),
    box.plexus('policy', 'why', 'people', 'greet', '--args', '[1]'),
  ]);
  expect([unknown.code, noServer.code, odd.code, broken.code]).toEqual([2, 2, 1, 1]);
  expect(noServer.err).toContain('Did you mean people?');
});
