// Owns the proof of conditions on arguments: no spelling of an argument gets more out of an allow than it says, or around a deny
// or ask.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { realPath } from '../../../src/kernel/real-path.ts';
import { type ArgumentConditions, faultsIn, type Verdict } from '../../../src/model/rule.ts';
import { createJudge } from '../../../src/policy/judge.ts';
import { parseRule } from '../../../src/policy/rule.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';

const box = realpathSync(mkdtempSync(join(tmpdir(), 'plexus-conditions-')));
afterAll(() => rmSync(box, { recursive: true }));
for (const folder of ['work/out/deep', 'work/other', 'secret/deep', 'home/notes'])
  mkdirSync(join(box, folder), { recursive: true });
symlinkSync('../../secret', join(box, 'work/out/leak'));
symlinkSync('../../secret/new', join(box, 'work/out/dangling'));
symlinkSync('out', join(box, 'work/in'));
symlinkSync('../secret', join(box, 'work/away'));
symlinkSync('../other', join(box, 'work/out/.hop'));

const work = join(box, 'work');
const write = { server: 'files', tool: 'write' };
const name = 'mcp__files__write';
const bases = { cwd: work, home: join(box, 'home') };

/** Whether a rule with these conditions decides a call with these arguments. */
function speaks(
  action: Verdict,
  args: ArgumentConditions,
  given: Record<string, unknown>,
  folder: string | undefined = work,
): boolean {
  const rule = parseRule(
    { tool: name, action, args, provenance: { scope: 'user', file: `${work}/mcp.toml`, key: [] } },
    bases,
  );
  return createJudge([rule], { folderOf: () => folder, realPath }).judge(write, name, given).byRule;
}

const both = (args: ArgumentConditions, given: Record<string, unknown>, folder?: string) => [
  speaks('allow', args, given, folder),
  speaks('deny', args, given, folder),
];
const [certain, never, perhaps] = [
  [true, true],
  [false, false],
  [false, true],
];

type Table = Record<string, [given: unknown, answer: readonly boolean[] | undefined]>;

function holds(args: ArgumentConditions, table: Table): void {
  for (const [what, [given, answer]] of Object.entries(table))
    test(what, () => {
      expect(both(args, { it: given })).toEqual(answer);
    });
}

