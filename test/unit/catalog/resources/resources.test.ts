// Owns the proof that a resource is found by its uri, read and completed as promised, whatever its server answers.

import { describe, expect, test } from 'vitest';
import type { Resources } from '../../../../src/catalog/resources/resources.ts';
import type { RequestOutcome } from '../../../../src/connection/session.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import type { RuntimeError } from '../../../../src/model/errors.ts';
import { limits } from '../../../../src/model/limits.ts';
import { verifies } from '../../../verifies.ts';
import { type Answers, codeOf, createHarness, createResourceSession, listOf, refuse } from './test-servers.ts';

const reading: Answers = { 'resources/read': ({ uri }) => ({ contents: [{ uri, text: `text of ${uri}` }] }) };
const templates = (...uriTemplates: readonly string[]): Answers => ({
  'resources/templates/list': () => ({
    resourceTemplates: uriTemplates.map((uriTemplate) => ({ uriTemplate, name: 't' })),
  }),
});
const failureOf = async (work: Promise<unknown>) =>
  work.then(
    () => expect.fail('it was answered'),
    (error: unknown) => error,
  );
const serverOf = async (resources: Resources, uri: string) => (await resources.read(uri)).server;

describe('a resource without the name of its server', () => {
  verifies('RES-06', 'is read from who lists it, or whose template it fits', async () => {
    const harness = createHarness();
    await harness.connect('a', createResourceSession({ ...reading, 'resources/list': listOf('note://1') }));
    await harness.connect(
      'b',
      createResourceSession({ ...reading, ...templates('file:///{+path}', 'issue://{repo}/{id}') }),
    );
    expect(await serverOf(harness.resources, 'note://1')).toBe('a');
    expect(await serverOf(harness.resources, 'file:///x/y.txt')).toBe('b');
    expect(await serverOf(harness.resources, 'issue://plexus/7')).toBe('b');
  });

  verifies('RES-06', 'is read from the only server there is, though it does not list it', async () => {
    const harness = createHarness();
    await harness.connect('only', createResourceSession(reading));
    await harness.connect('none', createResourceSession({}, { capabilities: { tools: {} } }));
    expect(await harness.resources.read('odd://1')).toEqual({
      server: 'only',
      uri: 'odd://1',
      problems: [],
      contents: [{ uri: 'odd://1', text: 'text of odd://1' }],
    });
  });

  verifies('RES-06', 'is nobody’s where several may have it: the failure names them, and a name decides', async () => {
    const harness = createHarness();
    for (const server of ['b', 'a'])
      await harness.connect(
        server,
        createResourceSession({ ...reading, ...templates('t://{id}'), 'resources/list': listOf('x:1') }),
      );
    for (const uri of ['x:1', 't://7'])
      expect(await failureOf(harness.resources.read(uri))).toMatchObject({
        code: 'RESOURCE_AMBIGUOUS',
        data: { uri, servers: ['a', 'b'] },
      });
    expect((await harness.resources.read('x:1', { server: 'b' })).server).toBe('b');
  });

  verifies('RES-06', 'that nobody lists is answered with who was looked at and what was probably meant', async () => {
    const harness = createHarness();
    expect(await codeOf(harness.resources.read('x:1'))).toBe('RESOURCE_UNKNOWN');
    for (const server of ['b', 'a'])
      await harness.connect(server, createResourceSession({ 'resources/list': listOf(`note://${server}1`) }));
    expect(await failureOf(harness.resources.read('note://a2'))).toMatchObject({
      code: 'RESOURCE_UNKNOWN',
      data: { nearest: ['note://a1'], because: 'none of a, b lists it' },
    });
  });

  test('is waited for a little while the lists are on their way', async () => {
    const harness = createHarness();
    await harness.connect('a', createResourceSession(reading));
    let list: (answer: JsonObject) => void = () => undefined;
    const slow = new Promise<JsonObject>((resolve) => {
      list = resolve;
    });
    void harness.connect('b', createResourceSession({ ...reading, 'resources/list': () => slow }));
    const read = harness.resources.read('late://1');
    await harness.clock.advance(100);
    list({ resources: [{ uri: 'late://1', name: 'late' }] });
    expect((await read).server).toBe('b');
    const stalled = createHarness();
    void stalled.connect(
      'c',
      createResourceSession({ 'resources/list': () => new Promise<JsonObject>(() => undefined) }),
    );
    const listed = stalled.resources.list();
    await stalled.clock.advance(limits.listWaitMs);
    expect(await listed).toEqual({ resources: [] });
    stalled.stop();
  });
});

