// Owns how the tests run: three projects, because they use a machine in two ways, and some need packages that only they need.
// `unit` is limited by the processor: as many workers as cores, and modules are loaded once per worker, not once per file.
// `process` starts real servers and mostly waits for them: more workers than cores, and each file gets a process of its own,
// since the fault matrix counts the listeners, sockets and children of the process it runs in.
// `frameworks` drives the adapters with real frameworks, which are installed when it runs.

import { availableParallelism } from 'node:os';
import { defineConfig, type Plugin } from 'vitest/config';

const cores = availableParallelism();
const WORKERS_PER_CORE = 2;
const HUNG_MS = process.env['PLEXUS_LONG'] === '1' ? 300_000 : 60_000;

export default defineConfig({
  resolve: { alias: { 'plexus/testing': new URL('./src/testing/testing.ts', import.meta.url).pathname } },
  test: {
    reporters: process.env['CI'] ? ['dot'] : ['default'],
    // Limits for a hung test, not for a slow machine.
    testTimeout: HUNG_MS,
    hookTimeout: HUNG_MS,
    // A worker thread would share the processor time that the tests of complexity measure.
    pool: 'forks',
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/{unit,pins,data}/**/*.test.ts', 'test/*.test.ts'],
          setupFiles: ['test/seed.ts'],
          isolate: false,
          maxWorkers: cores,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          include: ['test/{e2e,faults}/**/*.test.ts', 'test/inspector/*.test.ts'],
          maxWorkers: WORKERS_PER_CORE * cores,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        plugins: [frameworksInTheirFolder()],
        test: {
          name: 'frameworks',
          include: ['test/frameworks/*.test.ts'],
          globalSetup: 'test/frameworks/install.ts',
          maxWorkers: WORKERS_PER_CORE * cores,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

/** An adapter that imports its framework finds it where the frameworks are installed, as it would in a project of a host. */
function frameworksInTheirFolder(): Plugin {
  const importer = new URL('./test/frameworks/run.ts', import.meta.url).pathname;
  return {
    name: 'frameworks-in-their-folder',
    enforce: 'pre',
    resolveId: {
      handler(id) {
        return id.startsWith('@langchain/core/') ? this.resolve(id, importer, { skipSelf: true }) : undefined;
      },
    },
  };
}
