// Owns the tools of the faulty server: their definitions, and what a call of each does.

const schema = (properties = {}, required = []) => ({ type: 'object', properties, required });
const [string, integer, number, boolean] = ['string', 'integer', 'number', 'boolean'].map((type) => ({ type }));
const said = (text) => ({ content: [{ type: 'text', text }] });

const readOnly = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const writing = (idempotentHint) => ({
  readOnlyHint: false,
  destructiveHint: !idempotentHint,
  idempotentHint,
  openWorldHint: false,
});
const textAndMs = schema({ text: string, ms: integer }, ['text']);

const SLEEP_STEPS = 5;
const QUESTION = { message: 'What is your name?', requestedSchema: schema({ name: string }, ['name']) };
/** Not plain ASCII: it has to come back byte for byte. */
const STATE = 'state é "1"';

export class RpcError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** A tool's `run` gets its arguments and the request: its `id`, its `params`, and `post`, which sends a message to the client. */
export function createTools(options, { note, pause }) {
  const sleeping = new Set();
  const questions = new Map();

  const perform = async ({ text, ms = 0 }) => {
    note(options.log, text);
    await pause(ms);
    return said(`done: ${text}`);
  };

  /** Gives no result once it is cancelled: the protocol forbids an answer. */
  const sleep = async ({ ms, text = `slept ${ms} ms`, progress = false }, { id, params, post }) => {
    const progressToken = progress ? params._meta?.progressToken : undefined;
    sleeping.add(id);
    for (let step = 1; step <= SLEEP_STEPS; step++) {
      await pause(ms / SLEEP_STEPS);
      if (!sleeping.has(id)) return undefined;
      if (progressToken === undefined) continue;
      post({ method: 'notifications/progress', params: { progressToken, progress: step, total: SLEEP_STEPS } });
    }
    sleeping.delete(id);
    return said(text);
  };

  const askLegacy = (_args, { id, post }) =>
    new Promise((resolve) => {
      const question = `ask-${id}`;
      questions.set(question, ({ result, error }) => resolve(said(JSON.stringify(result ?? error))));
      post({ id: question, method: 'elicitation/create', params: QUESTION });
    });

  const askModern = (_args, { params: { requestState, inputResponses } }) => {
    if (requestState === undefined) {
      const inputRequests = { name: { method: 'elicitation/create', params: { mode: 'form', ...QUESTION } } };
      return { resultType: 'input_required', inputRequests, requestState: STATE };
    }
    if (requestState !== STATE) throw new RpcError(-32602, 'the state was changed on its way');
    return said(JSON.stringify(inputResponses?.name));
  };

  const tools = {
    echo: { inputSchema: schema({ text: string }, ['text']), annotations: readOnly, run: ({ text }) => said(text) },
    add: {
      inputSchema: schema({ a: number, b: number }, ['a', 'b']),
      annotations: readOnly,
      run: ({ a, b }) => said(String(a + b)),
    },
    big: {
      inputSchema: schema({ bytes: integer }, ['bytes']),
      annotations: readOnly,
      run: ({ bytes }) => said('x'.repeat(bytes)),
    },
    sleep: {
      inputSchema: schema({ ms: integer, text: string, progress: boolean }, ['ms']),
      annotations: readOnly,
      run: sleep,
    },
    env: { annotations: readOnly, run: () => said(JSON.stringify(process.env)) },
    fail: { run: () => ({ ...said('it failed, as asked'), isError: true }) },
    ask: { run: options.era === 'modern' ? askModern : askLegacy },
    write: { inputSchema: textAndMs, annotations: writing(false), run: perform },
    put: { inputSchema: textAndMs, annotations: writing(true), run: perform },
  };
  for (let n = 1; n <= Number(options.tools); n++) tools[`tool_${n}`] = { run: () => said(`tool_${n}`) };

  return {
    definitions: Object.entries(tools).map(([name, { inputSchema = schema(), annotations }]) => ({
      name,
      description: `The tool ${name}.`,
      inputSchema,
      annotations,
    })),
    call(request) {
      const { name, arguments: args = {} } = request.params;
      const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
      if (tool === undefined) throw new RpcError(-32602, `Unknown tool: ${name}`);
      return tool.run(args, request);
    },
    cancel: (id) => sleeping.delete(id),
    /** The client's response to a question of `ask`. */
    respond: (response) => questions.get(response.id)?.(response),
  };
}