describe('reading', () => {
  verifies('RES-06', 'wakes a server that is not up; listing does not', async () => {
    const harness = createHarness();
    const session = createResourceSession(reading);
    harness.sleep('lazy', session);
    expect(await harness.resources.list({ server: 'lazy' })).toEqual({ resources: [] });
    expect(session.asked).toEqual([]);
    expect((await harness.resources.read('x:1', { server: 'lazy' })).contents).toHaveLength(1);
    expect(await codeOf(harness.resources.read('x:1', { server: 'nobody' }))).toBe('SERVER_UNKNOWN');
  });

  for (const [era, code] of [
    ['legacy', -32002],
    ['legacy', -32602],
    ['modern', -32602],
  ] as const)
    verifies(
      'RES-06',
      `what a ${era} server does not find (${code}) is an unknown resource, in its own words`,
      async () => {
        const harness = createHarness();
        const answers = { 'resources/list': listOf('note://1'), 'resources/read': () => refuse(code, 'no such note') };
        await harness.connect('s', createResourceSession(answers, { era }));
        expect(await failureOf(harness.resources.read('note://2', { server: 's' }))).toMatchObject({
          code: 'RESOURCE_UNKNOWN',
          data: { server: 's', because: 'no such note', nearest: ['note://1'] },
        });
      },
    );

  test('any other refusal is one, cut to a readable length; a server without resources says so', async () => {
    const harness = createHarness();
    await harness.connect('s', createResourceSession({ 'resources/read': () => refuse(-32603, 'x'.repeat(10_000)) }));
    const refusal = (await failureOf(harness.resources.read('x:1'))) as RuntimeError<'REQUEST_REFUSED'>;
    expect([refusal.code, refusal.data.reason.length]).toEqual(['REQUEST_REFUSED', limits.refusalChars]);
    await harness.connect('t', createResourceSession(reading, { capabilities: { tools: {} } }));
    expect(await codeOf(harness.resources.read('x:1', { server: 't' }))).toBe('NOT_OFFERED');
  });

  test('is asked once more on the next session when the first one was lost', async () => {
    const harness = createHarness();
    await harness.connect(
      's',
      createResourceSession({ 'resources/read': (): RequestOutcome => ({ kind: 'lost', sent: true }) }),
    );
    harness.sleep('s', createResourceSession(reading));
    expect((await harness.resources.read('x:1')).contents).toHaveLength(1);
  });

  test('ends with the time, with the signal, or with a message that is too large', async () => {
    const harness = createHarness();
    const silent = createResourceSession({ 'resources/read': () => new Promise<JsonObject>(() => undefined) });
    await harness.connect('s', silent);
    const late = codeOf(harness.resources.read('x:1'));
    await harness.clock.advance(60_000);
    expect(await late).toBe('REQUEST_TIMEOUT');
    const controller = new AbortController();
    const aborted = codeOf(harness.resources.read('x:1', { signal: controller.signal }));
    await harness.clock.advance(0);
    controller.abort('enough');
    expect(await aborted).toBe('enough');
    await harness.connect(
      's',
      createResourceSession({ 'resources/read': (): RequestOutcome => ({ kind: 'oversized' }) }),
    );
    expect(await codeOf(harness.resources.read('x:1'))).toBe('MESSAGE_TOO_LARGE');
    expect(harness.clock.pending()).toBe(0);
  });

  const broken: Record<string, unknown> = {
    'no object': 'x',
    'no contents': {},
    'contents that are a text': { contents: 'x' },
    'nothing but broken parts': { contents: [null, 7, {}, { uri: 'x:1', blob: '%%%' }, { blob: 'a' }] },
  };
  for (const [name, result] of Object.entries(broken))
    verifies('RES-06', `an answer with ${name} is a broken answer, and not a crash`, async () => {
      const harness = createHarness();
      await harness.connect(
        's',
        createResourceSession({ 'resources/read': (): RequestOutcome => ({ kind: 'result', result }) }),
      );
      expect(await codeOf(harness.resources.read('x:1'))).toBe('ANSWER_BROKEN');
    });

  test('keeps what is sound of an answer, and says what is not', async () => {
    const harness = createHarness();
    const contents = [
      { uri: 'x:1', mimeType: 'text/plain', text: '' },
      { uri: 'x:\u001b[2J', mimeType: 'a\nb', blob: 'aGVs\nbG8' },
      { uri: 'x:3', blob: 'not base64!' },
      { uri: 'x:4', blob: '__-_' },
    ];
    await harness.connect('s', createResourceSession({ 'resources/read': () => ({ contents }) }));
    expect(await harness.resources.read('x:1')).toMatchObject({
      contents: [
        { uri: 'x:1', mimeType: 'text/plain', text: '' },
        { uri: 'x:1', blob: 'aGVsbG8=' },
        { uri: 'x:4', blob: '//+/' },
      ],
      problems: ['part 3 was left out: its bytes are not base64'],
    });
    await harness.connect('s', createResourceSession({ 'resources/read': () => ({ contents: [] }) }));
    expect((await harness.resources.read('x:1')).contents, 'empty is an answer').toEqual([]);
  });
});

