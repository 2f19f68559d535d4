// Owns what the official suite expects of a server under test: its tools, resources and prompts, with the suite's names and texts. A
// handler gets a `call` with `ask`, `log`, `progress`, `signal`, `meta`, `peer.capabilities` and `closeStream`, as the serving side has them.
// Beside the suite's there are those that other clients are tested with: structured content, a page to visit, an app.

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const text = (value) => ({ type: 'text', text: value });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const content = (...parts) => ({ content: parts });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const objectOf = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const string = { type: 'string' };
const options = ['option1', 'option2', 'option3'];
const titled = (word) =>
  [1, 2, 3].map((at) => ({ const: `value${at}`, title: `${['First', 'Second', 'Third'][at - 1]} ${word}` }));

const elicit = (call, message, requestedSchema, key) =>
  call.ask('elicitation/create', { message, requestedSchema }, { ...(key && { key }) });
const sample = (call, prompt, maxTokens, key) =>
  call.ask(
    'sampling/createMessage',
    { messages: [{ role: 'user', content: text(prompt) }], maxTokens },
    { ...(key && { key }) },
  );
const roots = (call, key) => call.ask('roots/list', {}, { key });
const completed = ({ action, content: answer }) =>
  `Elicitation completed: action=${action}, content=${JSON.stringify(answer)}`;

let cancelled = 0;

