// Owns the situations that every adapter has to master: what the model does, and what must have reached it and the servers
// afterwards. A driver runs one real framework. Knows no test framework: a newer Node runs the same table (`run.ts`).

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AdapterOptions } from '../../src/adapters/toolset.ts';
import { removeFolder } from '../remove-folder.ts';
import { type OpenedRuntime, openRuntime } from '../runtime.ts';
import type { ScriptedCall, ScriptedStep } from '../servers/models/script.ts';
import { sentImages, sentResults, sentTools } from '../servers/models/sent.ts';
import { type ModelServer, startModelServer } from '../servers/models/server.ts';

export interface Driver {
  /** Runs the framework's own loop until the model calls no more tools; gives the model's last text. */
  readonly run: (task: Task) => Promise<string>;
  /** The framework keeps the tools that a run began with. Default: it asks for them before every request. */
  readonly keepsTools?: boolean;
  /** A tool that was found is called by its own name, not by `mcp_call`. Default: unless the framework keeps its tools. */
  readonly callsFoundByName?: boolean;
  /** What the model reads of a tool that does not exist, where the framework itself finds that. */
  readonly unknownTool?: RegExp;
  /** What the model reads of arguments that are no JSON, where the framework itself parses them. */
  readonly badArguments?: RegExp;
  /** The framework asks people itself, and the driver answers as `approve` of the task does. Default: it refuses every question. */
  readonly answersAsApprove?: boolean;
  /** What the model reads of a refusal, where the framework itself asks for approval. */
  readonly refusal?: RegExp;
  /** What only this framework can do. */
  readonly further?: readonly Situation[];
}

export interface Task {
  readonly source: OpenedRuntime;
  /** For the adapter. Without `approve` for drivers whose framework asks: those refuse every question. */
  readonly options: AdapterOptions;
  /** Of the scripted model, without a path. */
  readonly url: string;
  readonly prompt: string;
  /** For the framework. */
  readonly signal: AbortSignal;
}

export interface Situation {
  readonly name: string;
  readonly check: (driver: Driver, fleets: Fleets) => Promise<void>;
}

/** Runtimes with real servers, which all drivers and situations of a run share. */
export interface Fleets {
  readonly small: OpenedRuntime;
  /** Too large to be shown to a model. */
  readonly large: OpenedRuntime;
  close(): Promise<void>;
}

const desk = fileURLToPath(new URL('../servers/desk.mjs', import.meta.url));
const deskWith = (...args: readonly string[]) => ({ command: process.execPath, args: [desk, ...args] });

export async function openFleets(): Promise<Fleets> {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-frameworks-'));
  const permissions = [
    { tool: 'mcp__*', action: 'allow' as const },
    { tool: 'mcp__*__remove', action: 'ask' as const },
  ];
  // The host would say yes: a refusal is the adapter's.
  const common = { permissions, approve: async () => 'once' as const };
  const [small, large] = await Promise.all([
    openRuntime(folder, { ...common, servers: { desk: deskWith() } }),
    openRuntime(folder, { ...common, servers: { archive: deskWith('150') } }),
  ]);
  return {
    small,
    large,
    close: async () => {
      await Promise.all([small.close(), large.close()]);
      await removeFolder(folder);
    },
  };
}

interface Run {
  readonly model: ModelServer;
  readonly answer: string;
}

interface RunOptions extends Pick<AdapterOptions, 'approve' | 'onProgress' | 'tools' | 'model'> {
  readonly aborting?: AbortController;
}

/** Runs the driver's loop with a model that says these steps. */
export async function loop(
  driver: Driver,
  source: OpenedRuntime,
  script: readonly ScriptedStep[],
  { aborting = new AbortController(), ...options }: RunOptions = {},
): Promise<Run> {
  const model = await startModelServer(script);
  try {
    const { signal } = aborting;
    const given = { ...options, signal };
    const answer = await driver.run({ source, options: given, url: model.url, prompt: 'Do it.', signal });
    return { model, answer };
  } finally {
    await model.close();
  }
}