describe('a path under a folder', () => {
  holds(
    { it: { under: './out' } },
    {
      'relative to the folder of its server': ['out/a.txt', certain],
      'with dots and slashes that say nothing': ['.//out/./deep//a', certain],
      absolute: [`${work}/out/a`, certain],
      'the folder itself': ['out', certain],
      'the folder itself, with a slash': ['out/', certain],
      'in a list': [['out/a', 'out/b'], certain],
      'in a list of lists': [[['out/a'], ['out/b']], certain],
      'a name that begins with dots': ['out/...', certain],
      'a name with brackets': ['out/[id].tsx', certain],
      'an address of it': [`file://${work}/out/a`, certain],
      'an address of it with an escape': [`file://${work}/out/a%20b`, certain],
      'through a link that leads to it': ['in/a', perhaps],

      'beside it': ['other/a', never],
      'a folder that begins like it': ['outside/a', never],
      'its parent': ['.', never],
      'back out of it': ['out/../other/a', never],
      'an address of something else': [`file://${box}/secret/a`, never],

      'in and out of it again, where it ends inside': ['other/../out/a', perhaps],
      'back into it': ['out/../out/a', perhaps],
      'with capitals, for file systems that do not tell them apart': ['OUT/a', perhaps],
      'with escapes': ['%6fut/a', perhaps],
      'with escaped escapes': ['%256fut/a', perhaps],
      'with an escaped way out': ['out/%2e%2e/%2e%2e/secret', perhaps],
      'with backslashes': ['out\\a', perhaps],
      'with a NUL': ['other\0/../out', perhaps],
      'with a line break': ['other/a\n', perhaps],
      'with blanks around it': [' out/a', perhaps],
      'with invisible characters': ['o\u200but/a', perhaps],
      'in wide characters': ['ｏｕｔ／a', perhaps],
      'with dots of another alphabet': ['out/．．/．．/secret', perhaps],
      'in a home': ['~/a', perhaps],
      'with a variable': ['$HOME/a', perhaps],
      'with a command': ['`pwd`/a', perhaps],
      'with a lone surrogate': ['other/\ud800', perhaps],
      'with bytes that are no text': ['other/%c0%ae', perhaps],
      'through a link that leads away': ['out/leak/a', perhaps],
      'through a link that leads to nothing yet': ['out/dangling', perhaps],
      'through a process of somebody': ['/proc/self/cwd/out/a', perhaps],
      'a pattern that may find it': ['o*/a', perhaps],
      'a pattern with alternatives': ['{other,out}/a', perhaps],
      'a pattern elsewhere': ['other/*/a', never],
      'on a drive': ['C:/out/a', perhaps],
      'an address of another kind': ['https://example.com/out', perhaps],
      'an address of another machine': ['file://host/out/a', never],
      'in quotes': ['"out/a"', perhaps],
      'in other quotes': [" 'out/a'", perhaps],
      'behind a sign': ['@out/a', perhaps],
      'a list that is a text': ['["other/a", "out/a"]', perhaps],
      'a map that is a text': ['{"path": "out/a"}', perhaps],
      'behind another, with a comma': [`other/a,${work}/out/a`, perhaps],
      'behind another, with a comma, relative': ['other/a,out/a', perhaps],
      'behind another, with a colon': ['other/a:./out/a', perhaps],
      'behind another, with a blank': ['other/a ./out/a', perhaps],
      'behind an option': ['--file=./out/a', perhaps],
      'before another, with a comma': ['out/a,/etc/passwd', perhaps],
      'before another, with a colon': ['out/a:/etc/passwd', perhaps],
      'before another, with a blank': ['out/a /etc/passwd', perhaps],
      'before another, which goes back': ['out/a, ../other', perhaps],
      'before a command': ['out/a;id', perhaps],
      'with a blank and a colon in its name': ['out/Tom R/a b: c=d 04:44.txt', certain],
      'with a comma in its name, which may be a list': ['out/Tom, R&D/a b.txt', perhaps],
      'before another, with a comma, relative': ['out/x,secret/k', perhaps],
      'before a name, with a comma': ['out/x,.env', perhaps],
      'before another, with a colon, relative': ['out/x:secret/k', perhaps],
      'before a hidden name, with a colon': ['out/x:.env', perhaps],
      'before another, with a sign': ['out/x&secret/k', perhaps],
      'an address of two': [`file://${work}/out/x,secret/k`, perhaps],
      'two of them, with a comma': ['out/a, out/b', certain],
      'behind another, with a colon, relative': ['other/a:out/b', perhaps],
      'behind another, with a blank, relative': ['other/a out/b', perhaps],
      'two elsewhere': ['other/a,/etc/passwd other/b', never],
      'longer than any path': [`out/${'a/'.repeat(3_000)}`, perhaps],

      missing: [undefined, never],
      null: [null, never],
      empty: ['', never],
      'a number': [1, perhaps],
      true: [true, perhaps],
      'a map': [{ path: 'out/a' }, perhaps],
      'an empty list': [[], never],
      'a list with one that lies elsewhere': [['out/a', 'other/b'], perhaps],
      'a list with nothing in it': [['out/a', null], perhaps],
      'a list of elsewheres': [['other/a', 'other/b'], never],
      'a list longer than anybody reads': [new Array(5_000).fill('out/a'), perhaps],
    },
  );

  test('no folder condition allows a call of a server on another machine; a deny still matches absolute paths there', () => {
    const rule = parseRule({
      tool: name,
      action: 'allow',
      args: { it: { under: '/data' } },
      provenance: { scope: 'host', key: [] },
    });
    const deny = parseRule({
      tool: name,
      action: 'deny',
      args: { it: { under: '/data' } },
      provenance: { scope: 'host', key: [] },
    });
    const judged = (each: typeof rule, it: string) =>
      createJudge([each], { folderOf: () => undefined, realPath }).judge(write, name, { it }).byRule;
    expect(['/data/x', 'x', '/other'].map((it) => [judged(rule, it), judged(deny, it)])).toEqual([
      [false, true],
      [false, true],
      [false, false],
    ]);
  });

  test('a folder that is a link out of its base allows nothing, and denies both ends of the link', () => {
    expect(both({ it: { under: './away' } }, { it: 'away/x' })).toEqual(perhaps);
    expect(both({ it: { under: './away' } }, { it: `${box}/secret/x` })).toEqual(perhaps);
    // An absolute folder in a rule may be a link: the rule names it in full.
    expect(both({ it: { under: `${work}/away` } }, { it: 'away/x' })).toEqual(certain);
  });

  test('folders are written relative to the file, to the workspace, or to the home', () => {
    expect(both({ it: { under: '../work/out' } }, { it: 'out/a' })).toEqual(certain);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes it
    expect(both({ it: { under: '${workspaceFolder}/out' } }, { it: 'out/a' })).toEqual(certain);
    expect(both({ it: { under: '~/notes' } }, { it: `${box}/home/notes/a` })).toEqual(certain);
    expect(both({ it: { under: ['./other', './out'] } }, { it: 'out/a' })).toEqual(certain);
  });

  const part = fc.constantFrom(
    'out',
    'out',
    'other',
    'deep',
    'leak',
    'in',
    '.hop',
    '..',
    '..',
    '.',
    '',
    'a',
    '...',
    'dangling',
  );
  const anyPath = fc
    .tuple(
      fc.constantFrom('', 'out/', 'in/', './/out/', '/', `${work}/`, `${work}/out/`, '//'),
      fc.array(part, { maxLength: 8 }),
    )
    .map(([start, parts]) => start + parts.join('/'));
  const really = (path: string) => realPath(path.startsWith('/') ? path : `${work}/${path}`) ?? '';
  const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

  test('no path that leads elsewhere is allowed, however it is written', () => {
    const allows = counted();
    fc.assert(
      fc.property(anyPath, (path) => {
        if (!speaks('allow', { it: { under: './out' } }, { it: path })) return;
        allows.count++;
        expect(isIn(posix.resolve(work, path), `${work}/out`), path).toBe(true);
        expect(isIn(really(path), `${work}/out`), path).toBe(true);
      }),
      { numRuns: runs(3_000) },
    );
    expect(allows.count).toBeGreaterThan(runs(100));
  });

  test('every path that leads there is denied, however it is written', () => {
    const closed = counted();
    const disguise = fc.constantFrom<(path: string) => string>(
      (path) => path,
      (path) => path.replaceAll('/', '//'),
      (path) => path.replaceAll('/', '/./'),
      (path) => path.replaceAll('/', '\\'),
      (path) => path.replaceAll('o', '%6f').replaceAll('.', '%2E'),
      (path) => encodeURIComponent(encodeURIComponent(path)),
      // On a case-sensitive file system a link in capitals is another file.
      (path) => (isIn(posix.resolve(work, path), `${work}/out`) ? path.toUpperCase() : path),
      (path) => `  ${path}\u200b`,
      (path) => path.replaceAll('u', 'ｕ'),
      (path) => `file://${posix.isAbsolute(path) ? '' : `${work}/`}${path}`,
      (path) => `file://localhost${posix.isAbsolute(path) ? '' : `${work}/`}${encodeURI(path)}`,
      (path) => `other/../${path}`,
    );
    fc.assert(
      fc.property(anyPath, disguise, (path, hide) => {
        if (path === '' || (!isIn(posix.resolve(work, path), `${work}/out`) && !isIn(really(path), `${work}/out`)))
          return;
        closed.count++;
        // A path in a list after another one stays the same only if it is relative.
        const hidden = hide(path).startsWith('other/') && posix.isAbsolute(path) ? path : hide(path);
        expect(speaks('deny', { it: { under: './out' } }, { it: hidden }), hidden).toBe(true);
      }),
      { numRuns: runs(3_000) },
    );
    expect(closed.count).toBeGreaterThan(runs(300));
  });
});

