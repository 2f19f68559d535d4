// Owns what the model reads of a result: as text, redacted, flagged, cut and wrapped. Acts on the way back.

import type { LoadedConfig } from '../config/load.ts';
import type { Cancellation } from '../kernel/cancellation.ts';
import type { Emit } from '../kernel/emitter.ts';
import { inSlices, SLICE_UNITS, type Slices } from '../kernel/slices.ts';
import { limits } from '../model/limits.ts';
import type { Signal } from '../model/tool.ts';
import type { ServerRegistry } from '../servers/registry.ts';
import { createNonce, orderWarning, wrap } from '../shaping/boundary.ts';
import { findAtEnds, findSignals } from '../shaping/injection.ts';
import type { Redactor } from '../shaping/redact.ts';
import { plainText, readInSlices, render } from '../shaping/text.ts';
import { type Cut, type Ends, findCut, joinCut, sharesOf } from '../shaping/truncate.ts';
import type { CallEvent } from './events.ts';
import { attempt, type OutcomeDraft, type Stage, type ToolCall } from './pipeline.ts';
import { resultLimits } from './result-limits.ts';
import { type Keeper, keepBlobs, keepWhole } from './spill.ts';

export type ShapeSettings = Pick<LoadedConfig['settings'], 'results' | 'signals'>;

export interface ShapeDeps {
  readonly registry: Pick<ServerRegistry, 'settings' | 'toolSettings'> & {
    readonly config: () => { readonly settings: ShapeSettings };
  };
  readonly redactor?: ResultRedactor | undefined;
  /** Finds text that looks like an instruction to the model. */
  readonly findSignals?: (text: string) => readonly Signal[];
  readonly emit: Emit<CallEvent>;
  /** Keeps whole results and blobs as files; without it, none are written. */
  readonly artifacts?: Keeper | undefined;
}

interface ResultRedactor extends Pick<Redactor, 'known' | 'text' | 'knownInSlices' | 'textInSlices'> {
  /** The length of the longest secret that `known` looks for, if it knows. */
  readonly reach?: number;
}

/** Order is meaning: redact before the cut, so that no secret survives in half; wrap last, so that the closing mark is never lost. */
export function shape(deps: ShapeDeps): Stage {
  return (next) => (call) => attempt(next, call).then((outcome) => shaped(outcome, call, deps));
}

/** A promise only where the text is long, or more than text. */
function shaped(outcome: OutcomeDraft, call: ToolCall, deps: ShapeDeps): OutcomeDraft | Promise<OutcomeDraft> {
  if (outcome.answer !== undefined) return flagged(outcome, call, deps);
  // The text of a builtin already says what its structured content holds.
  const structured = call.builtin ? undefined : outcome.structured;
  const plain = plainText(outcome.content, structured);
  if (plain !== undefined) return withText(plain, outcome, call, deps);
  return readWhole(outcome, structured, call, deps).then((text) => withText(text, outcome, call, deps));
}

/** An answer that a gateway passes on stays as it is: only the signals in its text are looked for, at its ends where it is long. */
function flagged(outcome: OutcomeDraft, call: ToolCall, deps: ShapeDeps): OutcomeDraft {
  const find = deps.findSignals ?? findSignals;
  for (const block of outcome.content) {
    if (block.type !== 'text' || typeof block.text !== 'string' || block.text === '') continue;
    const found = findAtEnds(block.text, find);
    if (found.length > 0) outcome.signals = [...outcome.signals, ...found];
  }
  tellSignals(outcome, call, deps);
  return outcome;
}

function withText(
  text: string,
  outcome: OutcomeDraft,
  call: ToolCall,
  deps: ShapeDeps,
): OutcomeDraft | Promise<OutcomeDraft> {
  const { meta } = outcome;
  const { registry, redactor } = deps;
  const { settings } = registry.config();
  const most = resultLimits(registry.settings(meta.server), registry.toolSettings(meta), call.tool?.definition);
  const search = searchBy(settings, redactor);
  const redacted = cleanEnds(text, most.chars, search);
  const finish = ({ whole, ends }: Redacted): OutcomeDraft | Promise<OutcomeDraft> => {
    const cut = findCut(ends, most);
    outcome.signals = flag(ends, cut, deps.findSignals ?? findSignals);
    tellSignals(outcome, call, deps);
    if (cut === undefined) return framed(ends.head, outcome, settings, search);
    return keptAndJoined({ whole, cut, outcome }, call, deps).then((shown) => framed(shown, outcome, settings, search));
  };
  return redacted === undefined ? redactedEnds(text, search, call.cancellation).then(finish) : finish(redacted);
}

function tellSignals({ signals }: OutcomeDraft, { callId, tool }: ToolCall, { emit }: ShapeDeps): void {
  if (signals.length === 0 || tool === undefined) return;
  emit({ type: 'signal.raised', callId, ...tool.id, surface: 'tool_output', signals });
}