/** The model calls these tools at once, and says "Done." to whatever it reads of them; gives what it read, by the call's id. */
async function readOf(driver: Driver, source: OpenedRuntime, calls: readonly ScriptedCall[], options: RunOptions = {}) {
  const { model, answer } = await loop(driver, source, [{ calls }, { text: 'Done.' }], options);
  assert.equal(answer, 'Done.');
  const last = model.requests.at(-1);
  assert.ok(last !== undefined && model.requests.length === 2, `${model.requests.length} requests`);
  return { texts: sentResults(last).map(({ text }) => text), last, model };
}

/** What the desk ran and cancelled since the last look. */
export async function logOf(source: OpenedRuntime): Promise<string> {
  return (await source.turn().call('mcp__desk__log')).text;
}

/** Resolves when the tools of the runtime are so. */
export function catalogOf(source: OpenedRuntime, isSo: (names: readonly string[]) => boolean): Promise<void> {
  const isNow = () => isSo(source.getTools().map(({ name }) => name));
  return new Promise((resolve) => {
    if (isNow()) return resolve();
    const unsubscribe = source.on('catalog.changed', () => {
      if (!isNow()) return;
      unsubscribe();
      resolve();
    });
  });
}

export const situations: readonly Situation[] = [
  {
    name: 'parallel calls are run together, and each has its result',
    async check(driver, { small }) {
      const calls = [1, 2, 3].map((a) => ({ id: `call_of_${a}`, name: 'mcp__desk__add', arguments: { a, b: 1 } }));
      const { texts, last, model } = await readOf(driver, small, calls);
      const ids = sentResults(last).map(({ callId }) => callId);
      // Google's clients need no ids: there the order counts.
      if (last.api !== 'generate-content') assert.deepEqual(ids, ['call_of_1', 'call_of_2', 'call_of_3']);
      assert.deepEqual(
        texts.map((text) => /\d \+ 1 = \d/.exec(text)?.[0]),
        ['1 + 1 = 2', '2 + 1 = 3', '3 + 1 = 4'],
      );
      const [first] = model.requests;
      const shown = first && sentTools(first).find(({ name }) => name === 'mcp__desk__add');
      assert.deepEqual((shown?.schema as { required?: unknown } | undefined)?.required, ['a', 'b']);
    },
  },
  {
    name: 'an image beside a structured result reaches a model with vision, and no other',
    async check(driver, { small }) {
      const calls = [{ name: 'mcp__desk__chart' }];
      const seeing = await readOf(driver, small, calls, { model: { vision: true } });
      assert.match(seeing.texts.join(), /width/);
      assert.deepEqual(
        sentImages(seeing.last).map((data) => data.slice(0, 5)),
        ['iVBOR'],
      );
      const blind = await readOf(driver, small, calls);
      assert.match(blind.texts.join(), /width/);
      assert.deepEqual(sentImages(blind.last), []);
    },
  },
  {
    name: 'a tool that fails does not end the loop',
    async check(driver, { small }) {
      const { texts } = await readOf(driver, small, [{ name: 'mcp__desk__fail' }]);
      assert.match(texts.join(), /out of paper/);
    },
  },
  {
    name: 'a tool that does not exist does not end the loop',
    async check(driver, { small }) {
      const { texts } = await readOf(driver, small, [{ name: 'mcp__desk__nothing' }]);
      assert.match(texts.join(), driver.unknownTool ?? /TOOL_UNKNOWN/);
    },
  },
  {
    name: 'arguments that are no JSON do not end the loop',
    async check(driver, { small }) {
      const { texts } = await readOf(driver, small, [{ name: 'mcp__desk__add', arguments: '{"a": 1, "b"' }]);
      assert.match(texts.join(), driver.badArguments ?? /ARGUMENTS_BAD(.|\n)*no JSON/);
    },
  },
  {
    name: 'an abort in the middle cancels the call at its server',
    async check(driver, { small }) {
      const aborting = new AbortController();
      const onProgress = () => aborting.abort();
      const script = [{ calls: [{ name: 'mcp__desk__wait' }] }, { text: 'Never asked for.' }];
      await logOf(small);
      await loop(driver, small, script, { aborting, onProgress }).then(
        ({ answer }) => assert.notEqual(answer, 'Never asked for.'),
        (error: unknown) => assert.ok(aborting.signal.aborted, String(error)),
      );
      assert.match(await logOf(small), /cancelled:wait/);
    },
  },
  {
    name: 'a call whose approval is refused is not made, and the model is told',
    async check(driver, { small }) {
      const call = { name: 'mcp__desk__remove', arguments: { path: 'a' } };
      await logOf(small);
      const { texts } = await readOf(driver, small, [call], { approve: async () => 'no' });
      assert.match(texts.join(), driver.refusal ?? /APPROVAL_REFUSED/);
      assert.doesNotMatch(await logOf(small), /remove/);
    },
  },
  {
    name: 'a call that is approved is made, and asked about again the next time',
    async check(driver, { small }) {
      if (driver.refusal !== undefined && !driver.answersAsApprove) return;
      const answers = ['once', 'no'] as const;
      let asked = 0;
      const approve = async () => answers[asked++] ?? 'no';
      const calls = [{ name: 'mcp__desk__remove', arguments: { path: 'a' } }];
      await logOf(small);
      const { model, answer } = await loop(driver, small, [{ calls }, { calls }, { text: 'Done.' }], { approve });
      assert.equal(answer, 'Done.');
      const last = model.requests.at(-1);
      const [first, second] = last ? sentResults(last).map(({ text }) => text) : [];
      assert.match(first ?? '', /removed/);
      assert.match(second ?? '', driver.refusal ?? /APPROVAL_REFUSED/);
      assert.equal(await logOf(small).then((log) => log.match(/remove/g)?.length), 1);
    },
  },
  {
    name: 'a tool list that changes between two steps is followed',
    async check(driver, { small }) {
      const late = 'mcp__desk__late';
      // A fresh process: the runtime asks a server that changes its list again and again less and less often.
      await small.reconnect('desk');
      const script: readonly ScriptedStep[] = [
        { calls: [{ name: 'mcp__desk__grow' }] },
        async () => {
          await catalogOf(small, (names) => names.includes(late));
          return { calls: [{ name: 'mcp__desk__add', arguments: { a: 1, b: 1 } }] };
        },
        { calls: [{ name: late }] },
        { text: 'Done.' },
      ];
      const { model, answer } = await loop(driver, small, script);
      assert.equal(answer, 'Done.');
      const [, second, third, last] = model.requests;
      assert.ok(second && third && last);
      const offers = sentTools(third).some(({ name }) => name === late);
      assert.equal(offers, driver.keepsTools !== true);
      assert.match(
        sentResults(last).at(-1)?.text ?? '',
        driver.unknownTool && driver.keepsTools ? driver.unknownTool : /here I am/,
      );
    },
  },
  {
    name: 'of a large fleet the model finds a tool by searching, and calls it',
    async check(driver, { large }) {
      const found = 'mcp__archive__create_invoice';
      const args = { customer: 'Ada' };
      const search = { name: 'mcp_search', arguments: { query: 'create an invoice', limit: 1 } };
      const byName = driver.callsFoundByName ?? driver.keepsTools !== true;
      const call = byName
        ? { name: found, arguments: args }
        : { name: 'mcp_call', arguments: { name: found, arguments: args } };
      const { model, answer } = await loop(driver, large, [{ calls: [search] }, { calls: [call] }, { text: 'Done.' }]);
      assert.equal(answer, 'Done.');
      const [first, second, last] = model.requests;
      assert.ok(first && second && last);
      const names = sentTools(first).map(({ name }) => name);
      assert.deepEqual(names.filter((name) => !name.startsWith('mcp__')).sort(), ['mcp_call', 'mcp_search']);
      assert.ok(!names.includes(found));
      assert.match(sentResults(second).at(-1)?.text ?? '', new RegExp(found));
      assert.match(sentResults(last).at(-1)?.text ?? '', /invoice for Ada/);
    },
  },
];
