// Owns reading which promises the tests claim to prove, and which of these proofs run wherever the tests run. Reads with the
// TypeScript parser and runs nothing.

import ts from 'typescript';

interface Claims {
  readonly ids: ReadonlySet<string>;
  /** The ids that at least one test proves which no platform, missing program, missing file or draw by chance can leave out. */
  readonly certain: ReadonlySet<string>;
  /** Calls whose ids cannot be read without running them, as `file:line`. */
  readonly unreadable: readonly string[];
}

export function collectClaims(files: Readonly<Record<string, string>>): Claims {
  const ids = new Set<string>();
  const certain = new Set<string>();
  const unreadable: string[] = [];
  for (const [path, text] of Object.entries(files)) {
    const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
    for (const call of callsOf('verifies', file)) {
      const claimed = literals(call.arguments[0]);
      const { line } = file.getLineAndCharacterOfPosition(call.getStart(file));
      if (claimed.length === 0) unreadable.push(`${path}:${line + 1}`);
      const isCertain = alwaysRuns(call);
      for (const id of claimed) {
        ids.add(id);
        if (isCertain) certain.add(id);
      }
    }
  }
  return { ids, certain, unreadable };
}

function callsOf(name: string, file: ts.SourceFile): readonly ts.CallExpression[] {
  const calls: ts.CallExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isNamed(node.expression, name)) calls.push(node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return calls;
}

const isNamed = (node: ts.Node, name: string) => ts.isIdentifier(node) && node.text === name;

/** Empty when a single element is anything but a literal: half a list would hide the other half. */
function literals(argument: ts.Expression | undefined): string[] {
  if (argument === undefined) return [];
  const elements = ts.isArrayLiteralExpression(argument) ? [...argument.elements] : [argument];
  return elements.every(ts.isStringLiteralLike) ? elements.map((each) => each.text) : [];
}

/** Whether nothing around the call and nothing in its test can leave the test out. What is not understood counts as able to. */
function alwaysRuns(call: ts.CallExpression): boolean {
  return !mayEndEarly(call.arguments[2]) && isReached(call);
}

/** Goes outwards: from a statement to its block, and from a block to the file, a plain `describe` or a loop over a list that is not empty. */
function isReached(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isSourceFile(parent)) return true;
  if (ts.isExpressionStatement(parent)) return isReached(parent);
  if (ts.isBlock(parent)) return !parent.statements.some(ends) && isReached(parent);
  if (ts.isForOfStatement(parent)) return isFilled(parent.expression) && isReached(parent);
  if (ts.isArrowFunction(parent) && ts.isCallExpression(parent.parent))
    return isPlainDescribe(parent.parent) && isReached(parent.parent);
  return false;
}

/** `describe(…)` and `describe.each(list)(…)`, and neither `describe.skipIf(…)(…)` nor `describe.runIf(…)(…)`. */
function isPlainDescribe({ expression }: ts.CallExpression): boolean {
  if (isNamed(expression, 'describe')) return true;
  if (!ts.isCallExpression(expression) || !ts.isPropertyAccessExpression(expression.expression)) return false;
  const { expression: object, name } = expression.expression;
  return isNamed(object, 'describe') && name.text === 'each' && isFilled(expression.arguments[0]);
}

/** Whether a list holds something wherever the tests run: it is written out in the same file, with at least one element. */
function isFilled(list: ts.Expression | undefined): boolean {
  if (list === undefined) return false;
  if (ts.isAsExpression(list) || ts.isSatisfiesExpression(list) || ts.isParenthesizedExpression(list))
    return isFilled(list.expression);
  if (ts.isArrayLiteralExpression(list))
    return list.elements.some((each) => !ts.isSpreadElement(each) || isFilled(each.expression));
  if (ts.isObjectLiteralExpression(list)) return list.properties.some((each) => !ts.isSpreadAssignment(each));
  if (ts.isIdentifier(list)) return isFilled(initializerOf(list));
  if (ts.isCallExpression(list) && ts.isPropertyAccessExpression(list.expression))
    return isNamed(list.expression.expression, 'Object') && isFilled(list.arguments[0]);
  return false;
}

/** What a `const` of the same file is, seen from the place where it is used. */
function initializerOf(name: ts.Identifier): ts.Expression | undefined {
  for (let scope: ts.Node = name.parent; scope !== undefined; scope = scope.parent) {
    if (!ts.isBlock(scope) && !ts.isSourceFile(scope)) continue;
    const declared = scope.statements
      .filter(ts.isVariableStatement)
      .filter(({ declarationList }) => (declarationList.flags & ts.NodeFlags.Const) !== 0)
      .flatMap(({ declarationList }) => [...declarationList.declarations])
      .find((each) => isNamed(each.name, name.text));
    if (declared) return declared.initializer;
  }
  return undefined;
}

/** A test that returns before its end may have checked nothing. */
function mayEndEarly(run: ts.Expression | undefined): boolean {
  if (run === undefined || !ts.isArrowFunction(run) || !ts.isBlock(run.body)) return false;
  let isFound = false;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) return;
    if (ends(node)) isFound = true;
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(run.body, visit);
  return isFound;
}

/** A `return` without a value, also behind a condition. */
const ends = (node: ts.Node): boolean =>
  (ts.isReturnStatement(node) && node.expression === undefined) ||
  (ts.isIfStatement(node) && ends(node.thenStatement)) ||
  (ts.isBlock(node) && node.statements.some(ends));
