// Owns the proof of a talk by its parts: what each typed line does. `test/e2e/chat.test.ts` has the whole command.

import { expect, test } from 'vitest';
import { runChat } from '../../../../src/cli/chat/run-chat.ts';
import { isSlash, runSlash } from '../../../../src/cli/chat/slash.ts';
import { talk } from '../../../../src/cli/chat/talk.ts';
import type { Context } from '../../../../src/cli/command.ts';
import { listModelsFor } from '../../../../src/cli/model-of-context.ts';
import { plain } from '../../../../src/cli/render/text.ts';
import { createTranscript } from '../../../../src/cli/render/transcript.ts';
import type { ScriptedStep } from '../../../servers/models/script.ts';
import { openScene } from '../../agent/scene.ts';
import { createTestContext } from '../context.ts';

/** A person who types these lines, and then ends the input. */
async function openTalk(lines: readonly string[], ...script: readonly ScriptedStep[]) {
  const { agent, runtime, model } = await openScene(script);
  const left = [...lines];
  let screen = '';
  const { context } = createTestContext({
    askText: async () => left.shift(),
    print: (text) => {
      screen += text(plain);
    },
    warn: (text) => {
      screen += `${text(plain)}\n`;
    },
  });
  const conversation = await agent.open();
  const chosen = { provider: 'ollama', url: 'http://127.0.0.1:11434/v1', model, names: [], open: () => model } as const;
  const parts = { runtime, conversation, chosen, transcript: createTranscript(context) };
  return { parts, context, left, screen: () => screen };
}

test('greets with the model, answers, and says how to go on', async () => {
  const { parts, context, screen } = await openTalk(['Hello', '  ', '/quit', 'never'], { text: 'Hello yourself.' });
  expect(await talk(parts, context)).toMatchObject({ exitCode: 0, bytes: new Uint8Array() });
  expect(screen()).toBe(
    [
      'You talk with scripted (Ollama). Type /help for help; Ctrl-C stops an answer.',
      'Hello yourself.',
      `To go on with this conversation: plexus chat --session ${parts.conversation.id}\n`,
    ].join('\n'),
  );
});

test('a talk without a word leaves no trace, and one that goes on says what is remembered', async () => {
  const { parts, context, screen } = await openTalk([]);
  await talk(parts, context);
  expect(screen()).not.toContain('--session');
  const later = await openTalk(['one', 'two'], { text: '1' }, { text: '2' });
  await talk(later.parts, later.context);
  await talk(later.parts, later.context);
  expect(later.screen()).toContain('(Ollama). 2 earlier prompts are remembered.');
});

test('a typing error is not sent to the model, and a result that is not there is told', async () => {
  const { parts, screen } = await openTalk([]);
  const { signal } = new AbortController();
  for (const typed of ['/toString', '/show 7', '/']) expect(await runSlash(typed, parts, signal)).toBe(false);
  expect(screen()).toBe(
    'There is no /toString. See all with: /help\nThere is no call 7.\nThere is no /. See all with: /help\n',
  );
  expect(await runSlash('/quit now', parts, signal)).toBe(true);
  expect(['/quit now', '/', '/etc/hosts has what?', ' /quit'].map(isSlash)).toEqual([true, true, false, false]);
});

test('without a terminal and a prompt there is nothing to do, and --json is for a prompt', async () => {
  const runs = async (changes: Partial<Context>) => runChat(createTestContext(changes).context);
  await expect(runs({})).rejects.toThrow('give a prompt, or run it in a terminal');
  await expect(runs({ positionals: ['Hello'] })).rejects.toMatchObject({ code: 'MODEL_UNSET' });
  let out = '';
  const print: Context['print'] = (text) => {
    out += text(plain);
  };
  const values = { json: true };
  expect(await runs({ values, print, askText: async () => undefined })).toMatchObject({ exitCode: 1 });
  expect(JSON.parse(out)).toMatchObject({
    error: { code: 'USAGE', message: expect.stringMatching(/^--json needs a prompt/) },
  });
});

test('an address that lacks its key is told, and the others are listed all the same', async () => {
  const { context, warnings } = createTestContext({
    values: { url: 'http://127.0.0.1:1/v1', 'key-env': 'NONE' },
  });
  expect((await listModelsFor(context)).data).toMatchObject({ lists: expect.any(Array) });
  expect(warnings).toEqual([expect.stringContaining('Set the environment variable NONE, which --key-env names.')]);
});