function counted() {
  return { count: 0 };
}

describe('an address on a host', () => {
  holds(
    {
      it: {
        host: ['*.example.com', 'localhost:3000', 'internal.example:3000', '[::1]:*', 'bücher.example'],
      },
    },
    {
      'of it': ['https://api.example.com/x?y#z', certain],
      'of it, deeper': ['http://a.b.example.com', certain],
      'in capitals': ['HTTPS://API.EXAMPLE.COM/', certain],
      'with the usual port': ['https://api.example.com:443/', certain],
      'with a sign in its path': ['https://api.example.com/@me', certain],
      'the host alone': ['api.example.com', certain],
      'over a socket': ['wss://api.example.com/', certain],
      'with the port that is named': ['http://localhost:3000/x', certain],
      'by number, in the sixth version': ['http://[::1]:8080/', certain],
      'as browsers write it': ['https://xn--bcher-kva.example/', certain],

      'of another': ['https://example.org/', never],
      'of what it belongs to': ['https://example.com/', never],
      'with it in the path': ['https://example.org/api.example.com', never],
      'with it as a beginning': ['https://api.example.com.example.org/', never],
      'with another port than the one that is named': ['http://internal.example:3001/', never],

      'with an unusual port': ['https://api.example.com:8443/', perhaps],
      'with the port of another scheme': ['http://api.example.com:443/', perhaps],
      'with a dot at the end': ['https://api.example.com./', perhaps],
      'with a name before it': ['https://me@api.example.com/', perhaps],
      'with it as the name': ['https://api.example.com@example.org/', perhaps],
      'with it as the name, behind a hash': ['https://api.example.com#@example.org/', perhaps],
      'with it as name and password': ['https://api.example.com:443@example.org/', perhaps],
      'with a backslash': ['https://api.example.com\\@example.org/', perhaps],
      'with a tab': ['https://api.exam\tple.com/', perhaps],
      'with a blank before it': [' https://api.example.com/', perhaps],
      'in another alphabet': ['https://api.еxample.com/', perhaps],
      'with an escape': ['https://api%2eexample.com/', perhaps],
      'without a scheme': ['//api.example.com/', perhaps],
      'with a scheme of few': ['gopher://api.example.com/', perhaps],
      'without a host': ['data:text/plain,x', perhaps],
      'by a number that is an address': ['http://2130706433/', perhaps],
      'with too few slashes': ['https:/api.example.com/', perhaps],
      'no address at all': ['not an address', perhaps],
      'a number': [7, perhaps],
      missing: [undefined, never],
      'one of two elsewhere': [['https://api.example.com/', 'https://example.org/'], perhaps],
      'before another, with a comma': ['http://x.example.com/,http://evil.org', perhaps],
      'before another, with an escaped comma': ['http://x.example.com/%2Chttp://evil.org', perhaps],
      'before another without a scheme': ['http://x.example.com/,evil.org/x', perhaps],
      'before another without a scheme, with slashes': ['http://x.example.com/;//evil.org/x', perhaps],
      'before a number': ['http://x.example.com/|169.254.169.254', perhaps],
      'before another, in a name': ['http://x.example.com/,u=http://evil.org', perhaps],
      'behind another, with a comma': ['http://evil.org/,http://x.example.com', perhaps],
      'behind another, with a semicolon': ['http://evil.org/;x.example.com/', perhaps],
      'two of it': ['http://x.example.com/,https://y.example.com/', certain],
      'two elsewhere': ['http://evil.org/,http://evil.net/', never],
      'with commas in its path': ['https://maps.example.com/@52.5,13.4,15z/data;v=1', certain],
      'with an address in its question': ['https://api.example.com/?next=https://example.org/', certain],
    },
  );

  holds(
    { it: { host: ['169.254.*', '127.0.0.1', '[0:0:0:0:0:ffff:0a00:0001]', '[64:ff9b::a00:2]:81'] } },
    {
      'by number': ['http://169.254.169.254/', certain],
      'by a number of the sixth version that is mapped to it': ['http://[::ffff:a9fe:a9fe]/', perhaps],
      'by one that is compatible': ['http://[::a9fe:a9fe]/', perhaps],
      'by one that is translated': ['http://[64:ff9b::a9fe:a9fe]/', perhaps],
      'by one that is mapped to another': ['http://[::ffff:a9ff:a9fe]/', never],
      'by one of the sixth version alone': ['http://[2001:db8::a9fe:a9fe]/', never],
      'by number, where the rule has a mapped one': ['http://10.0.0.1/', perhaps],
      'by number, where the rule has one with this port': ['http://10.0.0.2:81/', perhaps],
      'by number, where the rule has one with another port': ['http://10.0.0.2/', never],
      'this machine, by name': ['http://localhost:8080/', perhaps],
      'this machine, by a name below': ['http://app.localhost/', perhaps],
      'this machine, in the sixth version': ['http://[::1]/', perhaps],
      'this machine, as any': ['http://0.0.0.0/', perhaps],
      'this machine, by another number of its own': ['http://127.0.0.2/', perhaps],
      'this machine, mapped': ['http://[::ffff:7f00:1]/', perhaps],
      'another machine with such a beginning': ['http://localhost.example/', never],
      'this machine, by a short number': ['http://127.1/', perhaps],
      'this machine, by one number': ['http://2130706433/', perhaps],
      'this machine, in base sixteen': ['http://0x7f000001/', perhaps],
      'this machine, in base eight': ['http://0177.0.0.1/', perhaps],
      'this machine, by nothing': ['http://0/', perhaps],
      'this machine, with a dot at the end': ['http://localhost./', perhaps],
      'this machine, alone': ['127.1', perhaps],
      'this machine, in base sixteen, alone': ['0x7f000001', perhaps],
      'this machine, in full': ['http://[0:0:0:0:0:0:0:1]/', perhaps],
      'this machine, as any in the sixth version': ['http://[::]/', perhaps],
      'this machine, by 6to4': ['http://[2002:7f00:1::]/', perhaps],
      'this machine, by a name of its table': ['http://ip6-loopback/', perhaps],
      'this machine, by another name of its table': ['http://localhost6.localdomain6/', perhaps],
      'this machine, by a public name': ['http://app.localtest.me/', perhaps],
      'this machine, by a name with its number': ['http://127-0-0-1.sslip.io/', perhaps],
      'a denied number in a name': ['http://a.169.254.169.254.nip.io/', perhaps],
      'this machine, behind another': ['http://example.com/,http://127.1/', perhaps],
    },
  );

  test('only the host that a browser goes to is allowed', () => {
    const text = fc
      .array(
        fc.constantFrom(
          'https:',
          '//',
          '/',
          'api.example.com',
          'example.org',
          '@',
          ':',
          '443',
          '#',
          '?',
          '\\',
          '.',
          ' ',
          '%2e',
          'x',
          '[',
          ']',
        ),
        {
          maxLength: 8,
        },
      )
      .map((parts) => `https://${parts.join('')}`);
    const allows = counted();
    fc.assert(
      fc.property(text, (it) => {
        if (!speaks('allow', { it: { host: '*.example.com' } }, { it })) return;
        allows.count++;
        expect(new URL(it).hostname.endsWith('.example.com'), it).toBe(true);
      }),
      { numRuns: runs(5_000) },
    );
    expect(allows.count).toBeGreaterThan(runs(10));
    fc.assert(
      fc.property(text, (it) => {
        if (!URL.canParse(it) || !new URL(it).hostname.endsWith('.example.com')) return;
        expect(speaks('deny', { it: { host: '*.example.com' } }, { it }), it).toBe(true);
      }),
      { numRuns: runs(5_000) },
    );
  });
});

