// Owns the proof of `plexus chat`: one prompt, and a talk in a terminal, with the scripted model and a real server. The terminal is
// one in memory, but for the last test, which has a real one.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { CliIo } from '../../src/cli/io.ts';
import { runCli } from '../../src/cli/main.ts';
import type { ScriptedStep } from '../servers/models/script.ts';
import { sentResults } from '../servers/models/sent.ts';
import { type ModelServer, startModelServer } from '../servers/models/server.ts';
import { waitFor } from '../wait-for.ts';
import { Sandbox } from './plexus.ts';
import { hasTerminal, openTerminal } from './terminal.ts';

const changing = fileURLToPath(new URL('../servers/changing.mjs', import.meta.url));
const [LOOK, ERASE] = ['mcp__files__look', 'mcp__files__erase'];

let box: Sandbox;
let tools: string;

const offer = (description: string) =>
  writeFileSync(
    tools,
    JSON.stringify({
      tools: [
        { name: 'look', inputSchema: { type: 'object' } },
        { name: 'erase', description, inputSchema: { type: 'object' }, annotations: { destructiveHint: true } },
      ],
    }),
  );

beforeEach(() => {
  box = new Sandbox();
  tools = join(box.folder, 'tools.json');
  offer('Erases.');
  box.write('~/.config/plexus/mcp.json', {
    mcpServers: { files: { command: process.execPath, args: [changing, tools] } },
    permissions: { rules: [{ tool: LOOK, action: 'allow' }] },
  });
});
afterEach(() => box.remove());

async function openModel(...script: readonly ScriptedStep[]): Promise<ModelServer & { readonly flags: string[] }> {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  return { ...server, flags: ['--url', `${server.url}/v1`, '--model', 'scripted'] };
}

const chat = (words: readonly string[], input = '') => box.run(['chat', ...words], { input });
/** A slow machine makes some calls last so long that their time is told. */
const withoutTimes = (text: string) => text.replace(/ after [\d.]+ s:/g, ':');
const call = (name: string, args = {}) => ({ calls: [{ name, arguments: args }] });
const promptsIn = ({ body }: { readonly body: object }) =>
  (body as { messages: { role: string; content: string }[] }).messages.flatMap(({ role, content }) =>
    role === 'user' ? [content] : [],
  );

