// Owns the proof that messages are told apart, that lines survive any cut, and that results and errors are worded for their era.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Changes, honoredFilter } from '../../../src/serving/changes.ts';
import { statusOf } from '../../../src/serving/http-reply.ts';
import { LineReader, type ReadLine } from '../../../src/serving/line-reader.ts';
import { readMessage } from '../../../src/serving/message.ts';
import { assertHeaders, assertParamHeaders, isModern, modernPeer } from '../../../src/serving/modern-request.ts';
import { codes, negotiated, ProtocolError, resourceNotFound } from '../../../src/serving/protocol.ts';
import { legacyResult, modernError, modernResult } from '../../../src/serving/result-era.ts';
import type { Peer } from '../../../src/serving/service.ts';
import { runs } from '../../effort.ts';
import { MODERN, modernMeta } from './served.ts';

test('a request, a notification and an answer are told apart by their keys', () => {
  const read = (value: object) => readMessage({ jsonrpc: '2.0', ...value }).kind;
  expect([
    read({ id: 'a', method: 'x' }),
    read({ method: 'x' }),
    read({ id: 1, result: {} }),
    read({ id: 1, error: {} }),
    read({ id: null, result: {} }),
    read({}),
  ]).toEqual(['request', 'notification', 'answer', 'answer', 'invalid', 'invalid']);
});

test('any JSON is read without throwing, and an invalid one keeps a valid id', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const message = readMessage(value);
      if (message.kind !== 'invalid') return true;
      const id = (value as { id?: unknown } | null)?.id;
      return message.id === null || message.id === id;
    }),
    { numRuns: runs(5_000) },
  );
});

test('lines are the same however the bytes are cut; one over the limit is dropped with its id', () => {
  const line = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => JSON.stringify({ id: 1, text })),
    fc.constant(''),
    fc.integer({ min: 0, max: 9 }).map((id) => JSON.stringify({ id, method: 'big', text: 'x'.repeat(400) })),
  );
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 40 }),
      (lines, cuts) => {
        const bytes = Buffer.from(lines.join('\n'));
        const expected = lines
          .filter((each) => each !== '')
          .map((text): ReadLine => {
            if (Buffer.byteLength(text) <= 300) return { kind: 'line', text };
            return { kind: 'too-long', id: JSON.parse(text).id };
          });
        const reader = new LineReader(300);
        const found: ReadLine[] = [];
        let from = 0;
        for (const size of [...cuts, bytes.length]) {
          found.push(...reader.push(bytes.subarray(from, from + size)));
          from += size;
        }
        found.push(...reader.end());
        expect(found).toEqual(expected);
      },
    ),
    { numRuns: runs(3_000) },
  );
});

describe('the era of a message', () => {
  const modern = { _meta: modernMeta() };

  test('is modern if it names a revision that is not legacy, asks to discover, or its header says so', () => {
    expect(isModern('tools/list', modern)).toBe(true);
    expect(isModern('server/discover', {})).toBe(true);
    expect(isModern('tools/list', {}, { 'mcp-protocol-version': MODERN })).toBe(true);
    expect(isModern('tools/list', {}, { 'mcp-protocol-version': MODERN, 'mcp-session-id': 'x' })).toBe(false);
    expect(isModern('tools/list', {}, { 'mcp-protocol-version': '2025-11-25' })).toBe(false);
    expect(isModern('initialize', { _meta: { progressToken: 1 } })).toBe(false);
  });

  test('its peer is what the request says of itself', () => {
    const request = { kind: 'request', id: 1, method: 'tools/list', params: modern } as const;
    expect(modernPeer(request, { id: 'me' })).toEqual({
      ...{ era: 'modern', protocolVersion: MODERN, principal: { id: 'me' }, capabilities: {} },
      ...{ client: undefined, session: undefined },
    });
    expect(() => modernPeer({ ...request, params: {} }, { id: 'me' })).toThrow('protocolVersion');
    expect(() => modernPeer(request, { id: 'me' }, {})).toThrow('MCP-Protocol-Version is missing');
  });

  test('its headers agree with the body, encoded ones too', () => {
    const call = (name: string, args = {}) =>
      ({ kind: 'request', id: 1, method: 'tools/call', params: { name, arguments: args } }) as const;
    const headers = { 'mcp-method': 'tools/call' };
    expect(() => assertHeaders(call('a'), { ...headers, 'mcp-name': ' a ' })).not.toThrow();
    expect(() => assertHeaders(call('ä'), { ...headers, 'mcp-name': '=?base64?w6Q=?=' })).not.toThrow();
    expect(() => assertHeaders(call('a'), { ...headers, 'mcp-name': 'b' })).toThrow('does not match');
    expect(() => assertHeaders(call('a'), headers)).toThrow('Mcp-Name is missing');
    expect(() => assertHeaders(call('a'), { ...headers, 'mcp-name': '=?base64?w6Q?=' })).toThrow('not valid Base64');
    const schema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    expect(() => assertParamHeaders(schema, call('a', { region: 'eu' }), { 'mcp-param-region': 'eu' })).not.toThrow();
    expect(() => assertParamHeaders(schema, call('a', { region: 'eu' }), {})).toThrow('Mcp-Param-Region is missing');
    expect(() => assertParamHeaders(schema, call('a'), {})).not.toThrow();
  });

  test('a legacy client gets its own revision, or our newest', () => {
    expect([negotiated('2024-11-05'), negotiated('2025-03-26'), negotiated('1999-01-01'), negotiated(7)]).toEqual([
      '2024-11-05',
      '2025-03-26',
      '2025-11-25',
      '2025-11-25',
    ]);
  });
});

