// Owns what a host declares about the model behind a view: what the model can do, and how much it can read.

/** All fields are optional: without any, the model can call tools and reads 200,000 tokens. */
export interface Model {
  /** In tokens. */
  readonly contextWindow?: number;
  /** Whether the model calls tools by itself. Default: yes. */
  readonly toolCalling?: boolean;
  /** Whether the model can search for tools by itself. Default: yes. Otherwise it is shown those that fit best. */
  readonly toolSearch?: boolean;
  /** Whether the model's list of tools may grow while it works. Default: yes. Otherwise it calls found tools with `mcp_call`. */
  readonly promotion?: boolean;
  /** Whether the model looks at images: then they come as attachments without a file. */
  readonly vision?: boolean;
  /**
   * The provider whose rules for schemas apply. Default: schemas keep what both Anthropic and OpenAI accept. `google`, and `any` for
   * any other provider, give the narrower form of OpenAPI.
   */
  readonly provider?: 'any' | 'anthropic' | 'openai' | 'google';
}