describe('one prompt', () => {
  test('prints the answer, and beside it each call with its arguments and the beginning of its result', async () => {
    const { flags } = await openModel({ text: 'I look.', ...call(LOOK, { at: 'x' }) }, { text: 'Nothing\nthere.' });
    const { code, out, err } = await chat([...flags, 'What', 'is', 'there?']);
    expect([code, out, withoutTimes(err)]).toEqual([
      0,
      'I look.\nNothing\nthere.\n',
      `[1] ${LOOK} {"at":"x"}\n[1] done: called look\n`,
    ]);
  });

  test('comes from a pipe, or is completed by it', async () => {
    const { flags, requests } = await openModel({ text: 'one' }, { text: 'two' });
    await chat(flags, 'Whole prompt\n');
    await chat([...flags, 'Review:', '-'], 'a change\n');
    expect(requests.flatMap(promptsIn)).toEqual(['Whole prompt', 'Review:\n\na change']);
    expect(await chat(flags)).toMatchObject({ code: 1, err: expect.stringContaining('give a prompt') });
  });

  test('goes on with the last conversation of this folder, or with a named one', async () => {
    const { flags, requests } = await openModel({ text: 'one' }, { text: 'two' }, { text: 'three' });
    expect(await chat([...flags, '--continue', 'x'])).toMatchObject({
      ...{ code: 1, err: expect.stringContaining('there is no conversation about this folder to continue') },
    });
    const { out } = await chat([...flags, '--json', 'first']);
    const { conversationId } = JSON.parse(out.split('\n', 1)[0] ?? '');
    await chat([...flags, '--continue', 'second']);
    await chat([...flags, '--session', conversationId, 'third']);
    expect(requests.map(promptsIn)).toEqual([['first'], ['first', 'second'], ['first', 'second', 'third']]);
    expect((await chat([...flags, '--session', '0'.repeat(32), 'x'])).code).toBe(2);
  });

  test('with --json is one event a line, and so is a failure', async () => {
    const fault = { fault: 'status', status: 401, message: 'no such key' } as const;
    const { flags } = await openModel(call(LOOK), { text: 'Done.' }, fault);
    const { code, out, err } = await chat([...flags, '--json', 'Look']);
    const events = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([code, err, events.map(({ type }) => type)]).toEqual([
      0,
      '',
      [
        ...['conversation.started', 'call.requested', 'call.answered', 'step.finished'],
        ...['text.received', 'text.received', 'step.finished', 'conversation.replied'],
      ],
    ]);
    const failed = await chat([...flags, '--json', 'Look']);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.out.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      error: { code: 'MODEL_REFUSED' },
    });
  });

  test('without a terminal a call that no rule allows is refused at once, and the model reads that', async () => {
    const { flags, requests } = await openModel(call(ERASE), { text: 'I may not.' });
    const { code, out, err } = await chat([...flags, 'Erase it']);
    expect([code, out]).toEqual([0, 'I may not.\n']);
    expect(withoutTimes(err)).toBe(
      [
        `[1] ${ERASE} {}`,
        'Nobody can be asked here about this call. To allow the tool: plexus approve files erase',
        '[1] failed: The call of "erase" on server "files" needs an approval that was not given: no rule mat…\n',
      ].join('\n'),
    );
    expect(sentResults(requests[1] ?? expect.unreachable()).map(({ text }) => text)).toEqual([
      expect.stringContaining('needs an approval that was not given'),
    ]);
  });

  test.each([
    [
      '401',
      { fault: 'status', status: 401, message: 'no such key' },
      1,
      1,
      /HTTP 401: no such key\. It was given no key\./,
    ],
    ['429', { fault: 'status', status: 429, retryAfterSec: 90 }, 1, 4, /HTTP 429.* Try again in 90 s\./],
    [
      '500',
      { fault: 'status', status: 500, retryAfterSec: 0 },
      5,
      4,
      /is asked again in 0 s[\s\S]*gave no answer: .*HTTP 500/,
    ],
    ['garbage', { fault: 'garbage' }, 1, 1, /is no answer of a model: <html>not what was asked for/],
    [
      'half a stream',
      { fault: 'cut', reply: { text: 'half and half' } },
      3,
      4,
      /broke off: .*Asking again\.[\s\S]*no complete answer/,
    ],
  ] as const)('a model that answers %s is told plainly', async (_, fault, times, code, message) => {
    const { flags } = await openModel(...Array(times).fill(fault), { text: 'never asked' });
    const ran = await chat([...flags, 'Hello']);
    expect([ran.code, ran.err]).toEqual([code, expect.stringMatching(message)]);
    expect(ran.out).not.toContain('never asked');
  });

  test('with a flag that cannot be understood says what it takes', async () => {
    expect((await chat(['--provider', 'olama', '--model', 'x', 'Hello'])).err).toContain(
      '--provider takes one of openai,',
    );
    expect((await chat(['--url', 'localhost:1', '--model', 'x', 'Hello'])).err).toContain('--url takes an address');
  });

  test('of a model that is not chosen says what to set', async () => {
    expect(await chat(['Hello'])).toMatchObject({ code: 1, err: expect.stringContaining('Name one with --model') });
  });

  test('ends early with exit 4 when its budget is used up, which a file of the workspace can lower', async () => {
    box.write('.mcp.toml', '[plexus.agent]\nmax_steps = 1\n');
    const { flags } = await openModel(call(LOOK));
    expect(await chat([...flags, 'Look'])).toMatchObject({
      code: 4,
      err: 'It ended early: the steps for one prompt are used up.\n',
    });
  });
});

test('--list-models shows what the named address has, and says why where it has none', async () => {
  const { url, flags } = await openModel();
  const { code, out } = await chat(['--list-models', ...flags]);
  expect([code, out]).toEqual([0, expect.stringMatching(new RegExp(`^openai +scripted +${url}/v1$`, 'm'))]);
  const { lists } = await box.json('chat', '--list-models', '--url', `${url}/nothing`);
  expect(lists[0]).toEqual({
    provider: 'openai',
    url: `${url}/nothing`,
    models: [],
    problem: 'it answered with HTTP 404',
  });
});

