// Owns what all adapters share: the tools that a framework gets for one step of its model, and how a call that the model made
// becomes an outcome. An adapter only translates both into the words of its framework.

import type { Runtime } from '../api.ts';
import type { CallProgress } from '../call/events.ts';
import { failureAsOutcome } from '../call/failure-as-outcome.ts';
import { repairArguments } from '../call/repair.ts';
import type { Provider } from '../catalog/definition/providers.ts';
import { joinSignals } from '../kernel/join-signals.ts';
import { isObject, type JsonObject, parseJson } from '../kernel/json.ts';
import { copyJson, whyNotJson } from '../kernel/plain-json.ts';
import { CALL_TOOL, unwrapCall } from '../model/builtin.ts';
import { isFailure, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Model } from '../model/model.ts';
import { type QualifiedName, toolKey } from '../model/names.ts';
import type { ArgumentRepair, Tool, ToolOutcome } from '../model/tool.ts';
import { unknownOptions } from '../servers/known-options.ts';
import type { Approve } from '../trust/approval.ts';
import { toolHash } from '../trust/tool-pin.ts';
import type { Turn, TurnCallOptions } from '../turn.ts';
import type { View } from '../view.ts';

/** A runtime and a view are followed as their servers change; a turn stays as it was taken. */
export type ToolSource = Runtime | View | Turn;

/** The options of every adapter. With a turn only `signal`, `onProgress` and `model.vision` can be given: the rest was its view's. */
export interface AdapterOptions {
  /** What the work is about: a model that cannot search is shown the tools that fit it best. */
  readonly query?: string;
  /** Only these tools: qualified names, where `*` stands for anything. */
  readonly tools?: readonly string[];
  /** Asked about calls that no rule allows or denies, instead of the runtime's or the view's `approve`. */
  readonly approve?: Approve;
  /** Aborting it cancels every call that runs, and each one after it. */
  readonly signal?: AbortSignal;
  /** Called with each progress of a server, at most ten times a second for each call. */
  readonly onProgress?: (progress: CallProgress) => void;
  readonly model?: AdapterModel;
}

/** The model behind the framework. A field that is absent is as in the view. */
export interface AdapterModel extends Pick<Model, 'contextWindow'> {
  /** The provider whose rules for schemas apply. With one that Plexus does not know, schemas are as the servers sent them. */
  readonly provider?: NonNullable<Model['provider']> | (string & {});
  /** Whether the model looks at images: then those of a result are handed on beside its text. Default: no. */
  readonly vision?: boolean;
}

/** Facts about a framework, whoever uses it. */
export interface FrameworkTraits {
  /** The provider where `model` names none. Absent: any, so schemas are as the servers sent them. */
  readonly provider?: Provider;
  /**
   * The framework keeps the list of tools that a run began with: in a large fleet the model then calls what it finds with
   * `mcp_call`, and calls reach the fleet as it is at that moment.
   */
  readonly keepsTools?: true;
}

export interface Toolset {
  /** The tools as they are now; the same object as long as they do not change. `query`: in place of that of the options. */
  step(query?: string): ModelStep;
  /** The images of a result in formats that every provider reads; none for a model without `vision`. */
  imagesOf(outcome: KeptOutcome): readonly ImagePart[];
}

export interface ModelStep {
  readonly tools: readonly ShownTool[];
  /** Two steps with the same revision show the same tools. */
  readonly revision: string;
  /** For the model's system prompt, behind the host's own text. */
  readonly systemPrompt: string;
  /** Whether the name is one of `tools`, or a call of it would reach a tool now that is not shown. */
  knows(name: string): boolean;
  /** Never rejects: a failure is an outcome that tells the model what it can do. */
  run(call: ModelCall): Promise<ToolOutcome>;
  /** Whether a person has to be asked first, for a framework that asks by itself; false where the call would be denied. */
  requiresApproval(call: Pick<ModelCall, 'name' | 'arguments'>): Promise<boolean>;
}

