// Owns the proof that placeholders are filled in once and in linear time, and that missing values are named.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  expand,
  foreignPlaceholdersIn,
  inputsOf,
  isCommand,
  type Lookups,
  variablesOf,
} from '../../../src/config/expand.ts';
import { processorMs, runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';

const values = new Map([
  ['A', 'one'],
  ['EMPTY', ''],
  ['NESTED', '${A}'],
  ['/', 'slash'],
  ['workspaceFolder', '/work'],
]);
const answers = new Map([['key', 'k1']]);
const lookups: Lookups = { variable: (name) => values.get(name), input: (id) => answers.get(id) };
const nothing: Lookups = { variable: () => undefined };

describe('a placeholder', () => {
  const cases: Record<string, [text: string, value: string, missing?: string[]]> = {
    'is filled in wherever it stands': ['x ${A} y ${A}', 'x one y one'],
    'may say env: in front of its name': ['${env:A}', 'one'],
    'may be written without a dollar, with env: in front': ['x{env:A}y', 'xoney'],
    'may be a folder of the editor': ['${workspaceFolder}/src', '/work/src'],
    'may be the separator of paths': ['a${/}b', 'aslashb'],
    'takes its default when it is not set': ['${B:-two}', 'two'],
    'takes its default also with env:': ['${env:B:-two}', 'two'],
    'takes its value when it is set': ['${A:-two}', 'one'],
    'takes an empty default': ['[${B:-}]', '[]'],
    'takes its default for an empty value, as a shell does': ['${EMPTY:-two}', 'two'],
    'takes an empty value without a default': ['[${EMPTY}]', '[]'],
    'may have another one for its default': ['${B:-${C:-${A}}}', 'one'],
    'may have one without a dollar for its default': ['${B:-{env:A}}', 'one'],
    'may stand inside the text of a default': ['${B:-http://${A}:${C:-80}/}', 'http://one:80/'],
    'names what is missing, once': ['${B}${C}${B}{env:D}', '', ['B', 'C', 'D']],
    'does not miss what stands in a default nobody needs': ['${A:-${B}}', 'one'],
    'misses what a default needs': ['${B:-${C}}', '', ['C']],
    'is filled in once: a value is no template': ['${NESTED}', '${A}'],
    'is filled in once, also out of a default': ['${B:-${NESTED}}', '${A}'],
    'keeps dollars in its default': ['${B:-$1$&$$}', '$1$&$$'],
    'keeps colons and dashes in its default': ['${B:-a:-b}', 'a:-b'],
    'keeps an opening brace in its default': ['${B:-{}', '{'],
    'may be called env': ['${env:-two}', 'two'],
    'may be called input': ['${input:-two}', 'two'],
    'keeps a dollar in front of it': ['$${A}', '$one'],
    'stands inside what is none': ['${${A}', '${one'],
    'does not become one by being put together': ['${${A}}', '${one}'],
    'counts although one around it never ends': ['${B:-${A} ${C:-c}', '${B:-one c'],
    'counts line by line': ['a\n${A}\r\nb', 'a\none\r\nb'],
  };
  for (const [sentence, [text, value, missing = []]] of Object.entries(cases)) {
    verifies('CFG-21', sentence, () => {
      expect(expand(text, lookups)).toEqual({ value, missing, missingInputs: [] });
    });
  }

  const strange = [
    '$A $ {A} { } {A} {env} {env:} {env:1A} {env:A B} {ENV:A}',
    '${} ${ } ${1A} ${A B} ${A:b} ${A-b} ${A:?b} ${A.b} ${-A} ${A:} ${:-b}',
    '${config:a.b} ${command:pick} ${file:x} ${extensionPath:a} ${input:} ${input:a b} ${env:} ${env:a:b}',
    '${',
    '}',
    '${A',
    '${A:-',
    '{env:A',
    '${Ä} ${A\u0000}',
  ];
  test.each(strange)('is none of %j, and that stays as it is', (text) => {
    expect(expand(text, lookups)).toEqual({ value: text, missing: [], missingInputs: [] });
    expect([variablesOf(text), inputsOf(text)]).toEqual([[], []]);
  });

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'called %s is a name like any other',
    (name) => {
      expect(expand(`\${${name}}{env:${name}}`, nothing)).toEqual({ value: '', missing: [name], missingInputs: [] });
      expect(expand(`\${${name}}`, { variable: (each) => `<${each}>` }).value).toBe(`<${name}>`);
      expect(variablesOf(`\${${name}}`)).toEqual([name]);
    },
  );

  test('that is missing stays as it is written where that is wanted', () => {
    const text = 'a ${B} {env:C} ${env:D} ${input:none} ${E:-e} ${A}';
    expect(expand(text, { ...lookups, keepMissing: true })).toEqual({
      value: 'a ${B} {env:C} ${env:D} ${input:none} e one',
      missing: ['B', 'C', 'D'],
      missingInputs: ['none'],
    });
  });

  verifies('CFG-21', 'for an input is answered by a person, not by the environment', () => {
    const text = '${input:key} ${input:none} ${input:other:-${A}} ${input:a.b-c} ${input:A}';
    expect(expand(text, lookups)).toEqual({
      value: 'k1  one  ',
      missing: [],
      missingInputs: ['none', 'a.b-c', 'A'],
    });
    expect(expand('${input:key}', nothing)).toEqual({ value: '', missing: [], missingInputs: ['key'] });
    expect([variablesOf(text), inputsOf(text)]).toEqual([['A'], ['key', 'none', 'other', 'a.b-c', 'A']]);
  });

  test('is listed with those in its default, once each', () => {
    expect(variablesOf('${A:-${B}} {env:C} ${env:A} ${input:x:-${D}}')).toEqual(['A', 'B', 'C', 'D']);
  });

  test('counts down to the twentieth level; what lies deeper is text', () => {
    const nested = (depth: number) => `${'${B:-'.repeat(depth)}x${'}'.repeat(depth)}`;
    expect(expand(nested(20), nothing)).toEqual({ value: 'x', missing: [], missingInputs: [] });
    expect(expand(nested(21), nothing)).toEqual({ value: '${B:-x}', missing: [], missingInputs: [] });
  });
});

