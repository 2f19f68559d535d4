// Owns the JSON Schema of a configuration file as it is published. A module of its own, since it is large and one command prints it.
// `json-schema.ts` generates it.

import schema from '../../schema.json' with { type: 'json' };

export const publishedSchema: object = schema;