/** A tool as a framework is given it. */
export interface ShownTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, as the provider accepts it. */
  readonly inputSchema: JsonObject;
  /** The tool of the turn, with its annotations and its definition as the server sent it. */
  readonly tool: Tool;
}

/** A call as the model made it. Its arguments are JSON text or a value; both may be wrong. */
export interface ModelCall {
  readonly name: string;
  readonly arguments?: unknown;
  /** The model's own id of the call. */
  readonly callId?: string | undefined;
  /** Sent to the server as the request's `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * The framework has asked a person, who said yes: for the runtime this is an approval for this one call. It does not count where
   * the tool is another one now than it was shown, or where a repair leaves out an argument other than a null: then `approve` is asked.
   */
  readonly isApproved?: boolean;
}

/** An outcome as frameworks keep it in their messages, store it and send it on: without the blocks as the server sent them. */
export type KeptOutcome = Omit<ToolOutcome, 'content'>;

export function keptOutcome({ content: _, ...kept }: ToolOutcome): KeptOutcome {
  return kept;
}

/** Base64 and its type, one of those that every provider with vision reads. */
export interface ImagePart {
  readonly data: string;
  readonly mimeType: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
}

export function createToolset(source: ToolSource, options: AdapterOptions = {}, traits: FrameworkTraits = {}): Toolset {
  checkOptions(options);
  const { model = {} } = options;
  const provider = knownProvider(model.provider ?? traits.provider);
  const turns = isTurn(source) ? turnsOfTurn(source, options) : turnsOfView(source, options, { provider, traits });
  const steps = new WeakMap<Turn, ModelStep>();
  const hasSchema = provider !== undefined;
  return {
    step(query) {
      const turn = turns.take(query);
      const known = steps.get(turn);
      if (known) return known;
      const step = createStep(turn, { turns, options, hasSchema, keepsTools: traits.keepsTools === true });
      steps.set(turn, step);
      return step;
    },
    imagesOf: ({ attachments }) => (model.vision === true ? attachments.flatMap(imagePart) : []),
  };
}

/** All keys of `AdapterOptions` and of its model: the compiler refuses one too few or too many. */
const optionNames: Readonly<Record<keyof AdapterOptions, true>> = {
  query: true,
  tools: true,
  approve: true,
  signal: true,
  onProgress: true,
  model: true,
};
const modelNames: Readonly<Record<keyof AdapterModel, true>> = { provider: true, contextWindow: true, vision: true };

/** A misspelled `signal` would cancel nothing, a misplaced `vision` show no image, and the host would not hear of it. */
function checkOptions(options: AdapterOptions): void {
  const { model = {} } = options;
  const [problem] = [
    ...unknownOptions('An adapter', options, optionNames),
    ...unknownOptions('The `model` of an adapter', model, modelNames),
  ];
  if (problem !== undefined) throw new TypeError(problem);
}

/** The source of a toolset's turns. */
interface Turns {
  take(query?: string): Turn;
}

function isTurn(source: ToolSource): source is Turn {
  const { turn, call }: Partial<View & Turn> = source ?? {};
  if (typeof turn !== 'function' && typeof call !== 'function')
    throw new TypeError('An adapter takes a runtime, a view or a turn. Was `await` forgotten before createRuntime()?');
  return typeof turn !== 'function';
}

function turnsOfTurn(turn: Turn, { query, tools, approve, model = {} }: AdapterOptions): Turns {
  const refused = {
    query,
    tools,
    approve,
    'model.provider': model.provider,
    'model.contextWindow': model.contextWindow,
  };
  const given = Object.entries(refused).filter(([, value]) => value !== undefined);
  if (given.length > 0)
    throw new TypeError(
      `A turn cannot take ${given.map(([name]) => name).join(', ')}: give the runtime or a view instead.`,
    );
  return { take: () => turn };
}

interface ViewContext {
  readonly provider: Provider | undefined;
  readonly traits: FrameworkTraits;
}