test('placeholders of other programs are recognized, and stay as they are', () => {
  const foreign = ['${config:a.b}', '${command:x}', '${file:y}', '${evn:HOME}', '{file:~/k}'];
  const text = [...foreign, '${A}', '${input:a}', '{env:A}', '${file}', '${config:-x}'].join(' ');
  expect(foreignPlaceholdersIn(text)).toEqual(foreign);
  expect(expand(foreign.join(' '), nothing).value).toBe(foreign.join(' '));
});

test('one exclamation mark at the beginning is a command, two are not', () => {
  expect(['!a', '!', '!!a', '!!!a', ' !a', 'a!', ''].map(isCommand)).toEqual([
    ...[true, true],
    ...[false, false, false, false, false],
  ]);
});

describe('any text', () => {
  test('without a brace stays as it is, whatever else it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(!text.includes('{'));
        expect(expand(text, { variable: () => 'x' })).toEqual({ value: text, missing: [], missingInputs: [] });
      }),
    );
  });

  const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
  const plain = fc.string().filter((text) => !/[${}]/.test(text));
  const spelling = fc.constantFrom<(variable: string) => string>(
    (variable) => `\${${variable}}`,
    (variable) => `\${env:${variable}}`,
    (variable) => `{env:${variable}}`,
  );

  test('with names in it becomes the text with the values between', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(plain, name, spelling)), plain, (parts, last) => {
        const text = parts.map(([before, variable, spell]) => before + spell(variable)).join('') + last;
        const value = parts.map(([before, variable]) => `${before}<${variable}>`).join('') + last;
        expect(expand(text, { variable: (variable) => `<${variable}>` }).value).toBe(value);
        expect(variablesOf(text)).toEqual([...new Set(parts.map(([, variable]) => variable))]);
        expect(expand(text, nothing).missing).toEqual(variablesOf(text));
      }),
    );
  });

  test('gives what repeated rewriting from the inside out gives', () => {
    const piece = fc.constantFrom(
      ...['${', '${A', '${B:-', '${env:', '${input:key', '{env:A}', '{env:', '{', '}', '}', '}'],
      ...['$', 'A', 'B_1', ':-', '/', ' ', '\n', '!', 'EMPTY', 'NESTED'],
    );
    const text = fc.array(piece, { maxLength: 40 }).map((each) => each.join(''));
    // Beyond the twentieth level the two need not agree.
    const isShallow = (each: string) => each.split('${').length <= 20;
    fc.assert(
      fc.property(text.filter(isShallow), fc.boolean(), (each, keepMissing) => {
        const given = { ...lookups, keepMissing };
        expect(expand(each, given)).toEqual(rewrite(each, given));
      }),
      { numRuns: runs(5_000) },
    );
  });

  test('never makes it throw', () => {
    const unit = fc.constantFrom('$', '{', '}', ':', '-', 'e', 'n', 'v', '/', '\ud800', '\u0000', '${', '{env:', '}');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 200 }), (each) => {
        const { value } = expand(each, { ...nothing, keepMissing: true });
        expect(value.length).toBeLessThanOrEqual(each.length);
        expect([variablesOf(each), inputsOf(each), foreignPlaceholdersIn(each)].every(Array.isArray)).toBe(true);
      }),
      { numRuns: runs(2_000) },
    );
  });

  const hostile = [
    '${',
    '${A',
    '${A:-',
    '${A:-}',
    '${!}',
    '${env:',
    '{env:',
    '{env:A',
    '}',
    '${A:-{env:A}',
    '{file:',
    '$',
  ];
  test.each(hostile)('takes time by its length only, even %j over and over', (piece) => {
    const work = (times: number) => () => {
      for (const text of [
        piece.repeat(times),
        `${piece.repeat(times)}}`,
        `${piece.repeat(times)}${'}'.repeat(times)}`,
      ]) {
        expand(text, lookups);
        variablesOf(text);
        foreignPlaceholdersIn(text);
      }
    };
    work(10_000)();
    // Eight times the text: eight times the work, where the square would be sixty-four times as much. One good
    // measurement is enough: other work of the machine can only spoil one.
    const isLinear = () => processorMs(work(40_000)) < 24 * processorMs(work(5_000));
    expect(Array.from({ length: 10 }).some(isLinear)).toBe(true);
  });
});

