// Owns the proof that a model is shown all tools while they fit, and otherwise those it need not search for, or the best few.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Provider } from '../../../../src/catalog/definition/providers.ts';
import { costOfAll } from '../../../../src/catalog/exposure/cost.ts';
import {
  createExposer,
  type Exposed,
  type ExposureInput,
  expose,
  type Search,
} from '../../../../src/catalog/exposure/exposure.ts';
import { claimsToBeLoaded, type Placement } from '../../../../src/catalog/exposure/placement.ts';
import { toolKey } from '../../../../src/model/names.ts';
import type { Tool } from '../../../../src/model/tool.ts';
import { processorMs } from '../../../effort.ts';
import { verifies } from '../../../verifies.ts';
import { heavyTools, namesOf, toolsOf } from './tools.ts';

const auto = (): Placement => 'auto';
const nothing: ReadonlySet<string> = new Set();

/** Every server is trusted to ask for a tool to be loaded. */
const claims = { isClaimed: ({ definition }: Tool) => claimsToBeLoaded(definition), alwaysLoadChars: 2_000 };

function inputFor(tools: readonly Tool[], more: Partial<ExposureInput> = {}): ExposureInput {
  const settings = { toolSearch: 'auto', minContextWindow: 32_000, searchOnListChanged: true };
  return { tools, ...settings, ...claims, model: {}, placementOf: auto, found: nothing, ...more };
}

const servers = (placements: Readonly<Record<string, Placement>>) => (tool: Tool) =>
  placements[tool.id.server] ?? 'auto';

/** Tools of about a thousand characters each, with about this many characters in all. */
const weighing = (chars: number) => toolsOf({ files: heavyTools(Math.round(chars / 1_000), 1_000) });

const light = toolsOf({ files: ['read', 'write'], web: ['fetch'] });
const heavy = weighing(100_000);
const mixed = toolsOf({ files: heavyTools(60, 1_000), mail: ['send', 'list'], web: ['fetch'] });

verifies('SRC-01', 'by default a small fleet is shown whole, a large one must be searched', () => {
  expect(expose(inputFor(light))).toEqual({
    mode: 'all',
    shown: light,
    hidden: 0,
    standing: ['files', 'web'],
    offersSearch: false,
    because: 'the tools would fill less than 10 % of a context window of 200,000 tokens',
  });
  expect(expose(inputFor(heavy))).toEqual({
    mode: 'search',
    shown: [],
    hidden: 100,
    standing: [],
    offersSearch: true,
    because: 'the tools would fill at least 10 % of a context window of 200,000 tokens',
  });
});

verifies('SRC-01', 'search can be on or off whatever the tools weigh', () => {
  expect(expose(inputFor(light, { toolSearch: 'on' }))).toMatchObject({
    mode: 'search',
    shown: [],
    offersSearch: true,
  });
  expect(expose(inputFor(heavy, { toolSearch: 'off' }))).toMatchObject({ mode: 'all', offersSearch: false });
  expect(expose(inputFor([], { toolSearch: 'on' })), 'there is nothing to search').toMatchObject({
    offersSearch: false,
  });
});

verifies('SRC-01', '`auto:N` sets the part of the window that tools may fill', () => {
  const modes = ['auto:0', 'auto:10', 'auto:19', 'auto:21', 'auto:100'].map(
    (toolSearch) => expose(inputFor(heavy, { toolSearch })).mode,
  );
  expect(modes).toEqual(['search', 'search', 'search', 'all', 'all']);
  expect(expose(inputFor([], { toolSearch: 'auto:0' })).mode).toBe('all');
});

verifies('SRC-02', 'search begins when the characters reach 0.1 × window × 2.5', () => {
  const { chars } = costOfAll(heavy);
  const modeIn = (contextWindow: number) => expose(inputFor(heavy, { model: { contextWindow } })).mode;
  expect([modeIn(chars / 0.25), modeIn(chars / 0.25 + 1)]).toEqual(['search', 'all']);
});

