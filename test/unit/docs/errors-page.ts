// Owns docs/errors.md: every failure with its cause, its words, its remedy and its codes, from the failure table.

import ts from 'typescript';
import { type FailureCode, failures, RuntimeError } from '../../../src/model/errors.ts';
import { causes } from './error-causes.ts';
import { oneLine, program, root } from './program.ts';

const INTRO = `# Error codes

A tool's own error is not in this list: it is an outcome with \`isError: true\`. Everything else that goes wrong is thrown as a
\`RuntimeError\`. Its \`code\` never changes between versions, its \`message\` says what happened and what to do next, and its \`data\` holds the
facts. \`isFailure(error, 'TOOL_UNKNOWN')\` checks the code and gives \`error.data\` its type. \`failureAsOutcome(error)\` turns an error into
text for a model.

\`error.remedy\` says which kind of step helps:

| remedy | what helps |
|---|---|
| \`fix-config\` | a person corrects the configuration |
| \`ask-user\` | a person approves or answers |
| \`log-in\` | a person gives a token |
| \`retry-later\` | the same again, later |
| \`fix-call\` | the caller corrects the call |
| \`check-first\` | the call may have taken effect: look before you repeat it |
| \`report-bug\` | tell the authors of Plexus |
| \`none\` | nothing has to be done |

*Exit* is the exit code of \`plexus\`, *HTTP* and *JSON-RPC* are for hosts that answer requests of their own. An *outage* counts for the
circuit breaker of the server. After a failure that *waiting can cure* Plexus tries the connection again by itself. In the
examples \`REASON\` stands for what went wrong.

Generated from \`src/model/errors.ts\` by \`npm run docs\`; do not edit it by hand.
`;

/** Enough for every sentence of the table. */
const sample = {
  ...{
    server: 'files',
    tool: 'read_file',
    name: 'mcp__files__read_file',
    uri: 'note://a',
    servers: ['files', 'notes'],
  },
  ...{
    file: '/home/you/.config/plexus/mcp.toml',
    folder: '/home/you/.local/state/plexus',
    what: 'the tools of server "files"',
    command: 'npx',
  },
  ...{ problem: 'REASON', reason: 'REASON', because: 'REASON', problems: ['REASON'], changes: ['REASON'], nearest: [] },
  ...{
    variable: 'API_KEY',
    input: 'api_key',
    afterMs: 60_000,
    retryInMs: 60_000,
    waitMs: 20_000,
    model: 'MODEL',
    limitBytes: 67_108_864,
  },
  ...{
    pid: 4_711,
    port: 7_417,
    callId: 'call-1',
    most: 10,
    cursor: 'x',
    session: 's1',
    conversation: 'c1',
    culprit: 'command',
    silence: false,
  },
  ...{ address: 'https://login.example', fault: { kind: 'refused', error: 'access_denied' } },
  missing: [{ server: 'files', state: 'connecting', message: 'npx is still installing it.' }],
};

const withoutRetry: ReadonlySet<string> = new Set(['STARTUP_TIMEOUT']);

export function errorsMarkdown(): string {
  const codes = Object.keys(failures) as FailureCode[];
  const index = codes.map((code) => {
    const { exit, remedy } = failures[code];
    return `| [\`${code}\`](#${code.toLowerCase()}) | ${exit} | \`${remedy}\` | ${causes[code]} |`;
  });
  return [INTRO, '| code | exit | remedy | cause |', '|---|---|---|---|', ...index, '', ...codes.map(section)].join(
    '\n',
  );
}

function section(code: FailureCode): string {
  const { exit, remedy, http, rpc, outage, reconnect } = failures[code];
  const { retryInMs, ...rest } = sample;
  const data = withoutRetry.has(code) ? rest : { ...rest, retryInMs };
  const { message } = new RuntimeError(code, data as never);
  const facts = [`exit ${exit}`, `HTTP ${http}`, `JSON-RPC ${rpc}`];
  if (outage) facts.push('an outage');
  if (reconnect) facts.push('waiting can cure it');
  return [
    `## ${code}`,
    '',
    `**Cause:** ${causes[code]}`,
    '',
    '**It says**, for example:',
    '',
    `> ${message.replaceAll('\n', '\n> ')}`,
    '',
    `**Remedy:** \`${remedy}\`. **Codes:** ${facts.join(', ')}.`,
    '',
    `**\`data\`:** \`${dataType(code)}\``,
    '',
  ].join('\n');
}

let rows: ReadonlyMap<string, string> | undefined;

/** The type of a row's data, as the parameter of its first sentence declares it. */
function dataType(code: FailureCode): string {
  rows ??= readDataTypes();
  return rows.get(code) ?? '{}';
}

function readDataTypes(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const file = program().getSourceFile(`${root}src/model/errors.ts`);
  const checker = program().getTypeChecker();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && ts.isCallExpression(node.initializer)) {
      const happened = node.initializer.arguments[2];
      const parameter = happened && ts.isArrowFunction(happened) ? happened.parameters[0] : undefined;
      if (parameter?.type) found.set(node.name.getText(), fieldsOf(checker, parameter.type));
    }
    ts.forEachChild(node, visit);
  };
  if (file) visit(file);
  return found;
}

function fieldsOf(checker: ts.TypeChecker, type: ts.TypeNode): string {
  const fields = checker.getPropertiesOfType(checker.getTypeFromTypeNode(type)).map((symbol) => {
    const declared = symbol.declarations?.find(ts.isPropertySignature)?.type?.getText() ?? 'unknown';
    return `${symbol.name}${symbol.flags & ts.SymbolFlags.Optional ? '?' : ''}: ${oneLine(declared)}`;
  });
  return `{ ${fields.join('; ')} }`;
}