describe('one of some values', () => {
  holds(
    { it: { is: ['read', 7, true] } },
    {
      'a text': ['read', certain],
      'a number': [7, certain],
      true: [true, certain],
      'another text': ['write', never],
      'another number': [8, never],
      false: [false, never],
      'a text in capitals': ['READ ', perhaps],
      'a number as text': ['7', perhaps],
      'true as text': ['true', perhaps],
      'a map': [{}, perhaps],
      null: [null, never],
    },
  );
  holds(
    { it: { is: [1, true, 'admin'] } },
    {
      'a number with a fraction': ['1.0', perhaps],
      'a number with a nought': ['01', perhaps],
      'a number with a sign': ['+1', perhaps],
      'a number with an exponent': ['1e0', perhaps],
      'a number in base sixteen': ['0x1', perhaps],
      'a number with a comma': ['1,0', perhaps],
      'a number of another script': ['\u0661', perhaps],
      'a number in quotes': ['"1"', perhaps],
      yes: ['yes', perhaps],
      'yes in capitals': ['YES', perhaps],
      on: ['On', perhaps],
      y: ['y', perhaps],
      'in a list that is a text': ['read,admin', perhaps],
      'in a list that is written as JSON': ['["read", "Admin"]', perhaps],
      'another number': ['1.5', never],
      'ten times it': ['10', never],
      'its opposite': ['-1', never],
      no: ['no', never],
      nought: [0, never],
      'a word that contains it': ['administrator', never],
      'a sentence': ['the admin said so', never],
    },
  );
  holds(
    { it: { is: [8, false, 1_000] } },
    {
      'in base eight': ['010', perhaps],
      no: ['no', perhaps],
      off: ['OFF', perhaps],
      nought: [0, perhaps],
      'nought with a fraction': ['0.0', perhaps],
      'nothing at all': ['', perhaps],
      'with groups': ['1,000', perhaps],
      'with other groups': ['1_000', perhaps],
      yes: ['yes', never],
    },
  );
  test('a value alone, or a list of them, means the same', () => {
    expect(both({ it: 'read' }, { it: 'read' })).toEqual(certain);
    expect(both({ it: ['read', 7] }, { it: 7 })).toEqual(certain);
    expect(both({ it: false }, { it: true })).toEqual(never);
  });
});

