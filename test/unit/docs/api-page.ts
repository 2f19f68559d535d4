// Owns docs/api.md: every export of all doors with its members, from the declarations and their doc comments.

import ts from 'typescript';
import { type Door, docOf, doorNames, exportsOf, inTable, oneLine, program } from './program.ts';

/** What a host meets first comes first; exports that are in no group follow by name. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'The runtime': [
    ...['RuntimeOptions', 'Runtime', 'ReadyOptions', 'Readiness', 'ReloadOptions', 'ServerConfig', 'ServerEntry'],
    ...['ServerStatus', 'StatusFields', 'StartupReport', 'RuntimeStats', 'Diagnostic', 'Logger', 'Store'],
  ],
  'Views, turns and calls': [
    ...[
      'ViewOptions',
      'View',
      'Model',
      'TurnOptions',
      'Turn',
      'TurnCallOptions',
      'Tool',
      'ToolMeta',
      'ToolAnnotations',
    ],
    ...['ToolOutcome', 'OutcomeMeta', 'Attachment', 'ContentBlock', 'Truncation', 'Signal', 'CallProgress'],
  ],
  'What a host answers': [
    ...['Approve', 'ApprovalRequest', 'ApprovalAnswer', 'QuestionOptions', 'PermissionGate', 'GatedCall', 'GateAnswer'],
    ...['HostRule', 'ClientHandlers', 'ElicitRequest', 'ElicitAnswer', 'AskInput', 'InputRequest', 'Launcher'],
  ],
  'Resources and prompts': ['Resources', 'ResourcePage', 'Resource', 'ResourceContents', 'Prompts', 'ListedPrompt'],
};

const INTRO = `# API reference

Every export of \`plexus\` and its further doors, with every option and method. Generated from the doc comments of the source by
\`npm run docs\`; do not edit it by hand. Events are in [events.md](events.md), error codes in [errors.md](errors.md). All fields
are read-only, and a name with \`?\` may be left out.
`;

export function apiMarkdown(): string {
  const all = exportsOf('plexus');
  const grouped = new Set(Object.values(groups).flat());
  const functions = [...all].filter(([, { isType }]) => !isType).map(([name]) => name);
  const others = [...all.keys()].filter((name) => !grouped.has(name) && !functions.includes(name)).sort();
  const parts = { Functions: functions.sort(), ...groups, 'Further types': others };
  const sections = Object.entries(parts).map(([title, names]) => section(title, 'plexus', names));
  const shown = new Set(all.keys());
  for (const door of doorNames) {
    // The adapters share some types: the first door shows them.
    const names = [...exportsOf(door).keys()].filter((name) => !shown.has(name)).sort(valuesFirst);
    if (names.length > 0) sections.push(section(`\`${door}\``, door, names));
    for (const name of names) shown.add(name);
  }
  return [INTRO, ...sections].join('\n');
}

const valuesFirst = (a: string, b: string) => Number(/^[A-Z]/.test(a)) - Number(/^[A-Z]/.test(b)) || (a < b ? -1 : 1);

function section(title: string, door: Door, names: readonly string[]): string {
  const all = exportsOf(door);
  const entries = names.map((name) => {
    const { symbol } = all.get(name) ?? {};
    if (symbol === undefined) throw new Error(`${door} does not export ${name}: correct the groups of the page`);
    return entry(name, symbol);
  });
  return [`## ${title}`, '', ...entries].join('\n');
}

function entry(name: string, symbol: ts.Symbol): string {
  const declaration = symbol.declarations?.[0];
  const doc = docOf(symbol);
  const body = declaration === undefined ? [] : bodyOf(name, symbol, declaration);
  return [`### ${name}`, '', ...(doc ? [doc, ''] : []), ...body].join('\n');
}

function bodyOf(name: string, symbol: ts.Symbol, declaration: ts.Declaration): string[] {
  if (ts.isTypeAliasDeclaration(declaration)) {
    const members = ts.isTypeLiteralNode(declaration.type) ? declaration.type.members : undefined;
    return members
      ? table(members.flatMap((member) => rowsOf(member)))
      : code(`type ${name} = ${textOf(declaration.type)}`);
  }
  if (ts.isInterfaceDeclaration(declaration)) return interfaceBody(symbol, declaration);
  if (ts.isClassDeclaration(declaration)) return classBody(declaration);
  return signatures(name, symbol, declaration);
}

function interfaceBody(symbol: ts.Symbol, declaration: ts.InterfaceDeclaration): string[] {
  const bases = (declaration.heritageClauses ?? []).flatMap(({ types }) => [...types]);
  const isExported = (base: ts.ExpressionWithTypeArguments) =>
    doorNames.some((door) => exportsOf(door).has(base.expression.getText()));
  const shown = bases.filter((base) => isExported(base));
  const hidden = bases.filter((base) => !isExported(base)).flatMap(baseMembers);
  const also = shown
    .map((base) => `[\`${base.getText()}\`](#${base.expression.getText().toLowerCase()})`)
    .join(' and ');
  const rows = [...declaration.members, ...hidden].flatMap((member) => rowsOf(member));
  const call = callSignatures(symbol);
  return [
    ...(also ? [`It also has everything of ${also}.`, ''] : []),
    ...(call ?? (rows.length > 0 ? table(rows) : [])),
  ];
}

/** Members of a base that is not exported itself, and of its own bases that are not; the standard library's stay out. */
function baseMembers(base: ts.ExpressionWithTypeArguments): ts.TypeElement[] {
  const type = program().getTypeChecker().getTypeAtLocation(base);
  const declaration = type.symbol?.declarations?.find(ts.isInterfaceDeclaration);
  if (declaration === undefined || declaration.getSourceFile().isDeclarationFile) return [];
  const further = (declaration.heritageClauses ?? []).flatMap(({ types }) => types.flatMap(baseMembers));
  return [...declaration.members, ...further];
}