/** A view of its own only where the options or the framework need one; otherwise the source's session grants and found tools count. */
function turnsOfView(source: View, options: AdapterOptions, { provider, traits }: ViewContext): Turns {
  const { query, tools, approve, model: { contextWindow, vision } = {} } = options;
  const described = given({ provider, contextWindow, vision, promotion: traits.keepsTools ? false : undefined });
  const narrowing = given({ tools, approve, model: isEmpty(described) ? undefined : described });
  const view = isEmpty(narrowing) ? source : source.narrow(narrowing);
  return { take: (asked = query) => view.turn(given({ query: asked })) };
}

/** The fields that have a value: an absent one must not hide another. */
function given<Fields extends object>(fields: Fields): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

const isEmpty = (fields: object) => Object.keys(fields).length === 0;

const providers: Readonly<Record<Provider, true>> = { any: true, anthropic: true, openai: true, google: true };

function knownProvider(name: string | undefined): Provider | undefined {
  return name !== undefined && Object.hasOwn(providers, name) ? (name as Provider) : undefined;
}

interface StepContext {
  readonly turns: Turns;
  readonly options: AdapterOptions;
  /** Schemas are presented for the provider; otherwise they are as the servers sent them. */
  readonly hasSchema: boolean;
  readonly keepsTools: boolean;
}

function createStep(turn: Turn, { turns, options, hasSchema, keepsTools }: StepContext): ModelStep {
  const current = () => (keepsTools ? turns.take() : turn);
  /** Tools that joined since, as they were when the framework first asked about them. */
  const joined = new Map<QualifiedName, Tool>();
  /** A person's yes is about the tool as it was shown, and about the arguments as the model wrote them. */
  const isMeant = (call: ModelCall) => {
    const target = targetOf(turns.take(), call);
    const { tool } = target;
    const shown = tool && (turn.find(tool.name) ?? joined.get(tool.name));
    return tool !== undefined && shown !== undefined && isSameTool(shown, tool) && !leavesOut(target);
  };
  return {
    tools: turn.tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: hasSchema ? tool.inputSchema : tool.definition.inputSchema,
      tool,
    })),
    revision: turn.revision,
    systemPrompt: turn.systemPrompt,
    knows: (name) => turn.tools.some((tool) => tool.name === name) || current().find(name) !== undefined,
    run: (call) => perform(current(), call, call.isApproved === true && isMeant(call), options),
    requiresApproval(call) {
      const now = current();
      const { tool } = targetOf(now, call);
      if (tool && !turn.find(tool.name) && !joined.has(tool.name)) joined.set(tool.name, tool);
      return now.requiresApproval(call.name, readArguments(call.arguments).value as object);
    },
  };
}

interface CallTarget {
  /** Absent where no tool has the name. */
  readonly tool: Tool | undefined;
  readonly arguments: unknown;
}

/** The tool that a call reaches, also through `mcp_call`. */
function targetOf(turn: Turn, { name, arguments: sent }: Pick<ModelCall, 'name' | 'arguments'>): CallTarget {
  const { value } = readArguments(sent);
  const isReadable = name === CALL_TOOL && whyNotJson(value, limits.arguments) === undefined;
  const carried = isReadable ? unwrapCall(value) : undefined;
  if (typeof carried !== 'object') return { tool: turn.find(name), arguments: value };
  return { tool: turn.find(carried.name), arguments: carried.arguments };
}

const isSameTool = (one: Tool, other: Tool) =>
  one.source === other.source &&
  toolKey(one.id) === toolKey(other.id) &&
  toolHash(one.definition) === toolHash(other.definition);

/**
 * Whether a repair sends less than the person read: an empty filter or "none" may have meant that nothing is concerned, and without
 * it everything is. A null reads as "not given", so that leaving it out sends what the person saw.
 */