describe('a text of some shape', () => {
  holds(
    { it: { like: 'select *' } },
    {
      'that has it': ['select 1', certain],
      'over several lines': ['select 1\nfrom x', certain],
      'that has not': ['drop table x', never],
      'in capitals': ['SELECT 1', perhaps],
      'with other blanks': ['\n select\t1', perhaps],
      'a number': [1, perhaps],
    },
  );
});

describe('arguments', () => {
  verifies('PER-02', 'all conditions of a rule must hold', () => {
    const args = { path: { under: './out', like: '*.txt' }, mode: 'append' };
    expect(both(args, { path: 'out/a.txt', mode: 'append' })).toEqual(certain);
    expect(both(args, { path: 'out/a.bin', mode: 'append' })).toEqual(never);
    expect(both(args, { path: 'out/a.txt', mode: 'replace' })).toEqual(never);
    expect(both(args, { path: 'out/a.txt' })).toEqual(never);
  });

  test('within others are reached by a dot or by a map', () => {
    for (const args of [{ 'options.mode': 'a' }, { options: { mode: 'a' } }, { options: { mode: { is: 'a' } } }]) {
      expect(both(args, { options: { mode: 'a' } })).toEqual(certain);
      expect(both(args, { 'options.mode': 'a' })).toEqual(certain);
      expect(both(args, { options: [{ mode: 'a' }, { mode: 'a' }] })).toEqual(certain);
      expect(both(args, { options: { mode: 'b' } })).toEqual(never);
      expect(both(args, { options: {} })).toEqual(never);
      expect(both(args, { options: null })).toEqual(never);
      // Not all elements have the argument, or there are two values for it.
      expect(both(args, { options: [{ mode: 'a' }, {}] })).toEqual(perhaps);
      expect(both(args, { options: { mode: 'b' }, 'options.mode': 'a' })).toEqual(perhaps);
      expect(both(args, { options: '{"mode":"a"}' })).toEqual(perhaps);
    }
    expect(both({ options: { host: { is: 'a' } } }, { options: { host: 'a' } })).toEqual(certain);
  });

  test('of a prototype do not count', () => {
    expect(both({ constructor: { like: '*' } }, {})).toEqual(never);
    expect(both({ '__proto__.x': 'a' }, JSON.parse('{"__proto__":{"x":"a"}}'))).toEqual(certain);
  });

  test('that never end cost nothing', () => {
    const environment: unknown[] = [];
    environment.push(environment, 'a');
    expect(both({ it: 'a' }, { it: environment })).toEqual(perhaps);
    let deep: unknown = 'a';
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(both({ it: 'a' }, { it: deep })).toEqual(perhaps);
    expect(both({ it: { like: `${'?a'.repeat(500)}*b` } }, { it: 'a'.repeat(10_000_000) })).toEqual(perhaps);
  });
});