verifies('SRC-02', 'the characters decide, not the tokens that a dense script costs', () => {
  const dense = heavyTools(200, 0).map((tool) => ({
    ...tool,
    description: '读取文件并返回其内容支持多种编码'.repeat(20),
  }));
  const tools = toolsOf({ files: dense });
  const { chars, tokens } = costOfAll(tools);
  expect(tokens).toBeGreaterThan(chars / 2.5);
  const modeIn = (contextWindow: number) => expose(inputFor(tools, { model: { contextWindow } })).mode;
  expect([modeIn(chars / 0.25), modeIn(chars / 0.25 + 1)]).toEqual(['search', 'all']);
});

verifies('SRC-02', 'search also begins where the tools are more than the provider of the model takes', () => {
  const small = (count: number) => toolsOf({ files: Array.from({ length: count }, (_, at) => `tool_${at}`) });
  const modeFor = (provider: Provider | undefined, count: number) =>
    expose(inputFor(small(count), { model: provider ? { provider } : {} })).mode;
  const counts = [100, 101, 400, 401];
  const modes = ([undefined, 'anthropic', 'openai', 'any', 'google'] as const).map((provider) =>
    counts.map((count) => modeFor(provider, count)),
  );
  const [all, search] = ['all', 'search'] as const;
  expect(modes).toEqual([
    [all, all, all, all],
    [all, all, all, all],
    [all, search, search, search],
    [all, search, search, search],
    [all, all, all, search],
  ]);
  const model = { provider: 'openai' } as const;
  expect(expose(inputFor(small(101), { model })).because).toBe(
    'there are more than 100 tools, and the provider of the model takes only so many',
  );
  expect(expose(inputFor(small(101), { model, toolSearch: 'off' })).mode, 'the setting counts').toBe('all');
});

verifies('SRC-02', 'once on for the number of tools, search stays on down to four fifths of it', () => {
  const model = { provider: 'openai' } as const;
  const exposer = createExposer();
  const course = [101, 90, 80].map((count) => {
    const tools = toolsOf({ files: Array.from({ length: count }, (_, at) => `tool_${at}`) });
    const { mode, because } = exposer(inputFor(tools, { model }));
    return [mode, /^there are (more than|nearly)/.exec(because)?.[1]];
  });
  expect(course).toEqual([
    ['search', 'more than'],
    ['search', 'nearly'],
    ['all', undefined],
  ]);
});

verifies('SRC-03', 'the smallest window in which a model is left to search is a setting', () => {
  const model = { contextWindow: 10_000 };
  const modes = [10_000, 10_001].map((minContextWindow) => expose(inputFor(heavy, { model, minContextWindow })).mode);
  expect(modes).toEqual(['search', 'best']);
});

verifies('SRC-06', 'a changed list switches search on and off, unless the setting keeps the first decision', () => {
  const course = [[], light, heavy, light].map(
    (tools) => (searchOnListChanged: boolean) => inputFor(tools, { searchOnListChanged }),
  );
  const modesWith = (isChanging: boolean) => {
    const exposer = createExposer();
    return course.map((input) => exposer(input(isChanging)).mode);
  };
  expect(modesWith(true)).toEqual(['all', 'all', 'search', 'all']);
  expect(modesWith(false)).toEqual(['all', 'all', 'all', 'all']);
  const exposer = createExposer();
  const first = exposer(inputFor(heavy, { searchOnListChanged: false }));
  expect(exposer(inputFor(light, { searchOnListChanged: false }))).toMatchObject({
    mode: 'search',
    because: first.because,
  });
  expect(exposer(inputFor(light, { searchOnListChanged: false, toolSearch: 'off' })).mode, 'another setting').toBe(
    'all',
  );
});

verifies('SRC-02', 'a fleet that wavers about the threshold does not make the mode waver', () => {
  const environment = [50_500, 49_000, 51_000, 45_000, 42_000].map(weighing);
  const exposer = createExposer();
  expect(environment.map((tools) => exposer(inputFor(tools)).mode)).toEqual(environment.map(() => 'search'));
  expect(exposer(inputFor(weighing(38_000))).mode, 'clearly lighter').toBe('all');
  expect(exposer(inputFor(weighing(45_000))).mode, 'and not back at once').toBe('all');
  expect(exposer(inputFor(weighing(51_000))).mode).toBe('search');
});

