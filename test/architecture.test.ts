// Owns the rules of architecture.md section 2: who may import whom, and which shapes of code src does without.
// A rule reads any list of files, so each is first shown to fail on a line or two and only then trusted on src.

import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { importedFile, nodesOf, readSources, type Source } from './sources.ts';

/** From the top. A folder imports from the rows below it, and never from its own row, except for the root files, in their order. */
const rows = [
  ['cli'],
  ['gateway', 'agent'],
  ['serving', 'adapters', 'testing'],
  ['index.ts', 'runtime.ts', 'api.ts', 'view.ts', 'turn.ts', 'events.ts'],
  ['call', 'builtins'],
  ['servers'],
  ['catalog'],
  ['connection'],
  ['trust', 'auth'],
  ['config', 'transport', 'policy', 'shaping', 'store'],
  ['model'],
  ['kernel'],
];

/** Gives one line per violation. */
type Rule = (sources: readonly Source[]) => string[];

function never(isWrong: (node: ts.Node, path: string) => boolean): Rule {
  const at = (node: ts.Node) => node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1;
  return (sources) =>
    sources.flatMap((source) =>
      nodesOf(source)
        .filter((node) => isWrong(node, source.path))
        .map((node) => `${source.path}:${at(node)} ${node.getText().split('\n')[0]}`),
    );
}

const layers: Rule = (sources) =>
  sources.flatMap((source) => {
    if (rowOf(source.path) < 0) return [`${source.path} is in no row`];
    return importsOf(source)
      .filter((target) => stationOf(target) !== stationOf(source.path) && !isBelow(target, source.path))
      .map((target) => `${source.path} → ${target}`);
  });

const stationOf = (path: string) => path.split('/').slice(0, 2).join('/');
const rowOf = (path: string) => rows.findIndex((row) => row.some((station) => `src/${station}` === stationOf(path)));

/** Root files share a row; there, "below" means further to the right. */
function isBelow(target: string, from: string): boolean {
  const [row, other] = [rowOf(from), rowOf(target)];
  if (row !== other) return other > row;
  const order = (rows[row] ?? []).filter((station) => station.endsWith('.ts')).map((station) => `src/${station}`);
  return order.includes(from) && order.indexOf(target) > order.indexOf(from);
}

