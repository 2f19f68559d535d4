import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { alias: { 'plexus/testing': new URL('./src/testing/testing.ts', import.meta.url).pathname } },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: process.env['CI'] ? ['dot'] : ['default'],
  },
});