describe('what cannot be read', () => {
  const broken: Record<string, unknown> = {
    'a word nobody knows': { it: { undr: './out', under: './out' } },
    'an empty map': { it: {} },
    'an empty list': { it: { under: [] } },
    null: { it: null },
    'a date': { it: { is: [new Date(0)] } },
    'a number as a folder': { it: { under: 7 } },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes it
    'another placeholder': { it: { under: '${HOME}/x' } },
    'the home of another': { it: { under: '~root/x' } },
    'an address as a host': { it: { host: 'https://example.com' } },
    'a host with a path': { it: { host: 'example.com/x' } },
    'a list of conditions': { it: [{ is: 'a' }] },
    'no map at all': ['it'],
  };
  for (const [what, args] of Object.entries(broken))
    verifies('PER-02', `allows nothing, and denies without it: ${what}`, () => {
      expect(both(args as ArgumentConditions, { it: 'anything' })).toEqual(perhaps);
      expect(faultsIn(args).length).toBeGreaterThan(0);
    });

  test('a relative folder without a base allows nothing', () => {
    const rule = (action: Verdict) =>
      parseRule({ tool: name, action, args: { it: { under: './out' } }, provenance: { scope: 'host', key: [] } });
    const environment = { folderOf: () => work, realPath };
    expect(createJudge([rule('allow')], environment).judge(write, name, { it: 'out/a' }).byRule).toBe(false);
    expect(createJudge([rule('deny')], environment).judge(write, name, { it: 'x' }).byRule).toBe(true);
  });

  test('nothing that is written makes it throw', () => {
    fc.assert(
      fc.property(fc.anything(), fc.dictionary(fc.string(), fc.anything()), (args, given) => {
        both({ it: args } as ArgumentConditions, { ...given, it: 'x' });
        both(args as ArgumentConditions, given);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
