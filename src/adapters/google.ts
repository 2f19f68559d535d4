// Owns the public surface of "plexus/google": the fleet as one `CallableTool` of Google's SDK, for its automatic function calling and
// for a loop of the host's own. Plain objects: nothing of the package `@google/genai` is imported.

import type { ToolOutcome } from '../model/tool.ts';
import { checkFramework } from './framework-version.ts';
import { createToolList } from './tool-list.ts';
import { type AdapterModel, type AdapterOptions, createToolset, type ImagePart, type ToolSource } from './toolset.ts';

export type { AdapterModel, AdapterOptions, ToolSource };

/** The SDK passes no signal to a call: only `signal` here cancels one, so give it the `abortSignal` of the request. */
export interface GoogleOptions extends AdapterOptions {
  /**
   * Other callable tools stand beside this one in `config.tools`. The SDK gives each of them every call, so that calls of names
   * that the fleet does not have are then left to them. Default: such a call has a result that says so.
   */
  readonly standsBesideOthers?: boolean;
}

/** One entry of `config.tools`. */
export interface FleetTool {
  /** The declarations as they are now. The SDK asks once for each `generateContent`, and before each request of a stream. */
  tool(): Promise<{ functionDeclarations: GoogleDeclaration[] }>;
  /** Runs the calls at the same time. Never rejects: a tool that fails or is denied has a result that says so. */
  callTool(calls: readonly GoogleCall[]): Promise<GoogleResult[]>;
  /** For `systemInstruction`, behind the host's own text: what the mark around results means, and the instructions of servers. */
  systemPrompt(): string;
}

export interface GoogleDeclaration {
  name: string;
  description: string;
  parametersJsonSchema: unknown;
}

export interface GoogleCall {
  readonly id?: string;
  readonly name?: string;
  readonly args?: Record<string, unknown>;
}

export interface GoogleResult {
  functionResponse: {
    id?: string;
    name: string;
    response: { output: string } | { error: string };
    parts?: { inlineData: { mimeType: string; data: string } }[];
  };
}

/** For `config.tools` of `generateContent`, `generateContentStream` and chats. */
export function fleetTool(source: ToolSource, options: GoogleOptions = {}): FleetTool {
  const { standsBesideOthers = false, ...common } = options;
  checkFramework('@google/genai', ['2']);
  const toolset = createToolset(source, common, { provider: 'google', keepsTools: true });
  const list = createToolList(
    toolset,
    ({ name, description, inputSchema }): GoogleDeclaration => ({
      name,
      description,
      parametersJsonSchema: inputSchema,
    }),
  );
  const perform = async ({ id, name = '', args }: GoogleCall): Promise<GoogleResult> => {
    const outcome = await list.step().run({ name, arguments: args, callId: id });
    const images = toolset.imagesOf(outcome).filter(isReadable);
    return {
      functionResponse: {
        ...(id !== undefined && { id }),
        name,
        response: responseOf(outcome),
        ...(images.length > 0 && { parts: images.map((inlineData) => ({ inlineData })) }),
      },
    };
  };
  const isOurs = ({ name = '' }: GoogleCall) => !standsBesideOthers || list.step().knows(name);
  return {
    tool: async () => ({ functionDeclarations: list.tools() }),
    callTool: (calls) => Promise.all(calls.filter(isOurs).map(perform)),
    systemPrompt: list.systemPrompt,
  };
}

/** The two words that Google's models know. */
const responseOf = ({ isError, text }: ToolOutcome) => (isError ? { error: text } : { output: text });

/** Google's models look at all the formats of the others but this one. */
const isReadable = ({ mimeType }: ImagePart) => mimeType !== 'image/gif';
