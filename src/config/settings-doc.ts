// Owns the reference page of settings, generated from the schema. `npm run docs` writes it to docs/settings.md.

import * as z from 'zod';
import { snakeCase } from './key-case.ts';
import {
  agentSchema,
  backgroundSchema,
  connectConcurrencySchema,
  fileSchema,
  healthSchema,
  inputSchema,
  oauthSchema,
  permissionsSchema,
  plexusSchema,
  projectSchema,
  reconnectSchema,
  resultsSchema,
  ruleSchema,
  securitySchema,
  serverSchema,
  servingSchema,
  startupSchema,
  toolSchema,
  trustSchema,
} from './schema.ts';

type JsonSchema = z.core.JSONSchema.JSONSchema;

const sections: readonly (readonly [title: string, schema: z.ZodObject])[] = [
  ['A server: `[mcp_servers.NAME]`, in JSON `mcpServers.NAME`', serverSchema],
  ['Logging in: `[mcp_servers.NAME.oauth]`, in JSON `mcpServers.NAME.oauth`', oauthSchema],
  ['A tool: `[mcp_servers.NAME.tools.TOOL]`, in JSON `mcpServers.NAME.tools.TOOL`', toolSchema],
  ['Reconnecting: `[mcp_servers.NAME.reconnect]`, in JSON `mcpServers.NAME.reconnect`', reconnectSchema],
  [
    'Reconnecting in the background: `[mcp_servers.NAME.reconnect.background]`, in JSON `mcpServers.NAME.reconnect.background`',
    backgroundSchema,
  ],
  ['Health checks: `[mcp_servers.NAME.health]`, in JSON `mcpServers.NAME.health`', healthSchema],
  ['Permissions: `[permissions]`, in JSON `permissions`', permissionsSchema],
  ['A rule: `[[permissions.rules]]`, in JSON one of `permissions.rules`', ruleSchema],
  ['Which servers may be used: `[security]`, in JSON `security`', securitySchema],
  [
    'Plexus itself: `[plexus]`, in JSON `plexus`',
    plexusSchema.omit({
      ...{ project: true, startup: true, connectConcurrency: true, results: true, trust: true, serving: true },
      agent: true,
    }),
  ],
  ['The folder you are in: `[plexus.project]`, in JSON `plexus.project`', projectSchema],
  ['Startup: `[plexus.startup]`, in JSON `plexus.startup`', startupSchema],
  [
    'Connecting in parallel: `[plexus.connect_concurrency]`, in JSON `plexus.connectConcurrency`',
    connectConcurrencySchema,
  ],
  ['Results: `[plexus.results]`, in JSON `plexus.results`', resultsSchema],
  ['Trust: `[plexus.trust]`, in JSON `plexus.trust`', trustSchema],
  ['Serving: `[plexus.serving]`, in JSON `plexus.serving`', servingSchema],
  ['The agent: `[plexus.agent]`, in JSON `plexus.agent`', agentSchema],
  ['Inputs: `[[inputs]]`, in JSON one of `inputs`', inputSchema],
  ['At the top of a file', fileSchema.pick({ $schema: true, mode: true })],
];

export function settingsMarkdown(): string {
  const intro = [
    '# Settings',
    '',
    'Generated from `src/config/schema.ts` by `npm run docs`. TOML is written in snake_case, JSON in camelCase; both spellings',
    'are read everywhere, and every `_ms` also as `_sec`.',
  ];
  return [...intro, ...sections.flatMap(([title, schema]) => ['', `## ${title}`, '', ...table(schema)]), ''].join('\n');
}

function table(schema: z.ZodObject): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
  const rows = Object.entries(properties).map(([key, property]) => {
    const field = typeof property === 'object' ? property : {};
    return row([
      names(key),
      typeOf(field),
      required.includes(key) ? 'required' : defaultOf(field),
      field.description ?? '',
    ]);
  });
  return [row(['key', 'type', 'default', 'meaning']), '|---|---|---|---|', ...rows];
}

const row = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

function names(key: string): string {
  const toml = snakeCase(key);
  return toml === key ? `\`${key}\`` : `\`${toml}\`, \`${key}\``;
}

const defaultOf = ({ default: value }: JsonSchema) => (value === undefined ? '' : `\`${JSON.stringify(value)}\``);

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.type === 'array') return `list of ${itemsOf(schema)}`;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.type === 'object') return schema.properties ? 'map' : `map of ${valuesOf(schema)}`;
  return schema.type === 'integer' ? 'whole number' : String(schema.type);
}

/** Strings, or settings that are booleans or maps. */
function valuesOf({ additionalProperties: values }: JsonSchema): string {
  return typeof values === 'object' && values.anyOf ? 'maps' : 'strings';
}

function itemsOf({ items }: JsonSchema): string {
  if (typeof items !== 'object' || Array.isArray(items)) return 'anything';
  if (items.anyOf) return 'servers';
  if (items.type === 'object') return 'rules';
  return items.type === 'string' ? 'strings' : 'numbers';
}
