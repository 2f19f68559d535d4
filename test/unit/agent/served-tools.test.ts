// Owns the tests of what the tools of a served agent let a client ask for.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createConversations } from '../../../src/agent/conversations.ts';
import { createServedConversations } from '../../../src/agent/served-conversations.ts';
import { createFolders } from '../../../src/agent/served-folders.ts';
import { SandboxStates } from '../../../src/agent/served-sandbox.ts';
import { createTools } from '../../../src/agent/served-tools.ts';
import { systemClock as clock } from '../../../src/kernel/clock.ts';
import { createFolder } from '../../e2e/runtimes.ts';
import { openScene } from './scene.ts';

test('a model and a folder can be asked for only where there is a choice', async () => {
  const { runtime, model } = await openScene([]);
  const cwd = createFolder();
  const redact = <Value>(value: Value): Value => value;
  const kept = createConversations({ folder: join(cwd, 'conversations') }, { clock, redact });
  const folders = createFolders({ cwd, runtime, served: undefined });
  const report = (error: unknown) => expect.unreachable(String(error));
  const conversations = createServedConversations({
    ...{ options: { runtime, model }, kept, models: [], folders, sandboxes: new SandboxStates(), clock, report },
  });
  const asks = (models: readonly string[], hasFolders: boolean) => {
    const tools = createTools({
      ...{ name: 'helper', cwd, clock, folders, conversations, changed: () => undefined, models, hasFolders },
    });
    expect(Object.keys(tools)).toEqual(['helper', 'helper-reply']);
    return Object.keys(Object(tools['helper']?.inputSchema?.['properties']));
  };
  const always = ['permissions', 'sandbox', 'max_steps'];
  expect(asks([], false)).toEqual(['prompt', ...always]);
  expect(asks(['one', 'two'], true)).toEqual(['prompt', 'model', 'cwd', ...always]);
});
