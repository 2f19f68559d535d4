// Owns the proof of which model an agent talks to, at which address and with which key: flags, then the environment, then
// `[plexus.agent]`, and no key goes to an address that it was not given for.

import { describe, expect, test } from 'vitest';
import { chooseModel, type ModelFlags } from '../../../src/agent/choose-model.ts';
import { complete } from '../../../src/config/sections.ts';
import type { RuntimeError } from '../../../src/model/errors.ts';

type Env = Readonly<Record<string, string>>;

const sources = (flags: ModelFlags = {}, env: Env = {}, settings: object = {}) => ({
  flags,
  settings: complete('agent', settings),
  environment: { env: { PATH: process.env['PATH'], ...env }, cwd: '/', home: '/', platform: process.platform },
});

const choose = async (...args: Parameters<typeof sources>) => {
  const { provider, url, key, model } = await chooseModel(sources(...args));
  return { provider, url, key, model: model.name };
};

const failureOf = (work: Promise<unknown>): Promise<RuntimeError> =>
  work.then(
    () => expect.unreachable('it succeeded'),
    (error) => error,
  );

const OPENAI = 'https://api.openai.com/v1';
const ANTHROPIC = 'https://api.anthropic.com';
const keys = { OPENAI_API_KEY: 'open-key', ANTHROPIC_API_KEY: 'anth-key' };
// biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
const REFERENCE = '${FILE_KEY}';
const file = { provider: 'openai', url: 'https://file.example/v1', model: 'file-model', key: REFERENCE };
const inFile = { FILE_KEY: 'file-key' };

describe('the model', () => {
  test('is that of a flag, else of the environment, else of the file', async () => {
    const env = { ...keys, PLEXUS_MODEL: 'env-model' };
    const names = [
      await choose({ model: 'flag-model' }, env, { model: 'file-model' }),
      await choose({}, env, { model: 'file-model' }),
      await choose({}, keys, { model: 'file-model' }),
    ].map(({ model }) => model);
    expect(names).toEqual(['flag-model', 'env-model', 'file-model']);
  });

  test('decides the provider where nothing else does', async () => {
    expect(await choose({ model: 'gpt-6' }, keys)).toEqual({
      ...{ provider: 'openai', url: OPENAI, key: 'open-key', model: 'gpt-6' },
    });
    expect(await choose({ model: 'claude-5' }, keys)).toEqual({
      ...{ provider: 'anthropic', url: ANTHROPIC, key: 'anth-key', model: 'claude-5' },
    });
  });

  test('of this machine needs no key, and gets none', async () => {
    expect(await choose({ provider: 'ollama', model: 'llama' }, keys)).toEqual({
      ...{ provider: 'ollama', url: 'http://127.0.0.1:11434/v1', key: undefined, model: 'llama' },
    });
  });

  test('opens further models of the list at the same address, with what the file says of them', async () => {
    const settings = { ...file, models: ['other', 'file-model'], contextWindow: 9_000, vision: true };
    const { names, open, model } = await chooseModel(sources({}, inFile, settings));
    expect(names).toEqual(['file-model', 'other']);
    expect([model, open('other')]).toMatchObject([
      { name: 'file-model', contextWindow: 9_000, vision: true },
      { name: 'other', contextWindow: 9_000, vision: true },
    ]);
  });
});

describe('a key', () => {
  test('goes with the file’s address, read from a variable or from what a command prints', async () => {
    expect(await choose({}, inFile, file)).toMatchObject({ url: file.url, key: 'file-key' });
    expect(await choose({}, {}, { ...file, key: '!echo printed' })).toMatchObject({ key: 'printed' });
  });

  test('stays behind, like the model, when a stronger source names another address', async () => {
    const env = { ...inFile, ...keys, PLEXUS_MODEL_URL: 'https://env.example/v1', PLEXUS_MODEL_KEY: 'env-key' };
    const other = { url: 'https://flag.example/v1', model: 'x' };
    expect(await choose(other, env, file)).toMatchObject({ url: other.url, key: undefined });
    expect(await choose({ model: 'x' }, env, file)).toMatchObject({ url: 'https://env.example/v1', key: 'env-key' });
    expect(await choose({ ...other, keyEnv: 'MINE' }, { ...env, MINE: 'my-key' }, file)).toMatchObject({
      key: 'my-key',
    });
    expect(await failureOf(choose({ url: other.url }, env, file))).toMatchObject({ data: { missing: 'model' } });
  });

  test('of a provider goes to its own address and to that of its own variable alone', async () => {
    const proxy = { ...keys, OPENAI_BASE_URL: 'https://proxy.example/v1' };
    expect(await choose({ model: 'm' }, proxy)).toMatchObject({ url: proxy.OPENAI_BASE_URL, key: 'open-key' });
    expect(await choose({ model: 'm', url: `${OPENAI}/` }, keys)).toMatchObject({ key: 'open-key' });
    expect(await choose({ model: 'm', url: 'https://api.openai.com.evil.example/v1' }, keys)).toMatchObject({
      key: undefined,
    });
    expect(await choose({ provider: 'anthropic', model: 'm', url: OPENAI }, keys)).toMatchObject({ key: undefined });
  });
});

