// Owns making a service out of a host's own tools, resources and prompts: lists, argument checks, and results from plain values.
// The maps are read with every request: a host may change them and then call `listChanged`.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { problemsWith } from '../kernel/json-schema.ts';
import { limits } from '../model/limits.ts';
import { invalidParams, ProtocolError, resourceNotFound } from './protocol.ts';
import type { Implementation, ServedCall, ServedMethod, Service } from './service.ts';

type MaybePromise<Value> = Value | Promise<Value>;

/** A tool, with the fields of its definition as clients see them. */
export interface OwnTool {
  readonly title?: string;
  readonly description: string;
  /** JSON Schema of an object; default: no arguments. */
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  readonly _meta?: JsonObject;
  /** A text, or a whole result. An error that it throws is shown to the model as the tool's error. */
  run(args: JsonObject, call: ServedCall): MaybePromise<string | JsonObject>;
}

/** The contents of a resource: a text, or an object with `text` or `blob`. */
export type OwnContents = string | JsonObject;

export interface OwnResource {
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
  read(call: ServedCall): MaybePromise<OwnContents>;
}

/** A resource for each uri that fits a pattern such as `notes://{id}`. */
export interface OwnTemplate {
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Those that the client of the call finds in the list of resources, with the fields of their definitions. */
  list?(call: ServedCall): MaybePromise<readonly (JsonObject & { readonly uri: string; readonly name: string })[]>;
  read(variables: Readonly<Record<string, string>>, call: ServedCall): MaybePromise<OwnContents>;
}

export interface OwnPrompt {
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
  /** A text of the user, or a whole result. */
  get(args: JsonObject, call: ServedCall): MaybePromise<string | JsonObject>;
}

export interface OwnServiceOptions extends Implementation {
  readonly instructions?: string;
  /** By name. */
  readonly tools?: { readonly [name: string]: OwnTool };
  /** By uri. */
  readonly resources?: { readonly [uri: string]: OwnResource };
  /** By uri template. */
  readonly templates?: { readonly [uriTemplate: string]: OwnTemplate };
  /** By name. */
  readonly prompts?: { readonly [name: string]: OwnPrompt };
  /** Capabilities that the protocol itself does not know, by name. */
  readonly experimental?: { readonly [capability: string]: JsonObject };
  /** Proposals for a value that a person types: the parameters of `completion/complete`. */
  readonly complete?: (params: JsonObject, call: ServedCall) => MaybePromise<readonly string[]>;
}

export function createOwnService(options: OwnServiceOptions): Service {
  const { instructions, tools, resources, templates, prompts, experimental, complete, ...info } = options;
  const hasResources = resources !== undefined || templates !== undefined;
  const capabilities = {
    logging: {},
    ...(tools !== undefined && { tools: { listChanged: true } }),
    ...(hasResources && { resources: { listChanged: true, subscribe: true } }),
    ...(prompts !== undefined && { prompts: { listChanged: true } }),
    ...(complete !== undefined && { completions: {} }),
    ...(experimental !== undefined && { experimental }),
  };
  return {
    info,
    offer: () => ({ capabilities, ...(instructions !== undefined && { instructions }) }),
    methods: {
      ...(tools !== undefined && toolMethods(tools)),
      ...(hasResources && resourceMethods(resources ?? {}, templates ?? {})),
      ...(prompts !== undefined && promptMethods(prompts)),
      ...(complete !== undefined && { 'completion/complete': completion(complete) }),
    },
    inputSchema: (tool) => (tools !== undefined && Object.hasOwn(tools, tool) ? tools[tool]?.inputSchema : undefined),
  };
}

const NO_ARGUMENTS: JsonObject = Object.freeze({ type: 'object', properties: {}, additionalProperties: false });

function toolMethods(tools: NonNullable<OwnServiceOptions['tools']>): Record<string, ServedMethod> {
  return {
    'tools/list': (call) => {
      assertNoCursor(call);
      return {
        tools: Object.entries(tools).map(([name, { run: _, inputSchema = NO_ARGUMENTS, ...definition }]) => ({
          ...{ name, ...definition, inputSchema },
        })),
      };
    },
    'tools/call': (call) => {
      const tool = namedIn(tools, call, 'tool');
      const args = argumentsOf(call);
      const problems = problemsWith(args, tool.inputSchema ?? NO_ARGUMENTS, limits.served.check);
      if (problems.length > 0) return toolError(`Invalid arguments: ${problems.join('; ')}`);
      const failed = (error: unknown): JsonObject => {
        if (error instanceof ProtocolError || call.signal.aborted) throw error;
        return toolError(error instanceof Error ? error.message : String(error));
      };
      try {
        const made = tool.run(args, call);
        return made instanceof Promise ? made.then(toolResult, failed) : toolResult(made);
      } catch (error) {
        return failed(error);
      }
    },
  };
}

