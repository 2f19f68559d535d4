// Owns what `plexus/langchain` uses of `@langchain/core`, for the compiler alone: frameworks are not installed with Plexus's own packages.
// `test/frameworks` compiles the adapter against the real types.

declare module '@langchain/core/messages' {
  export class ToolMessage {
    constructor(fields: {
      readonly status: 'success' | 'error';
      readonly content: unknown;
      readonly artifact: unknown;
      readonly tool_call_id: string;
      readonly name: string;
    });
  }
}

declare module '@langchain/core/tools' {
  export abstract class StructuredTool {
    constructor(fields: { readonly responseFormat: 'content_and_artifact' });
    abstract readonly name: string;
    abstract readonly description: string;
    abstract readonly schema: unknown;
    call(...args: readonly unknown[]): Promise<unknown>;
    protected abstract _call(sent: unknown, manager?: unknown, config?: object): Promise<unknown>;
  }
}