verifies('SRC-02', 'for any course of weights, the mode changes only at the threshold and at four fifths of it', () => {
  const fleets = new Map(Array.from({ length: 31 }, (_, at) => [at, weighing((at + 30) * 1_000)]));
  fc.assert(
    fc.property(fc.array(fc.nat(30), { maxLength: 30 }), (course) => {
      const exposer = createExposer();
      let before: Exposed['mode'] = 'all';
      for (const step of course) {
        const tools = fleets.get(step) ?? [];
        const { chars } = costOfAll(tools);
        const { mode } = exposer(inputFor(tools));
        expect(mode).toBe(chars >= 50_000 ? 'search' : chars < 40_000 ? 'all' : before);
        before = mode;
      }
    }),
  );
});

verifies(
  'SRC-03',
  'below a window of 32,000 tokens the best tools are shown instead of search, whoever asks for search',
  () => {
    const at = (contextWindow: number, toolSearch = 'auto') =>
      expose(inputFor(heavy, { model: { contextWindow }, toolSearch }));
    expect([at(32_000).mode, at(31_999).mode, at(31_999, 'on').mode]).toEqual(['search', 'best', 'best']);
    expect(at(31_999)).toMatchObject({
      offersSearch: false,
      because:
        'the tools would fill at least 10 % of a context window of 31,999 tokens, and the model cannot search: its context window is smaller than 32,000 tokens',
    });
    expect(at(8_000, 'off').shown, 'off means all').toBe(heavy);
    expect(expose(inputFor(light, { model: { contextWindow: 8_000 } })).shown, 'a few tools fit').toBe(light);
  },
);

test.each([0, -1, Number.NaN])('a window of %d tokens is taken for one that was not told', (contextWindow) => {
  expect(expose(inputFor(heavy, { model: { contextWindow } }))).toEqual(expose(inputFor(heavy)));
});

const byWord: Search = (query, { limit, isSeen }) =>
  mixed
    .filter((tool) => tool.name.includes(query) && isSeen(tool))
    .slice(0, limit)
    .map((tool) => ({ tool }));

verifies('SRC-04', 'a model that does not call tools, or does not opt in, gets the best matches directly', () => {
  for (const model of [{ toolCalling: false }, { toolSearch: false }]) {
    const exposed = expose(inputFor(mixed, { model, query: 'tool-00042', search: byWord, toolSearch: 'on' }));
    expect(exposed).toMatchObject({ mode: 'best', offersSearch: false, hidden: 43 });
    expect(namesOf(exposed.shown)).toContain('mcp__files__tool-00042');
    expect(namesOf(exposed.shown)).toEqual([...namesOf(exposed.shown)].sort());
    expect(exposed.shown).toHaveLength(20);
  }
});

verifies('SRC-04', 'without a query such a model is shown some of every server, always the same', () => {
  const model = { toolSearch: false };
  const exposed = expose(inputFor(mixed, { model }));
  expect(namesOf(exposed.shown)).toEqual([
    ...heavyTools(17, 0).map(({ name }) => `mcp__files__${name}`),
    'mcp__mail__list',
    'mcp__mail__send',
    'mcp__web__fetch',
  ]);
  const input = inputFor(mixed, { model });
  expect(expose(input, { input, exposed })).toBe(exposed);
});

test('what such a model is shown fits into a fifth of its window, but is never nothing', () => {
  const model = { contextWindow: 8_000 };
  const { shown } = expose(inputFor(mixed, { model }));
  expect(costOfAll(shown).tokens).toBeLessThanOrEqual(1_600);
  expect(namesOf(shown)).toEqual(expect.arrayContaining(['mcp__mail__list', 'mcp__web__fetch']));
  const huge = toolsOf({ files: heavyTools(3, 1_900) });
  expect(namesOf(expose(inputFor(huge, { model: { contextWindow: 1_000 } })).shown)).toEqual([
    'mcp__files__tool-00000',
  ]);
});