test('in every combination, the strongest address gets the strongest key that is not weaker than it', async () => {
  const given = [0, 1, 2].flatMap((source) => ['url', 'key'].map((what) => `${what} ${source}`));
  for (let combination = 0; combination < 2 ** given.length; combination++) {
    const has = (what: string, source: number) => combination & (1 << given.indexOf(`${what} ${source}`));
    const flags = {
      model: 'm',
      ...(has('url', 0) && { url: 'https://0.example' }),
      ...(has('key', 0) && { keyEnv: 'K0' }),
    };
    const env = {
      ...{ ...keys, K0: 'key 0', FILE_KEY: 'key 2' },
      ...(has('url', 1) && { PLEXUS_MODEL_URL: 'https://1.example' }),
      ...(has('key', 1) && { PLEXUS_MODEL_KEY: 'key 1' }),
    };
    const settings = { ...(has('url', 2) && { url: 'https://2.example' }), ...(has('key', 2) && { key: REFERENCE }) };
    const address = [0, 1, 2].find((source) => has('url', source));
    const key = [0, 1, 2].find((source) => has('key', source) && source <= (address ?? 2));
    expect(await choose(flags, env, settings)).toMatchObject({
      url: address === undefined ? OPENAI : `https://${address}.example`,
      key: key === undefined ? (address === undefined ? 'open-key' : undefined) : `key ${key}`,
    });
  }
});

describe('what is missing is told with what to set', () => {
  const told = async (...args: Parameters<typeof sources>) => (await failureOf(choose(...args))).message;

  test('a model', async () => {
    expect(await told()).toBe(
      'No model is chosen. Name one with --model, with the environment variable PLEXUS_MODEL, or with "model" under [plexus.agent] in your own file. See which there are with: plexus chat --list-models',
    );
  });

  test('a key', async () => {
    expect(await told({ model: 'claude-5' })).toBe(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
      'There is no key for the model at https://api.anthropic.com. Set the environment variable ANTHROPIC_API_KEY, or "key" under [plexus.agent] in your own file, such as key = "${NAME}".',
    );
    expect(await told({}, {}, file)).toBe(
      'There is no key for the model at https://file.example/v1. Set the environment variable FILE_KEY, which "plexus.agent.key" names.',
    );
    expect(await told({ model: 'm', keyEnv: 'NONE' })).toContain(
      'Set the environment variable NONE, which --key-env names.',
    );
    expect(await told({}, {}, { ...file, key: '!exit 3' })).toContain(
      'the command of "plexus.agent.key" failed: it ended with exit code 3',
    );
    expect(await told({}, {}, { ...file, key: '!true' })).toContain('it printed nothing');
  });

  test('a provider or an address that is none', async () => {
    expect(await told({ provider: 'toString', model: 'm' })).toContain(
      '--provider must be one of openai, anthropic, ollama',
    );
    expect(await told({ model: 'm' }, { PLEXUS_MODEL_PROVIDER: 'x' })).toContain(
      'PLEXUS_MODEL_PROVIDER must be one of',
    );
    for (const url of ['127.0.0.1:80', 'file:///etc/passwd', 'https://me:secret@a.example/v1']) {
      const message = await told({ model: 'm', url });
      expect(message).toContain('the address of the model must begin with http:// or https://');
      expect(message).not.toContain('secret');
    }
  });
});
