import { defineConfig } from 'tsdown';
import { thirdPartyLicenses } from './scripts/third-party-licenses.mjs';

/** One build for every door. The parsers are bundled into lazy chunks: `plexus --help` loads none of them. */
export default defineConfig({
  entry: { index: 'src/index.ts', cli: 'src/cli/bin.ts', testing: 'src/testing/testing.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  dts: true,
  plugins: [thirdPartyLicenses()],
  clean: true,
  minify: false,
  fixedExtension: false,
  // What help needs is one file: every further one costs a millisecond.
  outputOptions: {
    codeSplitting: {
      groups: [
        {
          name: 'help',
          test: /src\/(cli\/(command|commands|help|terminal|render\/\w+)|model\/identity)\.ts$|package\.json$/,
        },
      ],
    },
  },
  // The CommonJS build of one parser cannot be bundled; its ES module can.
  inputOptions: { resolve: { mainFields: ['module', 'main'] } },
});