verifies('SRC-07', 'what is loaded is shown beside search, what is deferred is hidden even where all would fit', () => {
  const loading = expose(inputFor(mixed, { placementOf: servers({ mail: 'load' }) }));
  expect(loading).toMatchObject({ mode: 'search', hidden: 61, offersSearch: true });
  expect(namesOf(loading.shown)).toEqual(['mcp__mail__list', 'mcp__mail__send']);
  for (const toolSearch of ['auto', 'off']) {
    const deferring = expose(inputFor(light, { toolSearch, placementOf: servers({ web: 'defer' }) }));
    expect(deferring).toMatchObject({ mode: 'all', hidden: 1, offersSearch: true });
    expect(namesOf(deferring.shown)).toEqual(['mcp__files__read', 'mcp__files__write']);
  }
});

verifies('SRC-07', 'what is deferred does not count as weight, because it is not read', () => {
  expect(expose(inputFor(mixed, { placementOf: servers({ files: 'defer' }) })).mode).toBe('all');
  expect(expose(inputFor(mixed, { placementOf: servers({ files: 'use_tool' }) })).mode).toBe('all');
  expect(expose(inputFor(mixed, { placementOf: servers({ files: 'load' }) })).mode).toBe('search');
});

verifies('SRC-07', 'a tool that search found is shown from then on, but not one for which one tool serves all', () => {
  const found = new Set(mixed.filter(({ id }) => id.server !== 'files').map(({ id }) => toolKey(id)));
  const placementOf = servers({ mail: 'defer', web: 'use_tool' });
  expect(namesOf(expose(inputFor(mixed, { placementOf, found })).shown)).toEqual([
    'mcp__mail__list',
    'mcp__mail__send',
  ]);
  const fixed = { promotion: false };
  expect(expose(inputFor(mixed, { placementOf, found, model: fixed })).shown, 'a list that cannot grow').toEqual([]);
});

test('nothing is out of reach for a model that cannot search: what is deferred counts as everything else', () => {
  const placementOf = servers({ files: 'defer', web: 'use_tool' });
  const model = { toolSearch: false };
  expect(expose(inputFor(light, { placementOf, model }))).toMatchObject({ mode: 'all', shown: light, hidden: 0 });
  expect(namesOf(expose(inputFor(mixed, { placementOf, model })).shown)).toContain('mcp__web__fetch');
});

const wishing = (name: string, chars = 0) => ({ ...heavyTools(1, chars)[0], name, _meta: { alwaysLoad: true } });

verifies(
  'SRC-07',
  "a server's own wish to have a tool loaded counts where it would be deferred, and only there",
  () => {
    const tools = toolsOf({ files: heavyTools(60, 1_000), mail: [wishing('send'), 'list'], web: [wishing('fetch')] });
    const shownWith = (placements: Readonly<Record<string, Placement>>) =>
      namesOf(expose(inputFor(tools, { placementOf: servers(placements) })).shown);
    expect(shownWith({})).toEqual(['mcp__mail__send', 'mcp__web__fetch']);
    expect(shownWith({ mail: 'defer', web: 'use_tool' })).toEqual(['mcp__mail__send']);
  },
);

verifies('SRC-07', 'all tools that servers ask for fit into one budget, and no server takes it from the others', () => {
  const greedy = Array.from({ length: 500 }, (_, at) => wishing(`w-${at}`, 100));
  const giants = Array.from({ length: 60 }, (_, at) => [
    `z${at}`,
    Array.from({ length: 8 }, (_, n) => wishing(`g-${n}`, 2_000)),
  ]);
  const tools = toolsOf({ greedy, modest: [wishing('fetch')], ...Object.fromEntries(giants) });
  const shownWithin = (alwaysLoadChars: number) => expose(inputFor(tools, { alwaysLoadChars })).shown;
  expect(namesOf(shownWithin(2_000))).toContain('mcp__modest__fetch');
  expect(shownWithin(2_000).length).toBeGreaterThan(2);
  for (const chars of [0, 100, 500, 2_000, 10_000])
    expect(costOfAll(shownWithin(chars)).chars).toBeLessThanOrEqual(chars);
  expect(shownWithin(0)).toEqual([]);
});

