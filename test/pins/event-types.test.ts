// Owns the exact names of all events: a host that listens for one must not wait for a name that has changed.

import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';
import type { RuntimeEvent } from '../../src/events.ts';
import type { GatewayEvent } from '../../src/gateway/events.ts';

/** The compiler checks that the list is whole, the test that the compiler was not lied to. */
const types: Record<(RuntimeEvent | GatewayEvent)['type'], true> = {
  'approval.requested': true,
  'approval.rewritten': true,
  'approval.settled': true,
  'auth.required': true,
  'call.finished': true,
  'call.progressed': true,
  'call.rate-limited': true,
  'call.started': true,
  'catalog.changed': true,
  'catalog.name-collided': true,
  'catalog.pattern-unmatched': true,
  'catalog.problem-found': true,
  'config.file-capped': true,
  'config.loaded': true,
  'config.server-shadowed': true,
  'config.servers-capped': true,
  'connection.changed': true,
  'connection.drain-started': true,
  'connection.drained': true,
  'connection.install-awaited': true,
  'connection.list-announced': true,
  'connection.listed': true,
  'connection.log-received': true,
  'connection.noise-received': true,
  'elicitation.requested': true,
  'elicitation.settled': true,
  'login.completed': true,
  'login.failed': true,
  'prompts.changed': true,
  'resource.updated': true,
  'resources.changed': true,
  'session.closed': true,
  'session.opened': true,
  'signal.raised': true,
  'startup.completed': true,
  'token.refreshed': true,
};

const source = new URL('../../src/', import.meta.url);

function filesOf(pattern: RegExp): string[] {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => pattern.test(path));
}

/** The texts that stand as `type` in types (`type: 'x';`) or in values (`{ type: 'x' }`). */
function typesIn(path: string, isWanted: (node: ts.Node) => boolean): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (isWanted(node) && (ts.isPropertySignature(node) || ts.isPropertyAssignment(node))) {
      const value = ts.isPropertySignature(node) ? node.type : node.initializer;
      const literal = value && ts.isLiteralTypeNode(value) ? value.literal : value;
      if (ts.isIdentifier(node.name) && node.name.text === 'type' && literal && ts.isStringLiteral(literal))
        found.push(literal.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, readFileSync(new URL(path, source), 'utf8'), ts.ScriptTarget.ESNext));
  return found;
}

test('exactly these events are declared', () => {
  const declared = filesOf(/(^|\/)events\.ts$/).flatMap((path) => typesIn(path, ts.isPropertySignature));
  expect(declared.sort()).toEqual(Object.keys(types));
});

test('every event that is declared is emitted somewhere', () => {
  const emitted = new Set(filesOf(/\.ts$/).flatMap((path) => typesIn(path, ts.isPropertyAssignment)));
  expect(Object.keys(types).filter((type) => !emitted.has(type))).toEqual([]);
});