const tools = {
  test_simple_text: { description: 'Answers with a text.', run: () => 'This is a simple text response for testing.' },
  test_image_content: { description: 'Answers with an image.', run: () => content(image) },
  test_audio_content: {
    description: 'Answers with a sound.',
    run: () => content({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  },
  test_embedded_resource: {
    description: 'Answers with a resource.',
    run: () =>
      content({
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      }),
  },
  test_multiple_content_types: {
    description: 'Answers with a text, an image and a resource.',
    run: () =>
      content(text('Multiple content types test:'), image, {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        },
      }),
  },
  test_tool_with_logging: {
    description: 'Logs while it runs.',
    async run(_, call) {
      for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        call.log('info', line);
        await pause(50);
      }
      return 'Tool with logging executed successfully';
    },
  },
  test_logging_tool: {
    description: 'Logs once.',
    run(_, call) {
      call.log('info', 'logged');
      return 'logged';
    },
  },
  test_error_handling: {
    description: 'Always fails.',
    run() {
      throw new Error('This tool intentionally returns an error for testing');
    },
  },
  test_tool_with_progress: {
    description: 'Reports its progress.',
    async run(_, call) {
      for (const progress of [0, 50, 100]) {
        call.progress({ progress, total: 100 });
        await pause(50);
      }
      return 'Tool with progress executed successfully';
    },
  },
  test_sampling: {
    description: 'Asks the model of the client.',
    inputSchema: objectOf({ prompt: string }),
    async run({ prompt }, call) {
      const { content: answer } = await sample(call, prompt, 100);
      return `LLM response: ${answer.text}`;
    },
  },
  test_elicitation: {
    description: 'Asks the person at the client.',
    inputSchema: objectOf({ message: string }),
    async run({ message }, call) {
      const schema = objectOf({
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      });
      const { action, content: answer } = await elicit(call, message, schema);
      return `User response: action=${action}, content=${JSON.stringify(answer)}`;
    },
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks with defaults.',
    run: async (_, call) =>
      completed(
        await elicit(
          call,
          'Please review the defaults',
          objectOf(
            {
              name: { type: 'string', default: 'John Doe' },
              age: { type: 'integer', default: 30 },
              score: { type: 'number', default: 95.5 },
              status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
              verified: { type: 'boolean', default: true },
            },
            [],
          ),
        ),
      ),
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks with every kind of choice.',
    run: async (_, call) =>
      completed(
        await elicit(
          call,
          'Please choose',
          objectOf(
            {
              untitledSingle: { type: 'string', enum: options },
              titledSingle: { type: 'string', oneOf: titled('Option') },
              legacyEnum: {
                type: 'string',
                enum: ['opt1', 'opt2', 'opt3'],
                enumNames: ['Option One', 'Option Two', 'Option Three'],
              },
              untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
              titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
            },
            [],
          ),
        ),
      ),
  },
  test_reconnection: {
    description: 'Ends its stream before it answers.',
    async run(_, call) {
      await pause(100);
      await call.closeStream();
      await pause(100);
      return 'Reconnection test completed successfully';
    },
  },
  json_schema_2020_12_tool: {
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: { $anchor: 'addressDef', type: 'object', properties: { street: string, city: string } },
      },
      properties: {
        name: string,
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: string,
        email: string,
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: (args) => JSON.stringify(args),
  },
  test_structured: {
    description: 'Answers with structured content, and in `_meta` with what it was sent there.',
    outputSchema: objectOf({ answer: { type: 'number' } }),
    annotations: { readOnlyHint: true },
    _meta: { 'test/kind': 'structured' },
    run: (_, call) => ({
      ...content(text('{"answer":42}')),
      structuredContent: { answer: 42 },
      _meta: { 'test/seen': call.meta['test/sent'] ?? 'nothing' },
    }),
  },
  test_elicitation_page: {
    description: 'Asks for a visit of a page.',
    async run(_, call) {
      const page = { mode: 'url', message: 'Please visit', url: 'https://page.example/1', elicitationId: 'page-1' };
      return `visit: ${(await call.ask('elicitation/create', page, { key: 'page' })).action}`;
    },
  },
  test_app: {
    description: 'Is shown by an app.',
    _meta: { ui: { resourceUri: 'ui://test/view' } },
    run: () => 'shown',
  },
  test_app_refresh: {
    description: 'Is called by its app alone.',
    _meta: { ui: { resourceUri: 'ui://test/view', visibility: ['app'] } },
    run: () => 'refreshed',
  },
  test_custom_header: {
    description: 'Has an argument that is sent as a header too.',
    inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
    run: ({ region }) => `region: ${region}`,
  },
  test_cancellation: {
    description: 'Waits until it is cancelled.',
    run: (_, call) => {
      call.progress({ progress: 1 });
      return new Promise((_resolve, reject) => {
        call.signal.addEventListener('abort', () => {
          cancelled++;
          reject(call.signal.reason);
        });
      });
    },
  },
  test_cancelled: { description: 'How many calls were cancelled.', run: () => String(cancelled) },
  test_missing_capability: {
    description: 'Needs sampling.',
    run: async (_, call) => (await sample(call, 'Hello', 10)).content.text,
  },
  test_streaming_elicitation: {
    description: 'Reports its progress, then asks.',
    async run(_, call) {
      call.progress({ progress: 1 });
      return completed(await elicit(call, 'Go on?', objectOf({ ok: { type: 'boolean' } })));
    },
  },
  test_input_required_result_elicitation: {
    description: 'Asks for a name.',
    async run(_, call) {
      const { content: answer } = await elicit(call, 'What is your name?', objectOf({ name: string }), 'user_name');
      return `Hello, ${answer?.name}!`;
    },
  },
  test_input_required_result_sampling: {
    description: 'Asks the model.',
    run: async (_, call) =>
      (await sample(call, 'What is the capital of France?', 100, 'capital_question')).content.text,
  },
  test_input_required_result_list_roots: {
    description: 'Asks for the roots.',
    run: async (_, call) => JSON.stringify(await roots(call, 'client_roots')),
  },
  test_input_required_result_request_state: {
    description: 'Asks for a confirmation.',
    async run(_, call) {
      await elicit(call, 'Please confirm', objectOf({ ok: { type: 'boolean' } }), 'confirm');
      return 'state-ok';
    },
  },
  test_input_required_result_tampered_state: {
    description: 'Asks for a confirmation.',
    async run(_, call) {
      await elicit(call, 'Please confirm', objectOf({ ok: { type: 'boolean' } }), 'confirm');
      return 'state-ok';
    },
  },
  test_input_required_result_multiple_inputs: {
    description: 'Asks three questions at once.',
    async run(_, call) {
      const answers = await Promise.all([
        elicit(call, 'What is your name?', objectOf({ name: string }), 'user_name'),
        sample(call, 'Generate a greeting', 50, 'greeting'),
        roots(call, 'client_roots'),
      ]);
      return JSON.stringify(answers);
    },
  },
  test_input_required_result_multi_round: {
    description: 'Asks one question after the other.',
    async run(_, call) {
      const one = await elicit(call, 'Step 1: What is your name?', objectOf({ name: string }), 'step1');
      const two = await elicit(call, 'Step 2: What is your favorite color?', objectOf({ color: string }), 'step2');
      return `${one.content?.name} likes ${two.content?.color}`;
    },
  },
  test_input_required_result_capabilities: {
    description: 'Asks whatever the client can be asked.',
    async run(_, call) {
      const { capabilities } = call.peer;
      if (capabilities.elicitation) await elicit(call, 'What is your name?', objectOf({ name: string }), 'user_name');
      if (capabilities.sampling) await sample(call, 'Generate a greeting', 50, 'greeting');
      return 'asked';
    },
  },
};