const cycles: Rule = (sources) => {
  const imports = new Map(sources.map((source) => [source.path, importsOf(source)]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] => {
    if (trail.includes(path)) return [[...trail.slice(trail.indexOf(path)), path].join(' → ')];
    if (done.has(path)) return [];
    const found = (imports.get(path) ?? []).flatMap((target) => visit(target, [...trail, path]));
    done.add(path);
    return found;
  };
  return sources.flatMap(({ path }) => visit(path, []));
};

/** Types count, and so does `import()`: a border crossed late is crossed all the same. JSON is data and has no row. */
function importsOf(source: Source): string[] {
  return nodesOf(source).flatMap((node) => importedFile(node, source) ?? []);
}

function swallowsFailure(node: ts.Node): boolean {
  if (ts.isCatchClause(node)) return node.block.statements.length === 0;
  const method = methodOf(node);
  if (method?.name === 'catch') return doesNothing(method.args[0]);
  return method?.name === 'then' && doesNothing(method.args[1]);
}

function doesNothing(handler: ts.Expression | undefined): boolean {
  if (!handler || !(ts.isArrowFunction(handler) || ts.isFunctionExpression(handler))) return false;
  if (!ts.isBlock(handler.body)) return isNothing(handler.body);
  return handler.body.statements.every((each) => ts.isReturnStatement(each) && isNothing(each.expression));
}

const isNothing = (node: ts.Node | undefined) => !node || /^\(?(undefined|null|void 0)\)?$/.test(node.getText());

function methodOf(node: ts.Node) {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  return { name: node.expression.name.text, receiver: node.expression.expression, args: node.arguments };
}

const searches = ['includes', 'startsWith', 'endsWith', 'match', 'matchAll', 'search', 'indexOf', 'lastIndexOf'];
const equalities = ['===', '!==', '==', '!='];

/** Whether there is a message at all may be asked; what it says may not. */
function readsMessage(node: ts.Node): boolean {
  if (ts.isSwitchStatement(node)) return isMessage(node.expression);
  if (ts.isBinaryExpression(node) && equalities.includes(node.operatorToken.getText())) {
    return (isMessage(node.left) && !isNothing(node.right)) || (isMessage(node.right) && !isNothing(node.left));
  }
  const method = methodOf(node);
  if (method?.name === 'test' || method?.name === 'exec') return method.args.some(isMessage);
  return method !== undefined && searches.includes(method.name) && isMessage(method.receiver);
}

/** Looks through what only respells the text: `(error.message ?? '').toLowerCase()`. */
function isMessage(node: ts.Expression): boolean {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === 'message';
  if (ts.isElementAccessExpression(node)) return /^['"]message['"]$/.test(node.argumentExpression.getText());
  if (ts.isBinaryExpression(node)) return ['??', '||'].includes(node.operatorToken.getText()) && isMessage(node.left);
  if (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isAsExpression(node)) {
    return isMessage(node.expression);
  }
  const method = methodOf(node);
  return method !== undefined && isMessage(method.receiver);
}

function readsEnvironment(node: ts.Node, path: string): boolean {
  if (['src/cli/bin.ts', 'src/cli/main.ts', 'src/runtime.ts'].includes(path)) return false;
  if (ts.isVariableDeclaration(node)) return /^\{.*\benv\b.*=\s*process$/s.test(node.getText());
  if (ts.isImportDeclaration(node)) return /\benv\b.*['"](node:)?process['"]/s.test(node.getText());
  if (!ts.isPropertyAccessExpression(node) && !ts.isElementAccessExpression(node)) return false;
  return /^(globalThis\.)?process(\??\.env|\[['"]env['"]\])$/.test(node.getText());
}

function isNamelessExport(node: ts.Node): boolean {
  if (ts.isExportDeclaration(node)) return !node.exportClause || ts.isNamespaceExport(node.exportClause);
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return ts.isExportAssignment(node) || node.kind === ts.SyntaxKind.DefaultKeyword;
}

function isNamespace(node: ts.Node): boolean {
  return ts.isModuleDeclaration(node) && ts.isIdentifier(node.name) && node.name.text !== 'global';
}

const anonymous: Rule = (sources) =>
  sources
    .filter(({ text }) => !/^(#!.*\n)?\/\/ Owns \S/.test(text))
    .map(({ path }) => `${path} does not say what it owns`);

/** One file of `call/` when it is only a text. */
type Example = string | Readonly<Record<string, string>>;

interface Case {
  readonly rule: Rule;
  /** Each breaks the rule exactly once. */
  readonly wrong: readonly Example[];
  readonly right: readonly Example[];
}

const cases: Readonly<Record<string, Case>> = {
  'a folder imports only from the rows below it': {
    rule: layers,
    wrong: [
      { 'src/model/tool.ts': `import { call } from '../call/call.ts';` },
      { 'src/model/tool.ts': `import type { Call } from '../call/call.ts';` },
      { 'src/model/tool.ts': `export { call } from '../call/call.js';` },
      { 'src/model/tool.ts': `type Call = import('../call/call.ts').Call;` },
      { 'src/model/tool.ts': `const call = await import('../call/call.ts');` },
      { 'src/trust/gate.ts': `import { login } from '../auth/login.ts';` },
      { 'src/policy/rule.ts': `import { load } from '../config/load.ts';` },
      { 'src/servers/fleet.ts': `import type { View } from '../view.ts';` },
      { 'src/standing.ts': '' },
      { 'src/turn.ts': `import { view } from './view.ts';` },
      { 'src/cli/main.ts': `import { helper } from '../utils/helper.ts';` },
      { 'src/cli/main.ts': `import { helper } from '../../test/helper.ts';` },
      { 'src/utils/helper.ts': '' },
    ],
    right: [
      {
        'src/cli/commands/list.ts': `import '../render/text.ts'; import '../../index.ts'; import pkg from '../../../package.json';`,
      },
      { 'src/runtime.ts': `import './turn.ts'; import './call/pipeline.ts';` },
      { 'src/trust/gate.ts': `import '../config/load.ts'; import '../store/file.ts';` },
      { 'src/model/tool.ts': `import type { ServerName } from './names.ts'; import { z } from 'zod';` },
    ],
  },
  'imports form no cycle': {
    rule: cycles,
    wrong: [
      { 'src/call/a.ts': `import './b.ts';`, 'src/call/b.ts': `import type { A } from './a.ts';` },
      {
        'src/call/a.ts': `import './b.ts';`,
        'src/call/b.ts': `import './c.ts';`,
        'src/call/c.ts': `import('./b.ts');`,
      },
    ],
    right: [
      {
        'src/call/a.ts': `import './b.ts'; import './c.ts';`,
        'src/call/b.ts': `import './c.ts';`,
        'src/call/c.ts': '',
      },
    ],
  },
  'no failure is swallowed': {
    rule: never(swallowsFailure),
    wrong: [
      'try { go(); } catch {}',
      'try { go(); } catch (error) { /* never mind */ }',
      'go().catch(() => {});',
      'go().catch(() => undefined);',
      'go().catch(function () { return; });',
      'go().then(done, () => {});',
    ],
    right: [
      'try { go(); } catch (error) { report(error); }',
      'go().catch(report);',
      'go().then(() => {});',
      'go().catch(() => []);',
    ],
  },
  'no failure is recognised by its message': {
    rule: never(readsMessage),
    wrong: [
      `error.message.includes('closed');`,
      `error?.message?.toLowerCase().startsWith('closed');`,
      `(error['message'] ?? '').match(/closed/);`,
      `/closed/.test(error.message);`,
      `closed.exec((error as Error).message);`,
      `if (error.message === 'closed') stop();`,
      `if ('closed' != error.message) stop();`,
      `switch (error.message) { default: }`,
    ],
    right: [
      `if (progress.message === undefined) stop();`,
      `if (typeof error.message === 'string') stop();`,
      `if (envelope.message.method === 'ping' || error.code === 'CLOSED') say(error.message);`,
      `error.message.slice(0, 80);`,
    ],
  },
  'the environment is read in cli/bin.ts, cli/main.ts and runtime.ts only': {
    rule: never(readsEnvironment),
    wrong: [
      'const home = process.env.HOME;',
      `const home = process['env'].HOME;`,
      'const { env } = process;',
      `import { env } from 'node:process';`,
      'function start(env = globalThis.process.env) {}',
    ],
    right: [
      {
        'src/runtime.ts': 'use(process.env);',
        'src/cli/main.ts': 'use(process.env);',
        'src/cli/bin.ts': 'use(process.env);',
      },
      '// never process.env\nconst { pid } = process; const path = options.env.PATH;',
    ],
  },
  'exports are named one by one': {
    rule: never(isNamelessExport),
    wrong: [
      `export * from './a.ts';`,
      `export type * from './a.ts';`,
      `export * as a from './a.ts';`,
      'export default 1;',
      'export default function run() {}',
      'const a = 1; export { a as default };',
    ],
    right: [`export { a } from './a.ts'; export const b = 1; switch (b) { default: }`],
  },
  'there is no enum and no namespace': {
    rule: never((node) => ts.isEnumDeclaration(node) || isNamespace(node)),
    wrong: ['enum Color { Red }', 'export const enum Color { Red }', 'namespace Colors {}', 'declare module Colors {}'],
    right: [`declare module 'colors' {}`, 'declare global {}'],
  },
  'a file opens by saying what it owns': {
    rule: anonymous,
    wrong: ['', 'export {};', '/** Owns the call. */', '// biome-ignore lint: no', '\n// Owns the call.'],
    right: ['// Owns the call.', '#!/usr/bin/env node\n// Owns the command line.'],
  },
};

function asSources(example: Example): Source[] {
  const files = typeof example === 'string' ? { 'src/call/example.ts': example } : example;
  return Object.entries(files).map(([path, text]) => ({ path, text }));
}

describe.each(Object.entries(cases))('%s', (_, { rule, wrong, right }) => {
  test('in src', () => expect(rule(readSources())).toEqual([]));
  test.each(wrong)('unlike %j', (example) => expect(rule(asSources(example))).toHaveLength(1));
  test.each(right)('as in %j', (example) => expect(rule(asSources(example))).toEqual([]));
});

test('src is really read', () => {
  expect(readSources().map(({ path }) => path)).toContain('src/kernel/clock.ts');
});