function leavesOut({ arguments: sent, tool }: CallTarget): boolean {
  const copied = copyJson(sent, limits.arguments);
  if (!copied.ok || !isObject(copied.value)) return false;
  const args = copied.value;
  const { repairs = [] } = repairArguments(args, tool?.definition.inputSchema) ?? {};
  return repairs.some(({ kind, path }) => kind === 'left-out' && valueAt(args, path) !== null);
}

/** The value as the model wrote it; `undefined` where it stood inside a text, or where another repair moved it. */
function valueAt(value: unknown, [key, ...rest]: ArgumentRepair['path']): unknown {
  if (key === undefined) return value;
  if (typeof key === 'number') return Array.isArray(value) ? valueAt(value[key], rest) : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? valueAt(value[key], rest) : undefined;
}

async function perform(turn: Turn, call: ModelCall, isApproved: boolean, adapter: AdapterOptions) {
  const { value, problem } = readArguments(call.arguments);
  const { signal: whole, onProgress } = adapter;
  const joined = whole && call.signal ? joinSignals(whole, call.signal) : undefined;
  const either = joined?.signal ?? whole ?? call.signal;
  const options = callOptions(call, { isApproved, signal: either, onProgress });
  const { signal, callId } = options;
  const tell = (error: unknown) => failureAsOutcome(withProblem(error, problem), given({ signal, callId }));
  try {
    return await turn.call(call.name, value as object, options);
  } catch (error) {
    if (!isFailure(error, 'CALL_ID_TAKEN')) return tell(error);
    // Small model servers count their calls from one in every conversation; the call has not begun yet.
    const { callId: _taken, ...others } = options;
    return await turn.call(call.name, value as object, others).catch(tell);
  } finally {
    joined?.leave();
  }
}

interface CallTraits {
  readonly isApproved: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: AdapterOptions['onProgress'] | undefined;
}

/** Field by field, since every call of a model passes here. */
function callOptions({ callId, meta }: ModelCall, { isApproved, signal, onProgress }: CallTraits): TurnCallOptions {
  const options: { -readonly [Key in keyof TurnCallOptions]: TurnCallOptions[Key] } = {};
  if (callId) options.callId = callId;
  if (signal) options.signal = signal;
  if (meta) options.meta = meta;
  if (onProgress) options.onProgress = onProgress;
  if (isApproved) options.approve = approveOnce;
  return options;
}

/** A tool that has changed since it was approved needs an answer of somebody who sees the changes. */
const approveOnce: Approve = async ({ changes = [] }) => (changes.length > 0 ? 'no' : 'once');

interface ReadArguments {
  readonly value: unknown;
  /** Why the text is no JSON. */
  readonly problem?: string;
}

/** A text that is no JSON goes on as it is: the call is then refused like any other with wrong arguments, and seen in events. */
function readArguments(sent: unknown): ReadArguments {
  if (sent === undefined || sent === null) return { value: {} };
  if (typeof sent !== 'string') return { value: sent };
  // Models that call a tool without parameters may write nothing at all.
  if (sent.trim() === '') return { value: {} };
  const parsed = parseJson(sent);
  return parsed.ok ? { value: parsed.value } : { value: sent, problem: parsed.problem };
}

/** Says that a text was no JSON, and why: a model whose answer was cut off could not see that otherwise. */
function withProblem(error: unknown, problem: string | undefined): unknown {
  if (problem === undefined || !isFailure(error, 'ARGUMENTS_BAD')) return error;
  const problems = [`they must be a JSON object, and the text is no JSON: ${problem}`];
  return new RuntimeError('ARGUMENTS_BAD', { ...error.data, problems }, { cause: error });
}

const imageTypes: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

/** A provider refuses the whole request for an image that it cannot read; the text of the result has a placeholder for each. */
function imagePart({ mimeType = '', data = '' }: ToolOutcome['attachments'][number]): readonly ImagePart[] {
  return data !== '' && imageTypes.includes(mimeType) ? [{ data, mimeType: mimeType as ImagePart['mimeType'] }] : [];
}
