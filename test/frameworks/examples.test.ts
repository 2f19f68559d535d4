// Owns the proof that the program of each framework in `examples/` does its job, with a model that reads one note and says what it read.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'vitest';
import { sentResults } from '../servers/models/sent.ts';
import { startModelServer } from '../servers/models/server.ts';
import { nodeOptions } from './adapter-tests.ts';
import { describeInstalled, newerNode } from './installed.ts';

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The environment by which each client finds the model. */
const examples: Readonly<Record<string, (url: string) => Readonly<Record<string, string>>>> = {
  'ai-sdk': (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none' }),
  anthropic: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none' }),
  google: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'none' }),
  langchain: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none' }),
  openai: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none' }),
  'openai-agents': (url) => ({
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'none',
    OPENAI_AGENTS_DISABLE_TRACING: '1',
  }),
};

describeInstalled('the example of', () => {
  test.concurrent.for(Object.entries(examples))('%s', async ([name, environment], { expect, onTestFinished }) => {
    const program = pathOf(`../../examples/${name}/main.mjs`);
    expect(readFileSync(program, 'utf8').split('\n').length).toBeLessThanOrEqual(40);
    const reading = { name: 'mcp__files__read_text_file', arguments: { path: 'welcome.md' } };
    const model = await startModelServer([
      { calls: [reading] },
      (request) => ({ text: `It says: ${sentResults(request).at(-1)?.text}` }),
    ]);
    onTestFinished(() => model.close());
    const { stdout } = await promisify(execFile)(newerNode, [...nodeOptions, program], {
      encoding: 'utf8',
      env: { ...process.env, ...environment(model.url) },
    });
    expect(stdout).toMatch(/^It says: (.|\n)*You are reading this through Plexus/);
  });
});