const toolResult = (made: string | JsonObject): JsonObject =>
  typeof made === 'string' ? { content: [{ type: 'text', text: made }] } : made;

const toolError = (text: string): JsonObject => ({ isError: true, content: [{ type: 'text', text }] });

function resourceMethods(
  resources: NonNullable<OwnServiceOptions['resources']>,
  templates: NonNullable<OwnServiceOptions['templates']>,
): Record<string, ServedMethod> {
  return {
    'resources/list': async (call) => {
      assertNoCursor(call);
      const fixed = Object.entries(resources).map(([uri, { read: _, ...definition }]) => ({ uri, ...definition }));
      const listed = await Promise.all(Object.values(templates).map((template) => template.list?.(call) ?? []));
      return { resources: [...fixed, ...listed.flat()] };
    },
    'resources/templates/list': (call) => {
      assertNoCursor(call);
      const listed = Object.entries(templates).map(([uriTemplate, { read: _, list: __, ...definition }]) => ({
        ...{ uriTemplate, ...definition },
      }));
      return { resourceTemplates: listed };
    },
    'resources/read': async (call) => {
      const { uri } = call.params;
      if (typeof uri !== 'string') throw invalidParams('uri must be a string');
      const found = Object.hasOwn(resources, uri) ? resources[uri] : undefined;
      if (found !== undefined) return contentsOf(uri, found.mimeType, await found.read(call));
      for (const [uriTemplate, template] of Object.entries(templates)) {
        const variables = matchTemplate(uriTemplate, uri);
        if (variables !== undefined) return contentsOf(uri, template.mimeType, await template.read(variables, call));
      }
      throw resourceNotFound(uri);
    },
  };
}

function contentsOf(uri: string, mimeType: string | undefined, made: OwnContents): JsonObject {
  const contents = typeof made === 'string' ? { text: made } : made;
  return { contents: [{ uri, ...(mimeType !== undefined && { mimeType }), ...contents }] };
}

/** Simple expressions only: `{name}` stands for any text without a slash. */
function matchTemplate(uriTemplate: string, uri: string): Readonly<Record<string, string>> | undefined {
  const names: string[] = [];
  const pattern = uriTemplate
    .split(/(\{\w+\})/)
    .map((part) => {
      if (!/^\{\w+\}$/.test(part)) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      names.push(part.slice(1, -1));
      return '([^/]+)';
    })
    .join('');
  const found = new RegExp(`^${pattern}$`).exec(uri);
  return found === null
    ? undefined
    : Object.fromEntries(names.map((name, at) => [name, unescapeUri(found[at + 1] ?? '')]));
}

function unescapeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone percent sign stands for itself.
    return text;
  }
}

function promptMethods(prompts: NonNullable<OwnServiceOptions['prompts']>): Record<string, ServedMethod> {
  return {
    'prompts/list': (call) => {
      assertNoCursor(call);
      return { prompts: Object.entries(prompts).map(([name, { get: _, ...definition }]) => ({ name, ...definition })) };
    },
    'prompts/get': async (call) => {
      const prompt = namedIn(prompts, call, 'prompt');
      const args = argumentsOf(call);
      const missing = prompt.arguments?.find(({ name, required }) => required === true && args[name] === undefined);
      if (missing !== undefined) throw invalidParams(`The prompt needs the argument "${missing.name}"`);
      const made = await prompt.get(args, call);
      return typeof made === 'string' ? { messages: [{ role: 'user', content: { type: 'text', text: made } }] } : made;
    },
  };
}

function completion(complete: NonNullable<OwnServiceOptions['complete']>): ServedMethod {
  return async (call) => {
    const { ref, argument } = call.params;
    if (!isObject(ref) || !isObject(argument)) throw invalidParams('ref and argument must be objects');
    const all = await complete(call.params, call);
    const values = all.slice(0, limits.completionValues);
    return { completion: { values, total: all.length, hasMore: all.length > values.length } };
  };
}

function namedIn<Item>(items: { readonly [name: string]: Item }, { params }: ServedCall, kind: string): Item {
  const { name } = params;
  if (typeof name !== 'string') throw invalidParams('name must be a string');
  const item = Object.hasOwn(items, name) ? items[name] : undefined;
  if (item === undefined) throw invalidParams(`Unknown ${kind}: ${name.slice(0, 200)}`);
  return item;
}

function argumentsOf({ params: { arguments: args = {} } }: ServedCall): JsonObject {
  if (!isObject(args)) throw invalidParams('arguments must be an object');
  return args;
}

/** Lists have one page: no client was given a cursor. */
function assertNoCursor({ params: { cursor } }: ServedCall): void {
  if (cursor !== undefined) throw invalidParams('cursor is not valid');
}
