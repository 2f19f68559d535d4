// Owns what the adapters promise about their speed, in the form of `../promises.mjs`: `against` is the framework's own MCP client.

const adapters = ['ai-sdk', 'langchain', 'openai', 'openai-agents', 'anthropic', 'google'];

export const promises = [
  ...adapters.flatMap((name) => [
    { row: `${name}.call`, atMost: 15 },
    { row: `${name}.start`, atMost: 5 },
    { row: `${name}.import`, atMost: 10 },
  ]),
  { row: 'ai-sdk.ten-wall', against: 'ai-sdk', atMost: 1.05, holds: 1.3 },
  { row: 'ai-sdk.ten-cpu', against: 'ai-sdk', atMost: 0.7, holds: 2.7 },
  { row: 'ai-sdk.parallel', against: 'ai-sdk', atLeast: 2, holds: 1.1 },
  // Usable at once, and not when the stalled server answers.
  { row: 'ai-sdk.stalled', against: 'ai-sdk', atMost: 0.5 },
  { row: 'langchain.ten-wall', against: 'langchain', atMost: 0.7 },
  { row: 'langchain.ten-cpu', against: 'langchain', atMost: 0.7 },
  { row: 'langchain.parallel', against: 'langchain', atLeast: 1.4 },
  { row: 'langchain.stalled', against: 'langchain', atMost: 0.5 },
];
