// Owns generating the JSON Schema of a configuration file, for editors, from `schema.ts`. `npm run docs` writes it to schema.json.

import * as z from 'zod';
import { snakeCase } from './key-case.ts';
import { fileSchema } from './schema.ts';

/** Draft 7, which most editors understand, with both spellings of every key, since both are read. */
export function jsonSchema(): Record<string, unknown> {
  const schema = bothSpellings(z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-7' }));
  const { mcpServers, mcp_servers } = Object(schema['properties']);
  return { ...schema, properties: { ...Object(schema['properties']), mcpServers, mcp_servers, servers: mcpServers } };
}

function bothSpellings(schema: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === 'properties') return [key, spelledTwice(value)];
      if (Array.isArray(value)) return [key, value.map((each) => (isSchema(each) ? bothSpellings(each) : each))];
      return [key, isSchema(value) ? bothSpellings(value) : value];
    }),
  );
}

const isSchema = (value: unknown): value is object => typeof value === 'object' && value !== null;

function spelledTwice(properties: Readonly<Record<string, object>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([key, property]) => {
      const list = 'type' in property ? lists.get(key) : undefined;
      const spelled = list ? orList(bothSpellings(property), list) : bothSpellings(property);
      const snake = snakeCase(key);
      return snake === key
        ? [[key, spelled]]
        : [
            [key, spelled],
            [snake, spelled],
          ];
    }),
  );
}

/** Keys that may also be a list, which `vocabulary.ts` and `define.ts` resolve before the schema is checked. */
const lists: ReadonlyMap<string, object> = new Map([
  ['command', { type: 'array', items: { type: 'string' }, minItems: 1 }],
  ['tools', { type: 'array', items: { type: 'string' } }],
]);

function orList({ description, ...one }: Record<string, unknown>, list: object): Record<string, unknown> {
  return { description, anyOf: [one, list] };
}