/** A terminal in memory. */
function openTalk(words: readonly string[]) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  let [screen, seen] = ['', 0];
  const output = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        screen += chunk;
        done();
      },
    }),
    { isTTY: true },
  );
  let interrupted: Parameters<CliIo['onInterrupt']>[0] = () => expect.unreachable('nothing listens');
  const exits: number[] = [];
  const io: CliIo = {
    env: { PATH: process.env['PATH'] ?? '', HOME: box.home, TERM: 'dumb' },
    ...{ cwd: box.workspace, home: box.home, stdin, stdout: output, stderr: output },
    isTerminal: () => true,
    columns: () => 120,
    printNow: (bytes) => bytes,
    onInterrupt: (listener) => {
      interrupted = listener;
    },
    interrupt: () => void interrupted('SIGINT'),
    exit: (code) => void exits.push(code),
  };
  const done = runCli(['chat', ...words], io);
  const shows = async (text: string) => {
    const at = await waitFor(() => {
      const found = screen.indexOf(text, seen);
      expect(found, screen).toBeGreaterThanOrEqual(0);
      return found;
    });
    seen = at + text.length;
  };
  return {
    ...{ done, exits, shows, screen: () => screen },
    interrupt: (signal: 'SIGINT' | 'SIGTERM' = 'SIGINT') => interrupted(signal),
    press: (key: string) => void stdin.write(key),
    /** Key by key, once a question is there. */
    async type(line: string) {
      for (const key of [...line, '\r']) {
        stdin.write(key);
        await waitFor(() => expect(stdin.readableLength).toBe(0));
        await new Promise(setImmediate);
      }
    },
    end: () => void stdin.end(),
  };
}

async function talkTo(...script: readonly ScriptedStep[]) {
  const model = await openModel(...script);
  const talk = openTalk(model.flags);
  await talk.shows('You talk with scripted');
  const say = async (line: string) => {
    await talk.shows('> ');
    await talk.type(line);
  };
  return { ...talk, model, say };
}

