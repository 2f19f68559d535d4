import { defineConfig } from 'tsdown';
import { builtinModules } from './scripts/builtin-modules.mjs';
import { latin1Chunks } from './scripts/latin1-chunks.mjs';
import { thirdPartyLicenses } from './scripts/third-party-licenses.mjs';

/** One build for every door. The parsers are bundled into lazy chunks: `plexus --help` loads none of them. */
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    cli: 'src/cli/bin.ts',
    testing: 'src/testing/testing.ts',
    openai: 'src/adapters/openai.ts',
    agent: 'src/agent/agent.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  dts: true,
  plugins: [builtinModules(), latin1Chunks(), thirdPartyLicenses()],
  clean: true,
  // Less to read for Node, with every name as it was: stacks in bug reports stay readable.
  minify: { compress: true, mangle: false, codegen: true },
  fixedExtension: false,
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
        // Whatever else `createRuntime` always needs.
        { name: 'start', test: /src\/runtime\.ts$/ },
        { name: 'call', test: /src\/cli\/commands\/call\.ts$/ },
      ],
    },
  },
  // The CommonJS build of one parser cannot be bundled; its ES module can.
  inputOptions: { resolve: { mainFields: ['module', 'main'] } },
});