const MARK = /[\ue000-\uf8ff]/g;
const INNERMOST = /\$\{((?:(?!\$\{)[^}])*)\}/;
const BODY = /^(?:(input):([\w.][\w.-]*)|(?:env:)?([A-Za-z_]\w*|\/))(?::-([\s\S]*))?$/;

/**
 * An independent implementation: replaces the innermost placeholder by a mark until none is left, then reads the marks from the
 * outside in.
 */
function rewrite(text: string, { variable, input, keepMissing }: Lookups) {
  const marks: (() => string)[] = [];
  const missing = new Set<string>();
  const missingInputs = new Set<string>();
  const mark = (read: () => string) => String.fromCharCode(0xe000 + marks.push(read) - 1);
  const read = (marked: string): string => marked.replace(MARK, (each) => marks[each.charCodeAt(0) - 0xe000]?.() ?? '');
  const filled = (whole: string, isInput: boolean, name: string, fallback?: string) => () => {
    const value = isInput ? input?.(name) : variable(name);
    if (value || (value === '' && fallback === undefined)) return value;
    if (fallback !== undefined) return read(fallback);
    (isInput ? missingInputs : missing).add(name);
    return keepMissing ? whole : '';
  };

  let rest = text.replace(/(?<!\$)\{env:([A-Za-z_]\w*)\}/g, (whole, name: string) => mark(filled(whole, false, name)));
  while (INNERMOST.test(rest)) {
    rest = rest.replace(INNERMOST, (whole, body: string) => {
      const [match, isInput, id, name, fallback] = BODY.exec(body) ?? [];
      if (match === undefined) return mark(() => `\${${read(body)}}`);
      return mark(filled(whole, isInput !== undefined, id ?? name ?? '', fallback));
    });
  }
  return { value: read(rest), missing: [...missing], missingInputs: [...missingInputs] };
}
