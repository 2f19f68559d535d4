// Owns who is measured: the name in the figures, the head of the column, and the client's module.

const own = {
  hand: { title: 'hand-written', file: './hand-client.mjs' },
  sdk2: { title: 'SDK v2', file: './sdk2-client.mjs' },
  sdk1: { title: 'SDK v1', file: './sdk1-client.mjs' },
};

const peers = {
  'mcp-use': { title: 'mcp-use', file: './peers/mcp-use.mjs' },
  mcporter: { title: 'mcporter', file: './peers/mcporter.mjs' },
  'ai-sdk': { title: 'AI SDK', file: './peers/ai-sdk.mjs' },
  langchain: { title: 'LangChain', file: './peers/langchain.mjs' },
  mastra: { title: 'Mastra', file: './peers/mastra.mjs' },
};

const plexus = { title: 'Plexus', file: './plexus-client.mjs' };

/** For people in a hurry, Plexus and its yardstick. */
export const fields = {
  short: { sdk2: own.sdk2, plexus },
  usual: { ...own, plexus },
  peers: { ...own, ...peers, plexus },
};

/** What Plexus wants to be ahead of: every library but the yardstick, which has promises of its own. */
export const rivals = ['sdk1', ...Object.keys(peers)];
