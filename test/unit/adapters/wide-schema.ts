// Owns a schema with what conversions between frameworks tend to lose, and a result with an image beside structured content.

export const wide = {
  type: 'object',
  properties: {
    kind: { enum: ['bar', 'line', null], default: 'bar' },
    size: { anyOf: [{ type: 'integer', minimum: 1 }, { $ref: '#/$defs/box' }] },
    tags: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' }, uniqueItems: true },
  },
  $defs: { box: { type: 'object', properties: { width: { type: 'number' } }, additionalProperties: false } },
  required: [],
};

export const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
export const mixed = { content: [image], structuredContent: { n: 1 } };