/** An interface that is a function: its signature says all. */
function callSignatures(symbol: ts.Symbol): string[] | undefined {
  const declared = symbol.declarations?.find(ts.isInterfaceDeclaration)?.members ?? [];
  if (declared.length === 0 || !declared.every((member) => ts.isCallSignatureDeclaration(member))) return undefined;
  return code(declared.map((member) => textOf(member)).join('\n'));
}

function classBody(declaration: ts.ClassDeclaration): string[] {
  const isPublic = (member: ts.ClassElement) => !member.name?.getText().startsWith('#');
  return table(
    declaration.members.filter(isPublic).flatMap((member): Row[] => {
      if (ts.isConstructorDeclaration(member)) return [];
      if (ts.isPropertyDeclaration(member))
        return [[member.name.getText(), textOf(member.type ?? member.initializer ?? member), memberDoc(member)]];
      if (ts.isGetAccessorDeclaration(member))
        return [[member.name.getText(), member.type ? textOf(member.type) : '', memberDoc(member)]];
      return ts.isMethodDeclaration(member) ? [methodRow(member)] : [];
    }),
  );
}

function methodRow(member: ts.MethodDeclaration | ts.MethodSignature, prefix = ''): Row {
  const parameters = member.parameters.map((each) => textOf(each)).join(', ');
  const generic = member.typeParameters ? `<${member.typeParameters.map((each) => textOf(each)).join(', ')}>` : '';
  const name = `${prefix}${member.name.getText()}${member.questionToken ? '?' : ''}${generic}(${parameters})`;
  return [name, member.type ? textOf(member.type) : 'void', memberDoc(member)];
}

type Row = readonly [name: string, type: string, doc: string];

/** A field that is an object itself is followed by its own fields: `startup.gateMs`. */
function rowsOf(member: ts.TypeElement, prefix = ''): Row[] {
  const optional = member.questionToken ? '?' : '';
  if (ts.isPropertySignature(member) && member.type) {
    const name = `${prefix}${member.name.getText()}`;
    if (!ts.isTypeLiteralNode(member.type)) return [[name + optional, textOf(member.type), memberDoc(member)]];
    const nested = member.type.members.flatMap((each) => rowsOf(each, `${name}.`));
    return memberDoc(member) === '' && nested.length > 0
      ? nested
      : [[name + optional, 'object', memberDoc(member)], ...nested];
  }
  if (ts.isMethodSignature(member)) return [methodRow(member, prefix)];
  return [[textOf(member).replace(/;$/, ''), '', memberDoc(member)]];
}

function memberDoc(member: ts.Node): string {
  const comments = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc);
  return comments.map(({ comment }) => ts.getTextOfJSDocComment(comment)?.replace(/\s+/g, ' ').trim()).join(' ');
}

const textOf = (node: ts.Node) => oneLine(node.getText());

function table(rows: readonly Row[]): string[] {
  const lines = rows.map(
    ([name, type, doc]) => `| \`${inTable(name)}\` | ${type && `\`${inTable(type)}\``} | ${inTable(doc)} |`,
  );
  return ['| name | type | meaning |', '|---|---|---|', ...lines, ''];
}

function signatures(name: string, symbol: ts.Symbol, declaration: ts.Declaration): string[] {
  const checker = program().getTypeChecker();
  const type = checker.getTypeOfSymbolAtLocation(symbol, declaration);
  const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;
  const lines = type.getCallSignatures().map((each) => `${name}${checker.signatureToString(each, declaration, flags)}`);
  return code(lines.join('\n'));
}

/** `typescript`, not `ts`: the programs of a page are run, declarations are not. */
const code = (text: string) => ['```typescript', text, '```', ''];