const resources = {
  'test://static-text': {
    name: 'Static text',
    description: 'A text.',
    mimeType: 'text/plain',
    read: () => 'This is the content of the static text resource.',
  },
  'test://static-binary': {
    name: 'Static binary',
    description: 'An image.',
    mimeType: 'image/png',
    read: () => ({ blob: PNG }),
  },
  'ui://test/view': {
    name: 'View',
    description: 'An app.',
    mimeType: 'text/html;profile=mcp-app',
    read: () => '<p>An app</p>',
  },
  'test://watched-resource': {
    name: 'Watched resource',
    description: 'Can be subscribed to.',
    mimeType: 'text/plain',
    read: () => 'Watched resource content',
  },
};

const templates = {
  'test://template/{id}/data': {
    name: 'Template',
    description: 'Data by id.',
    mimeType: 'application/json',
    read: ({ id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  },
};

const user = (part) => ({ role: 'user', content: part });
const argument = (name, description) => ({ name, description, required: true });

const prompts = {
  test_simple_prompt: { description: 'A text.', get: () => 'This is a simple prompt for testing.' },
  test_prompt_with_arguments: {
    description: 'A text with two arguments.',
    arguments: [argument('arg1', 'First test argument'), argument('arg2', 'Second test argument')],
    get: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  },
  test_prompt_with_embedded_resource: {
    description: 'A resource.',
    arguments: [argument('resourceUri', 'URI of the resource to embed')],
    get: ({ resourceUri: uri }) => ({
      messages: [
        user({
          type: 'resource',
          resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        }),
        user(text('Please process the embedded resource above.')),
      ],
    }),
  },
  test_prompt_with_image: {
    description: 'An image.',
    get: () => ({ messages: [user(image), user(text('Please analyze the image above.'))] }),
  },
  test_input_required_result_prompt: {
    description: 'Asks for its context.',
    async get(_, call) {
      const schema = objectOf({ context: string });
      const { content: answer } = await elicit(call, 'What context should the prompt use?', schema, 'user_context');
      return `Context: ${answer?.context}`;
    },
  },
};

/** Describes one of the list anew, and says that it has changed. */
const triggerOf = (kind, list, changing, listChanged, key = 'test_changing') => ({
  description: `Changes the ${kind}.`,
  run() {
    edition += 1;
    list[key] = { ...changing, description: `Edition ${edition}.` };
    listChanged(kind);
    return 'told';
  },
});

let edition = 1;

/** `listChanged(kind)` tells the clients that this list has changed, `updated(uri)` those that subscribed to this resource. */
export function createFixtures({ listChanged, updated }) {
  const [ownTools, ownPrompts, ownResources] = [{ ...tools }, { ...prompts }, { ...resources }];
  ownTools.test_trigger_tool_change = triggerOf('tools', ownTools, { run: () => 'changing' }, listChanged);
  ownTools.test_trigger_prompt_change = triggerOf('prompts', ownPrompts, { get: () => 'changing' }, listChanged);
  const changing = { name: 'changing', mimeType: 'text/plain', read: () => 'changing' };
  const uri = 'test://changing';
  ownTools.test_trigger_resource_change = triggerOf('resources', ownResources, changing, listChanged, uri);
  ownTools.test_trigger_update = {
    description: 'Changes a resource.',
    run() {
      updated('test://static-text');
      return 'told';
    },
  };
  return {
    ...{ tools: ownTools, resources: ownResources, templates, prompts: ownPrompts },
    complete: ({ value }) => ['paris', 'park', 'party'].filter((word) => word.startsWith(String(value))),
  };
}
