import { defineConfig } from 'tsdown';
import { builtinModules } from './scripts/builtin-modules.mjs';
import { thirdPartyLicenses } from './scripts/third-party-licenses.mjs';

/** One build for every door. zod and the parsers are bundled into lazy chunks: `plexus --help` loads none of them. */
export default defineConfig({
  entry: { index: 'src/index.ts', cli: 'src/cli/bin.ts', testing: 'src/testing/testing.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  dts: true,
  plugins: [thirdPartyLicenses(), builtinModules()],
  clean: true,
  minify: false,
  fixedExtension: false,
  // What help needs is one file: every further one costs a millisecond.
  outputOptions: {
    codeSplitting: {
      groups: [
        { name: 'help', test: /src\/cli\/(main|compile-cache)\.ts$/, priority: 2 },
        {
          // What the servers are as long as none runs: `plexus list`, and the first thing that every start reads.
          name: 'known',
          test: /src\/(cli\/commands\/list|config\/(load|native|sources\/toml)|servers\/judge-config)\.ts$/,
          priority: 1,
        },
      ],
    },
  },
  // The CommonJS build of one parser cannot be bundled; its ES module can.
  inputOptions: { resolve: { mainFields: ['module', 'main'] } },
});