/** The text of a result that is more than one block of text. What it has besides is attached, and kept in files. */
async function readWhole(
  outcome: OutcomeDraft,
  structured: unknown,
  { cancellation, caller }: ToolCall,
  { artifacts: keeper }: ShapeDeps,
): Promise<string> {
  const read = await inSlices(readInSlices(outcome.content, structured), cancellation);
  const { meta } = outcome;
  const hasVision = caller.hasVision === true;
  const content = keeper ? await keepBlobs(read, { meta, keeper, hasVision, cancellation }) : read;
  outcome.attachments = content.attachments;
  return render(content);
}

interface CutText {
  readonly whole: string;
  readonly cut: Cut;
  readonly outcome: OutcomeDraft;
}

/** A text that was redacted already is not searched for the same secrets again. */
async function keptAndJoined(
  { whole, cut, outcome }: CutText,
  { cancellation }: ToolCall,
  { artifacts }: ShapeDeps,
): Promise<string> {
  const { file, remark } = artifacts ? await cancellation.race(keepWhole(whole, outcome.meta, artifacts)) : {};
  const totalChars = whole.length;
  const keptChars = cut.head.length + cut.tail.length;
  outcome.truncated = { totalChars, keptChars, ...(file !== undefined && { file }) };
  return joinCut(cut, totalChars, remark);
}

interface SecretSearch {
  readonly redact: (text: string) => string;
  readonly redactInSlices: (text: string) => Slices<string>;
  /** No secret is longer than this. */
  readonly reach: number;
}

/** The whole text, and the ends of it that the model may read, without their secrets. */
interface Redacted {
  readonly whole: string;
  readonly ends: Ends;
}

function searchBy(
  { results: { redact } }: ShapeSettings,
  redactor: ResultRedactor | undefined,
): SecretSearch | undefined {
  if (redactor === undefined || redact === 'off') return undefined;
  const { secrets } = limits.resultEdge;
  return redact === 'known'
    ? { redact: redactor.known, redactInSlices: redactor.knownInSlices, reach: redactor.reach ?? secrets }
    : { redact: redactor.text, redactInSlices: redactor.textInSlices, reach: secrets };
}

/**
 * Searches only the ends of a long text for secrets, with a margin longer than any secret. Where one is found, its mark has
 * another length, so positions move: then the answer is `undefined`, and the whole text must be searched.
 */
function cleanEnds(text: string, maxChars: number, search: SecretSearch | undefined): Redacted | undefined {
  const most = sharesOf(maxChars);
  const margin = Math.max(search?.reach ?? 0, limits.resultEdge.signals);
  const isShort = text.length <= maxChars + 2 * margin;
  const [head, tail] = isShort ? [text, text] : [text.slice(0, most.head + margin), text.slice(-(most.tail + margin))];
  if (isShort && text.length > SLICE_UNITS && search) return undefined;
  if (isShort) return redactedOf(search?.redact(text) ?? text);
  const isClean = search === undefined || (search.redact(head) === head && search.redact(tail) === tail);
  return isClean ? { whole: text, ends: { head, tail, totalChars: text.length } } : undefined;
}

async function redactedEnds(
  text: string,
  search: SecretSearch | undefined,
  cancellation: Cancellation,
): Promise<Redacted> {
  return redactedOf(search ? await inSlices(search.redactInSlices(text), cancellation) : text);
}

const redactedOf = (whole: string): Redacted => ({
  whole,
  ends: { head: whole, tail: whole, totalChars: whole.length },
});

/** Looks for signals in what the model reads and in a margin on either side of the cut, so that nothing hides at the edge. */
function flag(
  { head, tail, totalChars }: Ends,
  cut: Cut | undefined,
  find: (text: string) => readonly Signal[],
): readonly Signal[] {
  if (cut === undefined) return find(head);
  const edge = limits.resultEdge.signals;
  const headChars = cut.head.length + edge;
  const tailChars = cut.tail.length + edge;
  if (headChars + tailChars >= totalChars) return find(head);
  const before = totalChars - tailChars;
  const shifted = find(tail.slice(-tailChars)).map((signal) => ({ ...signal, at: signal.at + before }));
  const first = find(head.slice(0, headChars));
  return shifted.length === 0 ? first : [...first, ...shifted];
}

/** Completes the outcome with the text for the model. */
function framed(
  shown: string,
  outcome: OutcomeDraft,
  settings: ShapeSettings,
  search: SecretSearch | undefined,
): OutcomeDraft {
  const { signals, meta, instructions } = outcome;
  const remark = settings.signals === 'annotate' && signals.length > 0 ? orderWarning(signals) : '';
  outcome.text = remark + (settings.results.wrap ? wrap(shown, meta, createNonce()) : shown);
  if (instructions === undefined) return outcome;
  // Servers' instructions have marks of their own; inside the mark of a result the model would take them for forged ones.
  outcome.instructions = search ? search.redact(instructions) : instructions;
  outcome.text += `\n\n${outcome.instructions}`;
  return outcome;
}
