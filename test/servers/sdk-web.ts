// Owns a remote server written with the official SDK, as its users write them, in the process of the test: the modern era
// over HTTP, with questions and news. It ends with the test.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createMcpHandler, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import * as z from 'zod';

export interface SdkWeb {
  readonly url: string;
  /** The methods that clients requested, oldest first. */
  readonly asked: readonly string[];
  /** Adds that tool, and notifies every listening client. */
  grow(tool: string): void;
  /** Notifies every subscribed client that the resource has changed. */
  touch(uri: string): void;
  /** How many clients listen. */
  listeners(): number;
  /** Ends the streams of all listening clients, with a proper end or by closing the socket. */
  hush(how: 'end' | 'reset'): void;
}

/** `hasResources`: the server also has `note://1`, and notifies of its changes. */
export async function startSdkWeb({ hasResources = false } = {}): Promise<SdkWeb> {
  const more: string[] = [];
  const asked: string[] = [];
  const handler = createMcpHandler(() => createSdkServer(more, hasResources), { legacy: 'reject' });
  const streams = new Set<{ end: () => void; reset: () => void }>();
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { method } = JSON.parse(body.toString() || '{}');
    asked.push(method ?? request.method);
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const answer = await handler.fetch(
      new Request(new URL(request.url ?? '', url), {
        method: request.method ?? 'POST',
        headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
        ...(body.length > 0 && { body: new Uint8Array(body) }),
        signal: gone.signal,
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (method === 'subscriptions/listen') {
      const stream = { end: () => response.end(), reset: () => request.socket.resetAndDestroy() };
      streams.add(stream);
      response.on('close', () => streams.delete(stream));
    }
    if (answer.body === null) response.end();
    else
      Readable.fromWeb(answer.body as never)
        .on('error', () => response.destroy())
        .pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  onTestFinished(async () => {
    await handler.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    ...{ url, asked },
    grow(tool) {
      more.push(tool);
      handler.notify.toolsChanged();
    },
    touch: (uri) => handler.notify.resourceUpdated(uri),
    listeners: () => streams.size,
    hush: (how) => {
      for (const stream of streams) stream[how]();
    },
  };
}

function createSdkServer(more: readonly string[], hasResources: boolean): McpServer {
  const capabilities = { tools: { listChanged: true }, ...(hasResources && { resources: { subscribe: true } }) };
  const server = new McpServer({ name: 'sdk', version: '1.0.0' }, { capabilities });
  if (hasResources)
    server.registerResource('one', 'note://1', {}, ({ href: uri }) => ({ contents: [{ uri, text: 'One' }] }));
  const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] });
  server.registerTool('think', { description: 'Asks for a sample', inputSchema: z.object({}) }, (_args, context) => {
    const answer = inputResponse(context.mcpReq.inputResponses, 'thought');
    if (answer.kind !== 'missing') return text(answer);
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Two and two?' } }];
    return inputRequired({ inputRequests: { thought: inputRequired.createMessage({ messages, maxTokens: 10 }) } });
  });
  server.registerTool('look', { description: 'Asks for the roots', inputSchema: z.object({}) }, (_args, context) => {
    const answer = inputResponse(context.mcpReq.inputResponses, 'roots');
    if (answer.kind !== 'missing') return text(answer);
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
  });
  for (const name of more)
    server.registerTool(name, { description: 'One more', inputSchema: z.object({}) }, () => text(name));
  return server;
}