describe('a talk in a terminal', () => {
  test('answers one prompt after the other, runs its commands, and says how to go on with it', async () => {
    const { say, shows, done, screen, model } = await talkTo(
      call(LOOK, { at: 'x' }),
      { text: 'Nothing.' },
      { text: 'Bye.' },
    );
    await say('What is there?');
    await shows(`[1] ${LOOK} {"at":"x"}`);
    await shows('[1] done');
    await shows('called look');
    await shows('Nothing.');
    await say('/show');
    await shows('"at":"x"');
    await shows('called look');
    await say('/tools');
    await shows(`${ERASE}`);
    await say('/servers');
    await shows('files');
    await shows('connected');
    offer('Erases all.');
    await say('/reload');
    await shows('Reloaded: files connected.');
    await say('/nothing');
    await shows('There is no /nothing. See all with: /help');
    await say('/help');
    await shows('/quit');
    await say('Goodbye');
    await shows('Bye.');
    await say('/quit');
    expect(await done).toBe(0);
    expect(model.requests.map(promptsIn).at(-1)).toEqual(['What is there?', 'Goodbye']);
    const [, id = ''] = /plexus chat --session ([0-9a-f]{32})/.exec(screen()) ?? [];
    const kept = readFileSync(box.path(`~/.local/state/plexus/conversations/${id}.jsonl`), 'utf8');
    expect(kept).toContain('Goodbye');
  });

  test('asks in place: no, once, for this session, and always, until the tool changes', async () => {
    const asked = async (answer: string, ...more: readonly string[]) => {
      const talk = await talkTo(call(ERASE), { text: 'One.' }, ...more.flatMap(() => [call(ERASE), { text: 'More.' }]));
      await talk.say('Erase');
      await talk.shows('Call the tool "erase" of server "files"?');
      await talk.shows('[N] no:');
      await talk.type(answer);
      await talk.shows('One.');
      for (const line of more) {
        await talk.say(line);
        await talk.shows('More.');
      }
      await talk.say('/quit');
      await talk.done;
      return withoutTimes(talk.screen());
    };
    expect(await asked('n')).toContain('[1] failed: ');
    expect(await asked('y')).toContain('[1] done: called erase');
    expect(await asked('s', 'Again')).toContain('[2] done: called erase');
    expect(await asked('a', 'Again')).toContain('[2] done: called erase');
    offer('Erases everything, for ever.');
    const changed = await asked('n');
    expect(changed).toContain('Changed since you approved it:');
    expect(changed).toContain('Erases everything, for ever.');
  });

  test('goes on after a failure of the model, and tells each', async () => {
    const { say, shows, done, model } = await talkTo(
      { fault: 'status', status: 401, message: 'no such key' },
      { fault: 'garbage' },
      { fault: 'cut', reply: { text: 'I will', ...call(LOOK, { at: 'x'.repeat(400) }) } },
      { text: 'All is well.' },
    );
    await say('one');
    await shows('HTTP 401: no such key');
    await say('two');
    await shows('no answer of a model');
    await say('three');
    await shows('gave no complete answer');
    await say('four');
    await shows('All is well.');
    await say('/quit');
    expect(await done).toBe(0);
    expect(promptsIn(model.requests.at(-1) ?? expect.unreachable())).toEqual(['one', 'two', 'three', 'four']);
  });

  test('Ctrl-C stops an answer, a call that is asked about, and at the second time the talk', async () => {
    const stalled = { fault: 'stall', reply: { text: 'a long story that never ends' } } as const;
    const { say, shows, done, interrupt, press } = await talkTo(stalled, stalled, call(ERASE), { text: 'I am here.' });
    for (const prompt of ['Tell', 'Tell again']) {
      await say(prompt);
      await shows('a long story');
      expect(interrupt()).toBe(true);
      await shows('Stopped.');
    }
    await say('Erase');
    await shows('[N] no:');
    press('\u0003');
    await shows('Stopped.');
    await say('Are you there?');
    await shows('I am here.');
    await shows('> ');
    press('\u0003');
    await shows('To leave, press Ctrl-C again or type /quit.');
    await shows('> ');
    press('\u0003');
    expect(await done).toBe(0);
  });

  test('ends with its input, and by SIGTERM', async () => {
    const ended = await talkTo();
    await ended.shows('> ');
    ended.end();
    expect(await ended.done).toBe(0);
    const killed = await talkTo();
    await killed.shows('> ');
    expect(killed.interrupt('SIGTERM')).toBe(false);
    expect([await killed.done, killed.exits]).toEqual([130, [130]]);
  });
});

test('the built program answers a prompt', async () => {
  const { flags } = await openModel({ text: 'Hello yourself.' });
  const { done } = box.spawn(['chat', ...flags, 'Hello']);
  expect(await done).toEqual({ code: 0, out: 'Hello yourself.\n', err: '' });
});

if (!hasTerminal) console.warn('SKIPPED: the test of a chat on a terminal needs Linux and /usr/bin/script.');

test.skipIf(!hasTerminal)('on a real terminal: an answer, an approval, Ctrl-C, and the end', async () => {
  const { flags } = await openModel(
    { text: 'Let me.', ...call(ERASE) },
    { text: 'It is gone.' },
    { fault: 'stall', reply: { text: 'a long story that never ends' } },
    call(LOOK),
    { text: 'Still here.' },
  );
  const terminal = openTerminal(box, ['chat', ...flags], 120);
  terminal.start();
  await terminal.shows('You talk with scripted');
  await terminal.shows('> ');
  await terminal.type('erase it');
  await terminal.shows('Let me.');
  await terminal.shows('[N] no:');
  await terminal.type('y');
  await terminal.shows('[1] done: called erase');
  await terminal.shows('It is gone.');
  await terminal.shows('> ');
  await terminal.type('tell');
  await terminal.shows('a long story');
  terminal.send('\u0003');
  await terminal.shows('Stopped.');
  await terminal.shows('> ');
  await terminal.type('look');
  // Ctrl-C reaches every process of the terminal's group: the server is in none of it.
  await terminal.shows('[2] done');
  await terminal.shows('called look');
  await terminal.shows('Still here.');
  await terminal.shows('> ');
  terminal.send('\u0004');
  expect(await terminal.done).toBe(0);
});
