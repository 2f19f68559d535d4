// Owns the proof that each app's own keys are translated to ours, and that everything else stays as it is written.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about

import { expect, test } from 'vitest';
import type { ConfigMap } from '../../../../src/config/config-map.ts';
import { importers } from '../../../../src/config/importers/importers.ts';
import { mapTexts, textsIn } from '../../../../src/config/importers/translate.ts';
import { verifies } from '../../../verifies.ts';

function translate(app: string, entry: ConfigMap): ConfigMap {
  return importers.find((each) => each.app === app)?.translate?.(entry) ?? entry;
}

const translations: Record<string, [app: string, entry: ConfigMap, meaning: ConfigMap][]> = {
  'a timeout that the app counts in milliseconds is one of a call': [
    ...['claude-code', 'gemini', 'opencode', 'copilot', 'oh-my-pi'].map((app): [string, ConfigMap, ConfigMap] => [
      app,
      { command: 'x', timeout: 5_000 },
      { command: 'x', toolTimeoutMs: 5_000 },
    ]),
    ['claude-code', { timeout: 30 }, { timeout: 30 }],
    ['claude-code', { timeout: 'long' }, { timeout: 'long' }],
  ],
  'Gemini CLI writes placeholders without braces too': [
    [
      'gemini',
      { command: '$BIN/run', args: ['--key=$API_KEY', '${B}', '$5', 'a$'], env: { $A: '$A_1-x', PORT: 8080 } },
      {
        command: '${BIN}/run',
        args: ['--key=${API_KEY}', '${B}', '$5', 'a$'],
        env: { $A: '${A_1}-x', PORT: 8080 },
      },
    ],
  ],
  'OpenCode 2 has a timeout per phase': [
    [
      'opencode',
      { type: 'local', command: ['x'], timeout: { startup: 10, catalog: 20, execution: 30 }, codemode: false },
      { type: 'local', command: ['x'], startupTimeoutMs: 10, toolTimeoutMs: 30 },
    ],
    ['opencode', { url: 'https://a', timeout: {} }, { url: 'https://a' }],
  ],
  'Codex may say where a variable is read, and has its own name for the helper': [
    ['codex', { env_vars: ['A', { name: 'B', source: 'local' }] }, { env_vars: ['A', 'B'] }],
    ['codex', { env_vars: 'A', http_headers_helper: 'get' }, { env_vars: 'A', headersHelper: 'get' }],
    ['codex', { command: 'x', tool_timeout_sec: 5 }, { command: 'x', tool_timeout_sec: 5 }],
  ],
  'a star among the tools of Copilot CLI means all of them': [
    ['copilot', { command: 'x', tools: ['*'] }, { command: 'x' }],
    ['copilot', { command: 'x', tools: '*' }, { command: 'x' }],
    ['copilot', { command: 'x', tools: ['read'] }, { command: 'x', tools: ['read'] }],
    ['copilot', { command: 'x', tools: [] }, { command: 'x', tools: [] }],
  ],
  'SideCar switches single tools off': [
    [
      'sidecar',
      { command: 'x', tools: { read: { enabled: true }, drop: { enabled: false }, odd: 1 }, toolAllowlist: ['read'] },
      { command: 'x', enabledTools: ['read'], disabledTools: ['drop'] },
    ],
    ['sidecar', { command: 'x', tools: ['read'] }, { command: 'x', tools: ['read'] }],
  ],
  'Oh My Pi takes the name of a variable for its value, as long as it is set': [
    [
      'oh-my-pi',
      { args: ['TOKEN'], env: { TOKEN: 'TOKEN', MODE: 'debug', N: 1 }, headers: { 'X-Key': 'API_KEY', A: 'Bearer B' } },
      {
        args: ['TOKEN'],
        env: { TOKEN: '${TOKEN:-TOKEN}', MODE: 'debug', N: 1 },
        headers: { 'X-Key': '${API_KEY:-API_KEY}', A: 'Bearer B' },
      },
    ],
    ['oh-my-pi', { env: 'TOKEN' }, { env: 'TOKEN' }],
  ],
  'VS Code has older words for its folder': [
    [
      'vscode',
      { args: ['${workspaceRoot}/a', '${cwd}', '${workspaceFolder}', '${env:cwd}'] },
      { args: ['${workspaceFolder}/a', '${workspaceFolder}', '${workspaceFolder}', '${env:cwd}'] },
    ],
  ],
  'Zed says of a server whether it follows a project to another machine': [
    ['zed', { command: 'x', remote: false }, { command: 'x' }],
  ],
};

for (const [sentence, cases] of Object.entries(translations)) {
  verifies('CFG-09', sentence, () => {
    expect(cases.map(([app, entry]) => [app, translate(app, entry)])).toEqual(
      cases.map(([app, , meaning]) => [app, meaning]),
    );
  });
}

test('an entry in common words is left as it is by every app', () => {
  const entry = { type: 'stdio', command: 'npx', args: ['-y', 'files'], env: { MODE: 'a b' }, disabled: true };
  for (const { app } of importers) expect([app, translate(app, entry)]).toEqual([app, entry]);
});

test('a key that pretends to be a prototype stays a key', () => {
  const entry: ConfigMap = JSON.parse('{ "__proto__": { "command": "x" }, "env": { "__proto__": "$A" } }');
  for (const { app } of importers) {
    const translated = translate(app, entry);
    expect([app, translated['command'], Object.keys(translated)]).toEqual([app, undefined, ['__proto__', 'env']]);
  }
});

test('every text of an entry is found and can be rewritten; keys and other values stay', () => {
  const entry = { command: 'a', args: ['b', 1], env: { c: 'd', e: null } };
  expect(textsIn(entry)).toEqual(['a', 'b', 'd']);
  expect(mapTexts(entry, (text) => text.toUpperCase())).toEqual({
    command: 'A',
    args: ['B', 1],
    env: { c: 'D', e: null },
  });
});
