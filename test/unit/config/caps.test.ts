// Owns the proof that no file of the workspace keeps the host busy: one over a cap is refused whole, by its size before it is
// read, and that loosens nothing.

import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { overCap } from '../../../src/config/caps.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { limits } from '../../../src/model/limits.ts';
import { loadLock } from '../../../src/trust/locked-tools.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, environment, type Files, loadFolder, messagesOf, scopesOf, servers, USER } from './folder.ts';

const { bytes, servers: mostServers, rules: mostRules, arguments: mostArguments } = limits.workspaceFile;
const UNREAD = 'so nothing in the file counts';
const many = <Each>(count: number, each: (at: number) => Each) => Array.from({ length: count }, (_, at) => each(at));

describe('a file of the workspace', () => {
  verifies('CFG-17', 'that is too large is refused by its size: not one byte of it is read', async () => {
    // A terabyte with nothing in it: reading or parsing it would end this test.
    const places = [
      '.mcp.json',
      '.mcp.toml',
      '.plexus.local.toml',
      '.plexus/plugins/p/plugin.json',
      '.cursor/mcp.json',
    ];
    const cwd = await createFolder({
      ...Object.fromEntries(places.map((place) => [place, ''])),
      [USER]: `${servers('mine')}[plexus]\nimport = ["cursor"]\n`,
    });
    for (const place of places) await truncate(join(cwd, place), 2 ** 40);
    const loaded = await loadConfig(environment(cwd));
    expect(scopesOf(loaded)).toEqual(['mine user']);
    const told = loaded.diagnostics.map(({ file = '', message }) => [file.slice(cwd.length + 1), message]);
    const problem = `the file has ${2 ** 40} bytes, and at most ${bytes} are read, ${UNREAD}`;
    const asks = ', and until it is shortened every tool asks';
    expect(Object.fromEntries(told)).toEqual({
      ...Object.fromEntries(places.slice(0, 3).map((place) => [place, problem + asks])),
      ...Object.fromEntries(places.slice(3).map((place) => [place, problem])),
    });
    expect(loaded.capped.map(({ file }) => file)).toEqual(
      ['.plexus.local.toml', '.mcp.toml', '.mcp.json'].map((place) => join(cwd, place)),
    );
  });

  verifies('CFG-17', 'is read up to the last byte it may have, and the person’s own beyond', async () => {
    const padded = (size: number) => '{"mcpServers":{"a":{"command":"x"}}}'.padEnd(size);
    expect(scopesOf(await loadFolder({ '.mcp.json': padded(bytes) }))).toEqual(['a project']);
    expect(scopesOf(await loadFolder({ '.mcp.json': padded(bytes + 1) }))).toEqual([]);
    expect(scopesOf(await loadFolder({ 'home/.config/plexus/mcp.json': padded(bytes + 1) }))).toEqual(['a user']);
  });

  const entries = (count: number) =>
    JSON.stringify({ mcpServers: Object.fromEntries(many(count, (at) => [`s${at}`, { command: 'x' }])) });
  const rules = (count: number) =>
    JSON.stringify({ permissions: { rules: many(count, (at) => ({ tool: `mcp__a__${at}`, action: 'deny' })) } });
  const words = (count: number) => JSON.stringify({ mcpServers: { a: { command: 'x', args: many(count, String) } } });

  for (const [what, text, most, label] of [
    ['servers', entries, mostServers, '"mcpServers"'],
    ['rules', rules, mostRules, '"permissions.rules"'],
    ['arguments', words, mostArguments, '"mcpServers.a"'],
  ] as const) {
    verifies('CFG-17', `with more ${what} than it may have is refused whole, and every tool asks`, async () => {
      const other: Files = { '.plexus.local.toml': servers('local') };
      const full = await loadFolder({ ...other, '.mcp.json': text(most) });
      expect([full.capped, full.diagnostics.filter(({ severity }) => severity === 'error')]).toEqual([[], []]);
      const over = await loadFolder({ ...other, '.mcp.json': text(most + 1) });
      expect([scopesOf(over), over.rules, over.capped.map(({ file }) => file)]).toEqual([
        ['local local'],
        [],
        ['.mcp.json'],
      ]);
      expect(messagesOf(over)).toEqual([
        `error: ${label} has ${most + 1} ${what}, and a file of the workspace may have ${most}, ${UNREAD}, and until it is shortened every tool asks`,
      ]);
    });
  }

  test('is over a cap whichever way its arguments are written', () => {
    const list = many(mostArguments, String);
    const isOver = (entry: object) => overCap([{ path: ['servers'], entries: { a: entry } }], undefined) !== undefined;
    expect(isOver({ command: ['x', ...list] })).toBe(true);
    expect(isOver({ command: `x ${list.join(' ')} y` })).toBe(true);
    expect(isOver({ command: { path: 'x', arguments: ['y', ...list] } })).toBe(true);
    expect(isOver({ transport: { cmd: 'x', args: ['y', ...list] } })).toBe(true);
    expect(isOver({ command: 'x', args: list, enabledTools: [...list, ...list] })).toBe(false);
  });

  verifies('CFG-17', 'that grew too large does not count as it was before either', async () => {
    const cwd = await createFolder({ '.mcp.toml': servers('a') });
    const options = { ...environment(cwd), remembered: new Map() };
    expect(scopesOf(await loadConfig(options))).toEqual(['a project']);
    await truncate(join(cwd, '.mcp.toml'), bytes + 1);
    const loaded = await loadConfig(options);
    expect([scopesOf(loaded), loaded.capped.length]).toEqual([[], 1]);
  });
});

describe('a lock of ten megabytes', () => {
  const pin = (at: number) => [`tool${at}`, { hash: `sha256:${'a'.repeat(64)}`, parameters: { [`p${at}`]: 'string' } }];
  const text = JSON.stringify({ version: 1, servers: { s: Object.fromEntries(many(50_000, pin)) } }, null, 2);

  verifies('CFG-17', 'is read while other work goes on', async () => {
    const folder = await createFolder({ 'plexus.lock': text });
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const loaded = await loadLock(folder);
    isOver = true;
    expect(loaded.kind).toBe('lock');
    expect(turns).toBeGreaterThan(text.length / 1024 / 1024);
  });

  test('that is not strict JSON is refused without the slow parser', async () => {
    const folder = await createFolder({ 'plexus.lock': `// mine\n${text}` });
    expect(await loadLock(folder)).toMatchObject({
      kind: 'broken',
      error: { message: expect.stringContaining('it is not JSON') },
    });
  });
});
