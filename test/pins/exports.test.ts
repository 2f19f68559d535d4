// Owns the exact names that hosts import: one joins or leaves this list on purpose or not at all.

import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';

const doors = {
  'src/index.ts': {
    values: [
      'RuntimeError',
      'createMemoryStore',
      'createRuntime',
      'discoverMCPServers',
      'failureAsOutcome',
      'systemPromptFragment',
    ],
    types: [
      'ApprovalAnswer',
      'ApprovalRequest',
      'Approve',
      'AskInput',
      'Attachment',
      'Channel',
      'ClientHandlers',
      'ClientInfo',
      'Clock',
      'ConfigSource',
      'ContentBlock',
      'Decision',
      'Diagnostic',
      'ElicitAnswer',
      'ElicitRequest',
      'FailureCode',
      'GatedCall',
      'HostRule',

      'InputRequest',
      'Launcher',
      'Model',
      'NativeTool',
      'PermissionGate',
      'Prompt',
      'PromptMessages',
      'Prompts',
      'QualifiedName',
      'Readiness',
      'Remedy',
      'Replacement',
      'Resource',
      'ResourceContents',
      'ResourceTemplate',
      'Resources',
      'Runtime',
      'RuntimeEvent',
      'RuntimeOptions',
      'ServerConfig',
      'ServerDefinition',
      'ServerName',
      'ServerStatus',
      'Signal',
      'Store',
      'Tool',
      'ToolDefinition',
      'ToolId',
      'ToolMeta',
      'ToolOutcome',
      'ToolRef',
      'Turn',
      'TurnCallOptions',
      'TurnOptions',
      'View',
      'ViewOptions',
    ],
  },
  'src/testing/testing.ts': {
    values: ['createFakeClock', 'createFakeServer', 'createScriptedTransport'],
    types: ['FakeClock', 'FakeServer', 'FakeTool', 'ScriptedTransport'],
  },
};

const urlOf = (path: string) => new URL(`../../${path}`, import.meta.url);

function exportedTypes(path: string): string[] {
  const file = ts.createSourceFile(path, readFileSync(urlOf(path), 'utf8'), ts.ScriptTarget.ESNext);
  return file.statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || !statement.exportClause || !ts.isNamedExports(statement.exportClause))
      return [];
    return statement.exportClause.elements
      .filter((each) => statement.isTypeOnly || each.isTypeOnly)
      .map((each) => each.name.text);
  });
}

for (const [path, { values, types }] of Object.entries(doors)) {
  test(`${path} exports exactly these values and types`, async () => {
    expect(Object.keys(await import(urlOf(path).href)).sort()).toEqual(values);
    expect(exportedTypes(path).sort()).toEqual(types);
  });
}

test('the package has exactly these doors', () => {
  const { exports, bin } = JSON.parse(readFileSync(urlOf('package.json'), 'utf8'));
  expect([Object.keys(exports), Object.keys(bin)]).toEqual([
    ['.', './testing', './schema.json', './package.json'],
    ['plexus'],
  ]);
});
