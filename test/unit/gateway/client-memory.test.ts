// Owns the proof of what `plexus connect` says after the loss of a gateway, to its client and to the next gateway.

import { describe, expect, test } from 'vitest';
import { ClientMemory } from '../../../src/gateway/connect/client-memory.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { verifies } from '../../verifies.ts';

function remember() {
  const refused: unknown[] = [];
  const memory = new ClientMemory({
    replayPrefix: 'again ',
    outcomeUnknown: (id, tool) => ({ id, error: `unknown: ${tool}` }),
    onRefused: (error) => refused.push(error),
  });
  const parse = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text));
  return {
    memory,
    refused,
    client: (message: JsonObject) => parse(memory.fromClient(message, JSON.stringify(message))),
    gateway: (message: JsonObject) => parse(memory.fromGateway(message, JSON.stringify(message))),
    lost: () => {
      const { toClient, toGateway } = memory.lost();
      return { toClient, toGateway: toGateway.map((text) => JSON.parse(text)) };
    },
  };
}

const introduction = { protocolVersion: '2025-11-25', capabilities: {} };
const offered = { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {} };

function initialized() {
  const scene = remember();
  scene.client({ id: 1, method: 'initialize', params: introduction });
  scene.gateway({ id: 1, result: { capabilities: offered } });
  scene.client({ method: 'notifications/initialized' });
  return scene;
}

verifies('EXT-45', 'the next gateway gets the introduction, the log level and the subscriptions of the client', () => {
  const { client, gateway, lost } = initialized();
  client({ id: 2, method: 'resources/subscribe', params: { uri: 'a://1' } });
  client({ id: 3, method: 'resources/subscribe', params: { uri: 'a://2' } });
  client({ id: 4, method: 'resources/unsubscribe', params: { uri: 'a://1' } });
  client({ id: 5, method: 'logging/setLevel', params: { level: 'info' } });
  for (const id of [2, 3, 4, 5]) gateway({ id, result: {} });
  expect(lost()).toEqual({
    toClient: [
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a://2' } },
    ],
    toGateway: [
      { jsonrpc: '2.0', id: 'again 1 initialize', method: 'initialize', params: introduction },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 'again 1 level', method: 'logging/setLevel', params: { level: 'info' } },
      { jsonrpc: '2.0', id: 'again 1 0', method: 'resources/subscribe', params: { uri: 'a://2' } },
    ],
  });
  expect(gateway({ id: 'again 1 0', result: {} })).toBeUndefined();
});

verifies(
  'EXT-45',
  'a call in flight ends with an unknown outcome and is never sent again; a list is asked for again',
  () => {
    const { client, gateway, lost } = initialized();
    client({ id: 7, method: 'tools/call', params: { name: 'pay', arguments: {} } });
    client({ id: 8, method: 'tools/list' });
    client({ id: 9, method: 'x-own/method' });
    client({ id: 10, method: 'tools/call', params: { name: 'done' } });
    gateway({ id: 10, result: {} });
    client({ id: 11, method: 'tools/call', params: { name: 'cancelled' } });
    client({ method: 'notifications/cancelled', params: { requestId: 11 } });
    const { toClient, toGateway } = lost();
    expect(toClient.filter(({ id }) => id !== undefined)).toEqual([
      { id: 7, error: 'unknown: pay' },
      { id: 9, error: 'unknown: ' },
    ]);
    expect(toGateway.map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized', 'tools/list']);
    expect(lost().toClient.filter(({ id }) => id !== undefined)).toEqual([]);
  },
);

test('a client that has not introduced itself is not introduced; its initialize is sent again as it was', () => {
  const { client, lost } = remember();
  client({ id: 'a', method: 'initialize', params: introduction });
  expect(lost()).toEqual({ toClient: [], toGateway: [{ id: 'a', method: 'initialize', params: introduction }] });
});

describe('questions', () => {
  test('an open question is withdrawn, and its late answer reaches no other gateway', () => {
    const { client, gateway, lost } = initialized();
    expect(gateway({ id: 'q1', method: 'elicitation/create' })).toEqual({ id: 'q1', method: 'elicitation/create' });
    expect(lost().toClient[0]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 'q1' } });
    // The next gateway counts from one again.
    expect(gateway({ id: 'q1', method: 'roots/list' })).toEqual({ id: 'q1.1', method: 'roots/list' });
    expect(client({ id: 'q1', result: { action: 'accept' } })).toBeUndefined();
    expect(client({ id: 'q1.1', result: { roots: [] } })).toEqual({ id: 'q1', result: { roots: [] } });
    expect(client({ id: 'q1.1', result: { roots: [] } })).toBeUndefined();
  });

  test('a question that the gateway withdraws is named as the client knows it', () => {
    const { gateway, lost } = initialized();
    lost();
    gateway({ id: 'q1', method: 'roots/list' });
    expect(gateway({ method: 'notifications/cancelled', params: { requestId: 'q1' } })).toEqual({
      method: 'notifications/cancelled',
      params: { requestId: 'q1.1' },
    });
  });
});

test('a modern subscription is opened again, and acknowledged once', () => {
  const { client, gateway, lost } = remember();
  const listen = { id: 5, method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } };
  const acknowledged = {
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 5 } },
  };
  client(listen);
  expect(gateway(acknowledged)).toEqual(acknowledged);
  expect(lost()).toEqual({ toClient: [], toGateway: [listen] });
  expect(gateway(acknowledged)).toBeUndefined();
  expect(gateway(acknowledged)).toEqual(acknowledged);
});

test('a gateway that refuses the introduction is told of', () => {
  const { gateway, lost, refused } = initialized();
  lost();
  gateway({ id: 'again 1 initialize', error: { code: -32602, message: 'no' } });
  expect(refused).toEqual([{ code: -32602, message: 'no' }]);
});

test('without a gateway every open request is answered with the reason', () => {
  const { memory, client } = initialized();
  client({ id: 3, method: 'tools/call', params: { name: 'x' } });
  expect(memory.giveUp({ code: -32603, message: 'no gateway' })).toEqual([
    { jsonrpc: '2.0', id: 3, error: { code: -32603, message: 'no gateway' } },
  ]);
});