test('a result has the words of its era', () => {
  const info = { name: 'x', version: '1' };
  expect(modernResult('tools/list', { tools: [], _meta: { a: 1 } }, info)).toEqual({
    ...{ resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: [] },
    _meta: { a: 1, 'io.modelcontextprotocol/serverInfo': info },
  });
  expect(modernResult('tools/list', { tools: [], ttlMs: 5, cacheScope: 'public' }, info)).toMatchObject({ ttlMs: 5 });
  expect(modernResult('tools/call', { content: [] }, info)).not.toHaveProperty('ttlMs');
  const told = { content: [], resultType: 'complete', ttlMs: 1, cacheScope: 'private', structuredContent: [1] };
  expect(legacyResult('tools/call', told)).toEqual({ content: [] });
  const serverInfo = { 'io.modelcontextprotocol/serverInfo': { name: 'a' } };
  expect(legacyResult('tools/call', { content: [], _meta: serverInfo })).toEqual({ content: [] });
  expect(legacyResult('tools/call', { content: [], _meta: { ...serverInfo, x: 1 } })).toEqual({
    content: [],
    _meta: { x: 1 },
  });
  expect(legacyResult('tools/call', { content: [], structuredContent: { a: 1 } })).toEqual({
    ...{ content: [], structuredContent: { a: 1 } },
  });
  const tools = [
    { name: 'a', outputSchema: { type: 'array' } },
    { name: 'b', outputSchema: { type: 'object' } },
  ];
  expect(legacyResult('tools/list', { tools })).toEqual({ tools: [{ name: 'a' }, tools[1]] });
});

test('an error has the code and the status of its era', () => {
  expect(modernError(resourceNotFound('a://b'))).toMatchObject({ code: -32602, data: { uri: 'a://b' } });
  const error = new ProtocolError(codes.invalidParams, 'no');
  expect(modernError(error)).toBe(error);
  const table = [
    ['legacy', codes.invalidParams, false, 200],
    ['legacy', codes.overloaded, false, 429],
    ['modern', codes.overloaded, false, 429],
    ['modern', codes.overloaded, true, 200],
    ['modern', codes.methodNotFound, false, 404],
    ['modern', codes.invalidParams, false, 400],
    ['modern', codes.invalidParams, true, 200],
    ['modern', codes.missingCapability, true, 400],
  ] as const;
  for (const [era, code, isHandedOn, status] of table)
    expect([era, code, isHandedOn, statusOf(era, code, isHandedOn)]).toEqual([era, code, isHandedOn, status]);
});

test('a subscription is honored as far as the server offers it, and told of nothing else', () => {
  const offered = { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true } };
  const asked = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ['a'],
  };
  expect(honoredFilter({ notifications: asked }, offered)).toEqual({
    toolsListChanged: true,
    resourceSubscriptions: ['a'],
  });
  expect(honoredFilter({ notifications: { toolsListChanged: false } }, offered)).toEqual({});
  expect(() => honoredFilter({}, offered)).toThrow('notifications');
  expect(() => honoredFilter({ notifications: { resourceSubscriptions: [1] } }, offered)).toThrow('uris');
  const changes = new Changes();
  const told: string[] = [];
  const unlisten = changes.listen({
    peer: { era: 'modern' } as Peer,
    wantsList: (kind) => kind === 'tools',
    wantsResource: (uri) => uri === 'a',
    tell: (method) => told.push(method),
  });
  for (const kind of ['tools', 'prompts'] as const) changes.listChanged(kind);
  for (const uri of ['a', 'b']) changes.resourceUpdated(uri);
  changes.listChanged('tools', ({ era }) => era === 'legacy');
  unlisten();
  changes.listChanged('tools');
  expect(told).toEqual(['notifications/tools/list_changed', 'notifications/resources/updated']);
});
