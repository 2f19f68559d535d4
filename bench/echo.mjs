// Owns what the servers of every measurement say: answers that are written in advance, so that what is measured is the
// client. How they travel is left to `echo-server.mjs` and `echo-http-server.mjs`.

const tool = {
  name: 'echo',
  description: 'Answers with a text of the size asked for.',
  inputSchema: {
    type: 'object',
    properties: {
      text: { type: 'string', description: 'What to say.' },
      size: { type: 'integer', minimum: 0, description: 'How many characters to answer with.' },
    },
    required: ['text', 'size'],
  },
};

const list = JSON.stringify({ tools: [tool] });

const results = {
  initialize: ({ protocolVersion }) =>
    `{"protocolVersion":"${protocolVersion}","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1.0.0"}}`,
  'tools/list': () => list,
  'tools/call': ({ arguments: { size } }) => resultOf(size),
};

/** As text in the wild is: lines, with a quote here and there. */
const line = 'The "quick" brown fox jumps over the lazy dog, and the dog does not mind at all.\n';
const prepared = new Map();

/** Small ones are put together into one write, large ones are bytes already. */
function resultOf(size) {
  const known = prepared.get(size);
  if (known !== undefined) return known;
  const text = line.repeat(Math.ceil(size / line.length)).slice(0, size);
  const json = JSON.stringify({ content: [{ type: 'text', text }] });
  const result = json.length > 32 * 1024 ? Buffer.from(json) : json;
  prepared.set(size, result);
  return result;
}

/** A message in three parts, of which only the one in the middle may be bytes. */
export function answerTo({ id, method, params }) {
  const head = `{"jsonrpc":"2.0","id":${typeof id === 'number' ? id : JSON.stringify(id)},`;
  const result = results[method]?.(params);
  if (result === undefined) return [`${head}"error":`, '{"code":-32601,"message":"Method not found"}', '}'];
  return [`${head}"result":`, result, '}'];
}