verifies('SRC-07', 'what a search finds takes nothing from the budget, and changes nothing else that is shown', () => {
  const tools = toolsOf({
    files: heavyTools(60, 1_000),
    mail: [wishing('send', 100), wishing('list', 100)],
    web: ['fetch'],
  });
  const id = (server: string, tool: string) => toolKey({ server, tool });
  const chars = costOfAll(tools.filter(({ name }) => name === 'mcp__mail__list')).chars;
  const exposedWith = (...found: string[]) =>
    expose(inputFor(tools, { alwaysLoadChars: chars, found: new Set(found) }));
  expect(exposedWith()).toMatchObject({ standing: ['mail'], shown: [{ name: 'mcp__mail__list' }] });
  expect(namesOf(exposedWith(id('mail', 'list')).shown)).toEqual(['mcp__mail__list']);
  expect(exposedWith(id('web', 'fetch'), id('mail', 'list'))).toMatchObject({
    standing: ['mail'],
    shown: [{ name: 'mcp__mail__list' }, { name: 'mcp__web__fetch' }],
  });
});

test('as long as nothing changes, the answer is the same object', () => {
  const exposer = createExposer();
  const found = new Set<string>();
  const input = inputFor(mixed, { found });
  const first = exposer(input);
  expect(exposer({ ...input }), 'asked again').toBe(first);
  expect(exposer({ ...input, query: 'mail' }), 'a query is of no concern to search').toBe(first);
  expect(exposer({ ...input, placementOf: servers({}) }), 'a reload that changed nothing').toBe(first);
  found.add(toolKey({ server: 'mail', tool: 'send' }));
  expect(namesOf(exposer(input).shown), 'the same set has grown').toEqual(['mcp__mail__send']);
});

test('what is shown depends on the tools, not on the way to them', () => {
  const placement = fc.constantFrom<Placement>('auto', 'load', 'defer', 'use_tool');
  const model = fc.record({
    contextWindow: fc.option(fc.integer({ min: 1_000, max: 300_000 }), { nil: undefined }),
    toolSearch: fc.option(fc.boolean(), { nil: undefined }),
    promotion: fc.option(fc.boolean(), { nil: undefined }),
  });
  const setting = fc.constantFrom('auto', 'on', 'off', 'auto:0', 'auto:3');
  fc.assert(
    fc.property(
      fc.tuple(placement, placement, placement),
      model,
      setting,
      fc.nat(62),
      ([files, mail, web], said, toolSearch, at) => {
        const known = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
        const id = mixed[at]?.id;
        const found = new Set(id ? [toolKey(id)] : []);
        const input = inputFor(mixed, { placementOf: servers({ files, mail, web }), model: known, toolSearch, found });
        const exposed = expose(input);
        expect(expose({ ...input, found: new Set(found) })).toEqual(exposed);
        expect(exposed.shown.length + exposed.hidden).toBe(mixed.length);
        expect(namesOf(exposed.shown)).toEqual([...namesOf(exposed.shown)].sort());
        expect(exposed.offersSearch || exposed.hidden === 0 || exposed.mode === 'best').toBe(true);
      },
    ),
  );
});

test('ten thousand tools are decided on in a few milliseconds, and in none when nothing changed', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`s${at}`, heavyTools(100, 700)]));
  const tools = toolsOf(many);
  const found = new Set(tools.slice(0, 200).map(({ id }) => toolKey(id)));
  const inputs = Array.from({ length: 7 }, () => inputFor(tools, { found }));
  const times = inputs.map((input) => processorMs(() => expose(input))).sort((a, b) => a - b);
  expect(times[3], 'the middle one of seven').toBeLessThan(150);
  const exposer = createExposer();
  const [input = inputFor(tools)] = inputs;
  const exposed = exposer(input);
  expect(exposer(input), 'decided once').toBe(exposed);
  console.log(`10,000 tools: decided in ${times[3]?.toFixed(2)} ms`);
});
