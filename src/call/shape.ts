// Owns what the model reads of a result: as text, redacted, flagged, cut and wrapped. Acts on the way back.

import type { LoadedConfig } from '../config/load.ts';
import type { Emit } from '../kernel/emitter.ts';
import { limits } from '../model/limits.ts';
import type { ToolId } from '../model/names.ts';
import type { Signal, ToolOutcome } from '../model/tool.ts';
import type { ServerRegistry } from '../servers/registry.ts';
import { createNonce, orderWarning, wrap } from '../shaping/boundary.ts';
import { findSignals } from '../shaping/injection.ts';
import { type Extracted, plainText, readContent, render } from '../shaping/text.ts';
import { type Cut, type Ends, findCut, joinCut, sharesOf } from '../shaping/truncate.ts';
import type { CallEvent } from './events.ts';
import type { Perform, Stage, ToolCall } from './pipeline.ts';
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

interface ResultRedactor {
  known(text: string): string;
  text(text: string): string;
  /** The length of the longest secret that `known` looks for, if it knows. */
  readonly reach?: number;
}

/** Order is meaning: redact before the cut, so that no secret survives in half; wrap last, so that the closing mark is never lost. */
export function shape(deps: ShapeDeps): Stage {
  return (next) => (call) => shaped(call, next, deps);
}

async function shaped(call: ToolCall, next: Perform, deps: ShapeDeps): Promise<ToolOutcome> {
  const outcome = await next(call);
  // The text of a builtin already says what its structured content holds.
  const structured = call.builtin ? undefined : outcome.structured;
  const plain = plainText(outcome.content, structured);
  if (plain !== undefined) return finished(outcome, { text: plain, attachments: [] }, call, deps);
  const read = readContent(outcome.content, structured);
  const { artifacts: keeper } = deps;
  const hasVision = call.caller.hasVision === true;
  const content = keeper ? await keepBlobs(read, { meta: outcome.meta, keeper, hasVision }) : read;
  return finished(outcome, { text: render(content), attachments: content.attachments }, call, deps);
}

async function finished(
  outcome: ToolOutcome,
  { text, attachments }: Extracted,
  call: ToolCall,
  deps: ShapeDeps,
): Promise<ToolOutcome> {
  const { meta } = outcome;
  const { registry, redactor, artifacts, emit } = deps;
  const { settings } = registry.config();
  const most = resultLimits(registry.settings(meta.server), registry.toolSettings(meta), call.tool?.definition);
  const ends = endsOf(text, most.chars, searchBy(settings, redactor));
  const cut = findCut(ends, most);
  const signals = flag(ends, cut, deps.findSignals ?? findSignals);
  if (signals.length > 0 && call.tool)
    emit({ type: 'signal.raised', callId: call.callId, ...call.tool.id, surface: 'tool_output', signals });
  const remark = settings.signals === 'annotate' && signals.length > 0 ? orderWarning(signals) : '';
  if (cut === undefined) return { ...outcome, text: remark + framed(ends.head, meta, settings), attachments, signals };
  const { file, remark: where } = artifacts ? await keepWhole(text, meta, artifacts) : {};
  const { totalChars } = ends;
  const keptChars = cut.head.length + cut.tail.length;
  return {
    ...outcome,
    text: remark + framed(joinCut(cut, totalChars, where), meta, settings),
    attachments,
    signals,
    truncated: { totalChars, keptChars, ...(file !== undefined && { file }) },
  };
}

interface SecretSearch {
  readonly redact: (text: string) => string;
  /** No secret is longer than this. */
  readonly reach: number;
}

const noSearch: SecretSearch = { redact: (text) => text, reach: 0 };

function searchBy({ results: { redact } }: ShapeSettings, redactor: ResultRedactor | undefined): SecretSearch {
  if (redactor === undefined || redact === 'off') return noSearch;
  const { secrets } = limits.resultEdge;
  return redact === 'known'
    ? { redact: (text) => redactor.known(text), reach: redactor.reach ?? secrets }
    : { redact: (text) => redactor.text(text), reach: secrets };
}

/**
 * Searches only the ends of a long text for secrets, with a margin longer than any secret. Where one is found, its mark has
 * another length, so positions move: then the whole text is searched.
 */
function endsOf(text: string, maxChars: number, { redact, reach }: SecretSearch): Ends {
  const most = sharesOf(maxChars);
  const margin = Math.max(reach, limits.resultEdge.signals);
  if (text.length > maxChars + 2 * margin) {
    const [head, tail] = [text.slice(0, most.head + margin), text.slice(-(most.tail + margin))];
    if (redact(head) === head && redact(tail) === tail) return { head, tail, totalChars: text.length };
  }
  const whole = redact(text);
  return { head: whole, tail: whole, totalChars: whole.length };
}

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

function framed(body: string, id: ToolId, settings: ShapeSettings): string {
  return settings.results.wrap ? wrap(body, id, createNonce()) : body;
}
