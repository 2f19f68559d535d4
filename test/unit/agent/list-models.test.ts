// Owns the proof of which models are listed: those of the chosen address and of model servers that run on this machine.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listModels } from '../../../src/agent/list-models.ts';
import { type ModelAddress, providers } from '../../../src/agent/models/providers.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { waitFor } from '../../wait-for.ts';
import { openModelServer } from './scene.ts';

const idle = () => new AbortController().signal;

async function answering(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const list = (chosen: ModelAddress | undefined, locals: readonly ModelAddress[] = []) =>
  listModels(chosen, { env: {} }, { clock: systemClock, signal: idle(), locals });

test('lists a running model server of this machine, and leaves out what does not run or is something else', async () => {
  const { url } = await openModelServer([]);
  const page = await answering((_, response) => response.end('<html>'));
  const locals: readonly ModelAddress[] = [
    { provider: 'ollama', url: `${url}/v1` },
    { provider: 'vllm', url: `${page}/v1` },
    { provider: 'llama.cpp', url: 'http://127.0.0.1:1/v1' },
  ];
  expect(await list(undefined, locals)).toEqual([{ provider: 'ollama', url: `${url}/v1`, models: ['scripted'] }]);
});

test('lists the chosen address once, as its provider is asked, and says why it cannot', async () => {
  const { url } = await openModelServer([]);
  const anthropic = { provider: 'anthropic', url, key: 'k' } as const;
  expect(await list(anthropic, [anthropic])).toEqual([{ provider: 'anthropic', url, models: ['scripted'] }]);
  const refusing = await answering((request, response) =>
    response.writeHead(request.headers.authorization === 'Bearer my-key' ? 401 : 200).end('{"data":[{"id":5}]}'),
  );
  expect(await list({ provider: 'openai', url: refusing, key: 'my-key' })).toMatchObject([
    { models: [], problem: 'it answered with HTTP 401' },
  ]);
  expect(await list({ provider: 'openai', url: refusing })).toMatchObject([
    { models: [], problem: 'its answer is no list of models' },
  ]);
  expect(await list({ provider: 'openai', url: 'http://127.0.0.1:1/v1' })).toMatchObject([
    { problem: expect.stringContaining('it cannot be reached') },
  ]);
});

test('a server that says nothing is given up in time, and an interruption ends it', async () => {
  let asked = 0;
  const url = await answering(() => {
    asked++;
  });
  const clock = createFakeClock();
  const lists = listModels({ provider: 'openai', url }, { env: {} }, { clock, signal: idle(), locals: [] });
  await waitFor(() => expect(asked).toBe(1));
  await clock.advance(10_000);
  expect(await lists).toMatchObject([{ problem: 'it did not answer within 10 s' }]);
  const interruption = new AbortController();
  const { signal } = interruption;
  const ended = listModels({ provider: 'openai', url }, { env: {} }, { clock, signal, locals: [] });
  interruption.abort(new Error('stop'));
  await expect(ended).rejects.toThrow('stop');
});

test('the model servers of this machine have their usual ports, and are reached on loopback only', () => {
  const locals = Object.values(providers).filter(({ isLocal }) => isLocal);
  expect(locals.map(({ title, url }) => `${title} ${url}`)).toEqual([
    'Ollama http://127.0.0.1:11434/v1',
    'LM Studio http://127.0.0.1:1234/v1',
    'llama.cpp http://127.0.0.1:8080/v1',
    'vLLM http://127.0.0.1:8000/v1',
  ]);
});
