// Owns docs/events.md: every event with its fields, from the types of the events and their comments.

import ts from 'typescript';
import { docOf, exportsOf, inTable, oneLine, program } from './program.ts';

const INTRO = `# Events

A runtime tells what happens as events: plain objects with a \`type\`. \`createRuntime({ onEvent })\` receives all of them from the very
first one; \`runtime.on(listener)\` receives all that follow, and \`runtime.on('call.finished', listener)\` those of one type. Both
\`on\` forms return a function that unsubscribes. Listening never changes anything, and a listener that throws is told to \`onError\`.
Secrets are taken out of every event ([redaction.md](redaction.md)).

Generated from the types in the source by \`npm run docs\`; do not edit it by hand. The types that the fields mention are in
[api.md](api.md).
`;

interface EventDoc {
  readonly type: string;
  readonly doc: string;
  readonly fields: readonly { readonly name: string; readonly type: string; readonly doc: string }[];
}

export function eventsMarkdown(): string {
  const events = eventDocs();
  const summary = events.map(({ type, doc }) => `| [\`${type}\`](#${anchorOf(type)}) | ${inTable(doc)} |`);
  return [INTRO, '| event | when |', '|---|---|', ...summary, '', ...events.map(section)].join('\n');
}

export function eventDocs(): readonly EventDoc[] {
  const union = exportsOf('plexus').get('RuntimeEvent')?.symbol.declarations?.find(ts.isTypeAliasDeclaration)?.type;
  const found = new Map<string, EventDoc>();
  if (union) for (const each of membersOf(union, '')) found.set(each.type, each);
  return [...found.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
}

/** `call.rate-limited` has the anchor `callrate-limited`, as code hosts make them. */
const anchorOf = (type: string) => type.replaceAll('.', '');

function section({ type, doc, fields }: EventDoc): string {
  const rows = fields.map((each) => `| \`${each.name}\` | \`${inTable(each.type)}\` | ${inTable(each.doc)} |`);
  return [`## ${type}`, '', doc, '', '| field | type | meaning |', '|---|---|---|', ...rows, ''].join('\n');
}

/** Follows the names in a union down to the single events; a comment stands before the `|` of its member. */
function membersOf(node: ts.TypeNode, comment: string): EventDoc[] {
  if (ts.isParenthesizedTypeNode(node)) return membersOf(node.type, comment);
  if (ts.isUnionTypeNode(node)) {
    return node.types.flatMap((each, index) => {
      const from = node.types[index - 1]?.getEnd() ?? node.getFullStart();
      return membersOf(each, commentIn(node.getSourceFile().text.slice(from, each.getStart())));
    });
  }
  if (ts.isTypeReferenceNode(node)) {
    const checker = program().getTypeChecker();
    const found = checker.getSymbolAtLocation(node.typeName);
    const symbol = found && found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
    const declaration = symbol?.declarations?.[0];
    if (declaration && ts.isTypeAliasDeclaration(declaration)) return membersOf(declaration.type, comment);
    return [eventOf(node, comment || (symbol ? docOf(symbol) : ''))];
  }
  return [eventOf(node, comment)];
}

function eventOf(node: ts.TypeNode, comment: string): EventDoc {
  const checker = program().getTypeChecker();
  const properties = checker.getPropertiesOfType(checker.getTypeFromTypeNode(node));
  const kind = properties.find(({ name }) => name === 'type');
  const fields = properties.filter((each) => each !== kind).map(fieldOf);
  const type = kind ? oneLine(fieldType(kind)).replaceAll("'", '') : '';
  return { type, doc: comment || (kind ? docOf(kind) : ''), fields };
}

/** Fields that mean the same in every event. */
const common: Readonly<Record<string, string>> = {
  callId: 'The id of the call, the same in all its events.',
  name: 'The name that was called, as the model wrote it.',
  server: 'The name of the server.',
  tool: 'The tool: its server and its own name.',
  questionId: 'The same in both events of a question.',
};

function fieldOf(symbol: ts.Symbol): EventDoc['fields'][number] {
  const optional = symbol.flags & ts.SymbolFlags.Optional ? '?' : '';
  return {
    name: symbol.name + optional,
    type: oneLine(fieldType(symbol)),
    doc: docOf(symbol) || (common[symbol.name] ?? ''),
  };
}

function fieldType(symbol: ts.Symbol): string {
  const declaration = symbol.declarations?.find(ts.isPropertySignature);
  return declaration?.type?.getText() ?? '';
}

function commentIn(text: string): string {
  const comments = [...text.matchAll(/\/\*\*([\s\S]*?)\*\//g)];
  return (comments.at(-1)?.[1] ?? '')
    .replace(/^\s*\*/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
