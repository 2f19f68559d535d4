// Owns the proof that each program of `examples/frameworks` does its job with the real framework and a model by script.

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { sentResults } from '../servers/models/sent.ts';
import { startModelServer } from '../servers/models/server.ts';
import { nodeOptions } from './adapter-tests.ts';
import { describeInstalled, newerNode } from './installed.ts';

const folder = fileURLToPath(new URL('../../examples/frameworks/', import.meta.url));
const read = 'mcp__files__read_text_file';

describeInstalled('an example', () => {
  test.each(readdirSync(folder))('%s calls a tool and prints the answer, in less than 40 lines', async (name) => {
    const path = `${folder}../sample-fleet/notes/welcome.md`;
    const model = await startModelServer([{ calls: [{ name: read, arguments: { path } }] }, { text: 'A welcome.' }]);
    onTestFinished(() => model.close());
    const env = { ...process.env, OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: 'none' };
    const { stdout } = await promisify(execFile)(newerNode, [...nodeOptions, folder + name], { env });
    expect(stdout).toBe(`called ${read}\nA welcome.\n`);
    const [, last] = model.requests;
    expect(last && sentResults(last)[0]?.text).toContain('You are reading this through Plexus');
    expect(readFileSync(folder + name, 'utf8').split('\n').length).toBeLessThanOrEqual(40);
  });
});
