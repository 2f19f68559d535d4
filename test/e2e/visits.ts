// Owns how the clients of both official SDKs make the visit of `visit.ts`.

import { Client as Client2, LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { answer, folder, type Heard, nothingHeard, thought, visit, watched } from './visit.ts';

export { answer } from './visit.ts';

const info = { name: 'test', version: '1' };
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };

function answerTo(params: { readonly mode?: string | undefined }, heard: Heard) {
  if (params.mode !== 'url') return { ...answer, content: { ...answer.content, context: 'a test' } };
  heard.pages.push('url' in params ? params.url : undefined);
  return { action: 'accept' as const };
}

export interface Visited {
  /** How the client is told of an unknown resource; an SDK server of today uses the code of the newer era. */
  readonly notFound?: number;
  /** Stands before the names of tools and prompts, where the client sees those of several servers. */
  readonly prefix?: string;
  /** What the server reads of roots. Default: those of the client. */
  readonly roots?: string | undefined;
}

/** `transport` is SDK v1's. */
export async function visitBySdk1(transport: unknown, { notFound = -32002, prefix = '' }: Visited = {}): Promise<void> {
  const named = (name: string) => prefix + name;
  const client = new Client1(info, { capabilities });
  const heard = nothingHeard();
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answerTo(params, heard));
  client.setRequestHandler(CreateMessageRequestSchema, () => thought);
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [folder] }));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    if (params.uri === watched) heard.updates++;
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    heard.toolChanges++;
  });
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => {
    heard.promptChanges++;
  });
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => {
    heard.resourceChanges++;
  });
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.logs.push(params.data));
  await client.connect(transport as never);
  onTestFinished(() => client.close());
  await client.ping();
  await visit({
    ...{ client: client as never, heard, notFound, named },
    call: (name, options, _meta) =>
      client.callTool({ name: named(name), arguments: {}, ...(_meta && { _meta: { ..._meta } }) }, undefined, options),
    async wantLog(level) {
      await client.setLoggingLevel(level);
      return {};
    },
    async subscribe(uri) {
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
  });
}

/** `transport` is SDK v2's; `auto` finds out which era the server speaks. */
export async function visitBySdk2(
  transport: unknown,
  mode: 'legacy' | 'auto',
  { prefix = '', roots }: Visited = {},
): Promise<void> {
  const named = (name: string) => prefix + name;
  const heard = nothingHeard();
  const told = (count: 'toolChanges' | 'promptChanges' | 'resourceChanges') => ({
    debounceMs: 0,
    onChanged: () => {
      heard[count]++;
    },
  });
  const client = new Client2(info, {
    capabilities,
    versionNegotiation: { mode },
    listChanged: {
      ...{ tools: told('toolChanges'), prompts: told('promptChanges') },
      resources: told('resourceChanges'),
    },
  });
  client.setRequestHandler('elicitation/create', ({ params }) => answerTo(params, heard));
  client.setRequestHandler('sampling/createMessage', () => thought);
  client.setRequestHandler('roots/list', () => ({ roots: [folder] }));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    if (params.uri === watched) heard.updates++;
  });
  client.setNotificationHandler('notifications/message', ({ params }) => void heard.logs.push(params.data));
  await client.connect(transport as never);
  onTestFinished(() => client.close());
  const isLegacy = mode === 'legacy';
  if (isLegacy) await client.ping();
  await visit({
    // The client gives either code as one error.
    ...{ client: client as never, heard, notFound: -32602, roots, named },
    call: (name, options, _meta) =>
      client.callTool({ name: named(name), arguments: {}, ...(_meta && { _meta: { ..._meta } }) }, options as never),
    async wantLog(level) {
      if (!isLegacy) return { [LOG_LEVEL_META_KEY]: level };
      await client.setLoggingLevel(level);
      return {};
    },
    async subscribe(uri) {
      if (!isLegacy) {
        const subscription = await client.listen({ resourceSubscriptions: [uri] });
        return () => subscription.close();
      }
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
  });
}
