// Owns the proof, on a real terminal, that only keys which a person types after reading a question answer it, and that a terminal and
// a script see the same tools.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Sandbox } from './plexus.ts';
import { hasTerminal, openTerminal } from './terminal.ts';

const changing = fileURLToPath(new URL('../servers/changing.mjs', import.meta.url));
const eliciting = fileURLToPath(new URL('../servers/eliciting.mjs', import.meta.url));

let box: Sandbox;

beforeEach(() => {
  box = new Sandbox();
  const file = join(box.folder, 'files.json');
  const tool = (name: string, annotations = {}) => ({ name, inputSchema: { type: 'object' }, annotations });
  const toolsWith = { elicitation: [tool('ask')], sampling: [tool('think')], roots: [tool('look')] };
  writeFileSync(file, JSON.stringify({ tools: [tool('erase', { destructiveHint: true })], toolsWith }));
  box.write('~/.config/plexus/mcp.json', {
    mcpServers: {
      files: { command: process.execPath, args: [changing, file] },
      eliciting: { command: process.execPath, args: [eliciting], lifecycle: 'manual' },
    },
  });
});
afterEach(() => box.remove());

const approved = async () => (await box.json('approve', '--list')).tools;

if (!hasTerminal) console.warn('SKIPPED: the tests of questions on a terminal need Linux and /usr/bin/script.');

describe.skipIf(!hasTerminal)('a question on a terminal', () => {
  const QUESTION = '[N] no:';

  test('is not answered by keys that were typed before it was shown', async () => {
    const terminal = openTerminal(box, ['call', 'files', 'erase']);
    terminal.send('a\ra\r');
    await terminal.shows('a');
    terminal.start();
    await terminal.shows(QUESTION);
    await terminal.type('n');
    expect([await terminal.done, await approved()]).toEqual([3, []]);
  });

  test('is not answered by a pasted block, marked or not, and is by keys', async () => {
    const terminal = openTerminal(box, ['call', 'files', 'erase']);
    terminal.start();
    await terminal.shows(QUESTION);
    terminal.send('a\r');
    await terminal.shows('Pasted text does not answer this question.');
    await terminal.shows(QUESTION);
    terminal.send('\u001b[200~a\r\u001b[201~');
    await terminal.shows(QUESTION);
    await terminal.type('y');
    await terminal.shows('called erase');
    expect([await terminal.done, await approved()]).toEqual([0, []]);
    expect(terminal.screen().split('Pasted text').length, 'told once').toBe(2);
  });

  test('of a server takes pasted text for a field, but its Enter and its yes only from the keyboard', async () => {
    const terminal = openTerminal(box, ['call', 'eliciting', 'register', '--yes']);
    terminal.send('y\ry\r');
    await terminal.shows('y');
    terminal.start();
    await terminal.shows('Answer it? [y/N]');
    await terminal.type('y');
    await terminal.shows('Your name');
    terminal.send('\u001b[200~Ada\r\r\r\u001b[201~');
    await terminal.shows('Ada');
    terminal.send('\r');
    for (const question of ['Your choice', 'age']) {
      await terminal.shows(question);
      terminal.send('\r');
    }
    await terminal.shows('Send that to server "eliciting"? [y/N]');
    terminal.send('y\r');
    await terminal.shows('Pasted text does not answer this question.');
    await terminal.shows('[y/N]');
    await terminal.type('y');
    await terminal.shows('"content":{"name":"Ada","color":"g"}');
    expect(await terminal.done).toBe(0);
  });

  test('is withdrawn by Ctrl-C, also in the middle of a paste', async () => {
    const terminal = openTerminal(box, ['call', 'files', 'erase']);
    terminal.start();
    await terminal.shows(QUESTION);
    terminal.send('\u001b[200~a\r\u0003');
    expect([await terminal.done, await approved()]).toEqual([130, []]);
  });
});

describe.skipIf(!hasTerminal)('a terminal and a script', () => {
  test('write the same lock, though servers offer more to a client that can be asked', async () => {
    const terminal = openTerminal(box, ['lock']);
    terminal.start();
    expect(await terminal.done).toBe(0);
    const { servers } = JSON.parse(readFileSync(box.path('plexus.lock'), 'utf8'));
    expect(Object.keys(servers.files)).toEqual(['ask', 'erase', 'look', 'think']);
    expect((await box.plexus('lock', '--check')).code).toBe(0);
  });

  test('show each other what the other one listed, as cached, until they have a list of their own', async () => {
    const inScript = async (...args: string[]) => shown((await box.json('tools', 'files', ...args)).tools);
    const onTerminal = async (...args: string[]) => {
      const terminal = openTerminal(box, ['tools', 'files', '--json', ...args]);
      terminal.start();
      await terminal.done;
      const screen = terminal.screen();
      return shown(JSON.parse(screen.slice(screen.indexOf('{'))).tools);
    };
    const shown = (tools: { tool: string; freshness: string }[]) =>
      tools.map(({ tool, freshness }) => `${tool} ${freshness}`).sort();

    expect(await onTerminal('--live')).toEqual(['ask live', 'erase live']);
    expect(await inScript(), 'listed by the terminal').toEqual(['ask cached', 'erase cached']);
    expect(await inScript('--live')).toEqual(['erase live']);
    expect(await inScript(), 'its own').toEqual(['erase cached']);
    expect(await onTerminal(), 'its own').toEqual(['ask cached', 'erase cached']);

    box.write(
      '~/.config/plexus/mcp.json',
      readFileSync(box.path('~/.config/plexus/mcp.json'), 'utf8').replace('"files":', '"others":'),
    );
    const { tools } = await box.json('tools', 'others', '--live');
    expect(shown(tools)).toEqual(['erase live']);
    const terminal = openTerminal(box, ['tools', 'others', '--json']);
    terminal.start();
    await terminal.done;
    expect(terminal.screen(), 'listed by the script').toMatch(/"freshness": "cached"/);
  });
});

describe.skipIf(!hasTerminal)('on a terminal', () => {
  const talking = fileURLToPath(new URL('../servers/talking.mjs', import.meta.url));
  beforeEach(() => {
    box.write('~/.config/plexus/mcp.json', {
      mcpServers: { talks: { command: process.execPath, args: [talking] } },
    });
  });

  test('a call shows the steps of its progress', async () => {
    const terminal = openTerminal(box, ['call', 'talks', 'steps']);
    terminal.start();
    await terminal.shows('calling steps … 1/2 (50 %) copying');
    await terminal.shows('both steps');
    expect(await terminal.done).toBe(0);
  });

  test('a no is carried out, not explained', async () => {
    const terminal = openTerminal(box, ['call', 'talks', 'erase']);
    terminal.start();
    await terminal.shows('[N] no:');
    await terminal.type('n');
    await terminal.shows('Not called: you said no.');
    expect(await terminal.done).toBe(3);
    expect(terminal.screen()).not.toContain('needs an approval');
  });

  test.each(['scan', 'redact'])('plexus %s says that it reads standard input', async (verb) => {
    const terminal = openTerminal(box, [verb]);
    terminal.start();
    await terminal.shows('Reading standard input: type or paste the text, then press Ctrl-D on an empty line.');
    terminal.send('fine\r\u0004');
    expect(await terminal.done).toBe(0);
  });
});