describe('a long list', () => {
  verifies('RES-05', 'comes in pages, each thing once, also when it changes meanwhile', async () => {
    const harness = createHarness();
    const uris = Array.from({ length: 7 }, (_, n) => `x:${n}`);
    await harness.connect('b', createResourceSession({ 'resources/list': () => listOf(...uris)({}) }));
    await harness.connect('a', createResourceSession({ 'resources/list': listOf('y:1') }));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await harness.resources.list({ limit: 3, ...(cursor !== undefined && { cursor }) });
      seen.push(...page.resources.map(({ server, uri }) => `${server} ${uri}`));
      cursor = page.nextCursor;
      uris.splice(2, 1);
      await harness.connect('b', createResourceSession({ 'resources/list': () => listOf(...uris)({}) }));
    } while (cursor !== undefined);
    expect(seen).toEqual(['a y:1', 'b x:0', 'b x:1', 'b x:3', 'b x:4', 'b x:5', 'b x:6']);
  });

  test('answers a cursor that is none of ours with a failure', async () => {
    const { resources } = createHarness();
    const foreign = ['x', '', '%', Buffer.from('{}').toString('base64url'), Buffer.from('[7]').toString('base64url')];
    for (const cursor of [...foreign, 'A'.repeat(100_000)])
      expect(await codeOf(resources.list({ cursor })), cursor.slice(0, 20)).toBe('CURSOR_INVALID');
  });
});

describe('completing an argument of a template', () => {
  verifies('RES-03', 'asks its server, and takes nothing but visible texts of it', async () => {
    const harness = createHarness();
    const values = ['alpha', 7, 'beta', 'a\u001b[2J', ...Array.from({ length: 200 }, (_, n) => `v${n}`)];
    const session = createResourceSession({
      ...templates('t://{id}'),
      'completion/complete': () => ({ completion: { values, total: 300, hasMore: 'yes' } }),
    });
    await harness.connect('s', session);
    const found = await harness.resources.complete('t://{id}', { name: 'id', value: 'a' }, { context: { other: '1' } });
    expect([found.values.length, found.values.slice(0, 3), found.total, found.hasMore]).toEqual([
      ...[limits.completionValues, ['alpha', 'beta', 'v0'], 300, true],
    ]);
    expect(session.asked.at(-1)?.params).toEqual({
      ref: { type: 'ref/resource', uri: 't://{id}' },
      argument: { name: 'id', value: 'a' },
      context: { arguments: { other: '1' } },
    });
    expect(await codeOf(harness.resources.complete('u://{id}', { name: 'id', value: '' }))).toBe('RESOURCE_UNKNOWN');
  });

  test('has nothing to propose where the server completes nothing', async () => {
    const harness = createHarness();
    const nothing = { values: [], hasMore: false };
    const argument = { name: 'id', value: '' };
    const undeclared = createResourceSession(templates('t://{id}'), { capabilities: { resources: {} } });
    await harness.connect('s', undeclared);
    expect(await harness.resources.complete('t://{id}', argument)).toEqual(nothing);
    expect(undeclared.asked.some(({ method }) => method === 'completion/complete')).toBe(false);
    for (const answers of [{}, { 'completion/complete': () => ({ completion: 'x' }) }]) {
      await harness.connect('s', createResourceSession({ ...templates('t://{id}'), ...answers }));
      expect(await harness.resources.complete('t://{id}', argument)).toEqual(nothing);
    }
  });
});
