// Owns the proof that the published JSON Schema matches the code's schema, and accepts the shapes that people write.

import { readFileSync, writeFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect } from 'vitest';
import { jsonSchema } from '../../../src/config/json-schema.ts';
import { verifies } from '../../verifies.ts';

const published = new URL('../../../schema.json', import.meta.url);
const text = `${JSON.stringify(jsonSchema(), null, 2)}\n`;
if (process.env['UPDATE_DOCS']) writeFileSync(published, text);

describe('the JSON Schema', () => {
  verifies('VAL-01', 'is published with the package, and is the one the code has', () => {
    expect(readFileSync(published, 'utf8'), 'run: npm run docs').toBe(text);
    const { exports, files } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
    expect([exports['./schema.json'], files.includes('schema.json')]).toEqual(['./schema.json', true]);
  });

  const accepts = new Ajv({ strict: false }).compile(jsonSchema());
  const good = {
    'camelCase as in JSON': {
      $schema: './schema.json',
      mcpServers: { a: { command: 'npx', args: ['-y', 'x'], startupTimeoutMs: 5 } },
    },
    'snake_case as in TOML': { mcp_servers: { a: { command: 'x', startup_timeout_ms: 5, enabled_tools: ['a'] } } },
    'a command with its arguments in a list': { servers: { a: { command: ['npx', '-y', 'x'] } } },
    'keys of other programs': { mcpServers: { a: { command: 'x', autoApprove: ['y'] } }, theirs: 1 },
    'a way to try again and to look after a server': {
      mcp_servers: {
        a: { command: 'x', reconnect: 'none', health: false },
        b: { command: 'x', reconnect: { delays_ms: [1], background: { base_ms: 1 } }, health: { interval_ms: 5 } },
      },
    },
    'tools in a list and in a map': {
      servers: {
        a: { command: 'x', tools: ['a'] },
        b: { command: 'x', tools: { a: false, b: { always_load: true, toolTimeoutMs: 5 } } },
      },
    },
    'lists by name, address and command': {
      security: { mcp_server_denylist: ['x', { command: ['npx', 'y'] }, { url: 'https://a.example' }] },
    },
  };
  for (const [what, value] of Object.entries(good))
    verifies('VAL-01', `accepts ${what}`, () => expect([accepts(value), accepts.errors]).toEqual([true, null]));

  const bad = {
    'a number for a command': { mcpServers: { a: { command: 5 } } },
    'a negative timeout': { mcp_servers: { a: { command: 'x', startup_timeout_ms: -1 } } },
    'a preset nobody knows': { mcpServers: { a: { command: 'x', reconnect: 'fast' } } },
    'a percentage above a hundred': { plexus: { tool_search: 'auto:101' } },
    'a switch of a tool that is none': { mcpServers: { a: { command: 'x', tools: { a: { enabled: 1 } } } } },
    'an action nobody knows': { permissions: { rules: [{ tool: 'x', action: 'maybe' }] } },
  };
  for (const [what, value] of Object.entries(bad))
    verifies('VAL-01', `refuses ${what}`, () => expect(accepts(value)).toBe(false));
});
