import { defineConfig } from 'tsdown';
import { builtinModules } from './scripts/builtin-modules.mjs';
import { jsonText } from './scripts/json-text.mjs';
import { latin1Chunks } from './scripts/latin1-chunks.mjs';
import { thirdPartyLicenses } from './scripts/third-party-licenses.mjs';

const common = {
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  dts: true,
  // Less to read for Node. Functions keep their names: stacks in bug reports stay readable.
  minify: { compress: true, mangle: { toplevel: false, keepNames: true }, codegen: true },
  fixedExtension: false,
} as const;

/** The server side by itself: it shares no file with the client's side, so that neither loads the other. */
const serving = defineConfig({
  ...common,
  entry: { serving: 'src/serving/door.ts' },
  plugins: [builtinModules(), jsonText(), latin1Chunks()],
  clean: false,
});

/** The agent loads the server side as it is built above: two copies of its classes would not know each other. */
const servedByItsDoor = {
  name: 'served-by-its-door',
  resolveId: {
    order: 'pre',
    handler: (id: string) => (id.endsWith('/serving/door.ts') ? { id: './serving.js', external: true } : undefined),
  },
} as const;

/** A module that another build makes, and that is loaded when it is needed. */
const builtApart = (module: RegExp, file: string) => ({
  name: `apart-${file}`,
  resolveId: { filter: { id: module }, handler: () => ({ id: `./${file}`, external: true }) },
});

/**
 * The program, with `plexus connect` in it: every agent of a machine starts and keeps one, so it is one small file. Commands, and
 * the start of a gateway, are files that it loads then. It is CommonJS, since Node's loader of ES modules costs a fifth of `node -e 0`.
 */
const program = defineConfig({
  ...common,
  format: 'cjs',
  entry: { cli: 'src/cli/bin.ts' },
  plugins: [
    builtApart(/\/command-line\.ts$/, 'command-line.js'),
    builtApart(/\/start\.ts$/, 'start-gateway.js'),
    builtinModules(),
    jsonText(),
    latin1Chunks(),
  ],
  dts: false,
  clean: false,
});

const startGateway = defineConfig({
  ...common,
  entry: { 'start-gateway': 'src/gateway/connect/start.ts' },
  plugins: [builtinModules(), jsonText(), latin1Chunks()],
  dts: false,
  clean: false,
});

/** One build for every other door. The parsers are bundled into lazy chunks: `plexus --help` loads none of them. */
const client = defineConfig({
  ...common,
  entry: {
    index: 'src/index.ts',
    'command-line': 'src/cli/command-line.ts',
    testing: 'src/testing/testing.ts',
    agent: 'src/agent/agent.ts',
    gateway: 'src/gateway/gateway.ts',
    'ai-sdk': 'src/adapters/ai-sdk.ts',
    anthropic: 'src/adapters/anthropic.ts',
    google: 'src/adapters/google.ts',
    langchain: 'src/adapters/langchain.ts',
    openai: 'src/adapters/openai.ts',
    'openai-agents': 'src/adapters/openai-agents.ts',
  },
  plugins: [servedByItsDoor, builtinModules(), jsonText(), latin1Chunks(), thirdPartyLicenses()],
  clean: true,
  outputOptions: {
    // A group takes in what its modules import. Every further file costs a millisecond, and every byte is parsed:
    // what is always loaded together is one file.
    codeSplitting: {
      groups: [
        { name: 'help', test: /src\/cli\/(main|compile-cache)\.ts$/, priority: 2 },
        {
          // What the servers are as long as none runs: `plexus list`, and the first thing that every start reads.
          name: 'known',
          test: /src\/(cli\/commands\/list|servers\/known-servers)\.ts$/,
          priority: 1,
        },
        // Whatever else `createRuntime` always needs, and what else the library exports: it is little, and nothing of a command.
        { name: 'start', test: /src\/(index|runtime|trust\/call-facts)\.ts$/ },
        { name: 'call', test: /src\/cli\/commands\/call\.ts$/ },
      ],
    },
  },
  // The CommonJS build of one parser cannot be bundled; its ES module can.
  inputOptions: { resolve: { mainFields: ['module', 'main'] } },
});

export default [client, serving, program, startGateway];
