// Owns tools as servers in the wild have them: a sentence or two, a handful of parameters, about 700 bytes of JSON each.

const verbs = ['get', 'list', 'create', 'update', 'delete', 'search', 'send', 'export', 'archive', 'assign'];
const things = ['issue', 'invoice', 'customer', 'document', 'message', 'build', 'contact', 'event', 'page', 'order'];
const words = { get: 'Reads', list: 'Lists', create: 'Creates', update: 'Changes', delete: 'Removes' };

/** All different, and the same with each run; another `edition` describes the same tools in other words. */
export function ordinaryTools(count, { edition = 1 } = {}) {
  return Array.from({ length: count }, (_, at) => ordinaryTool(at, edition));
}

function ordinaryTool(number, edition) {
  const verb = verbs[number % verbs.length];
  const thing = things[Math.floor(number / verbs.length) % things.length];
  const does = words[verb] ?? `Can ${verb}`;
  return {
    name: `${verb}_${thing}_${number}`,
    description:
      `${does} one ${thing} of workspace ${number}, and everything that belongs to it (edition ${edition}). ` +
      `Use it when a person names the ${thing}, or when another tool has returned its id.`,
    inputSchema: {
      type: 'object',
      properties: {
        id: { type: 'string', description: `The id of the ${thing}, as another tool returned it.` },
        fields: { type: 'array', items: { type: 'string' }, description: 'Which fields to return; all by default.' },
        state: { type: 'string', enum: ['open', 'closed', 'any'], default: 'open' },
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many to return at most.' },
      },
      required: ['id'],
    },
    annotations: { readOnlyHint: verb === 'get' || verb === 'list' },
  };
}
