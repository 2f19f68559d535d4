// Owns what a host tells about the model behind a view: what it can do, and how much it can read.

/** Everything is optional: a model of which nothing is told can call tools and reads 200,000 tokens. */
export interface Model {
  /** In tokens. */
  readonly contextWindow?: number;
  /** Whether it calls tools by itself. Default: yes. */
  readonly toolCalling?: boolean;
  /** Whether it is good at looking for tools by itself. Default: yes. Otherwise it is shown those that fit best. */
  readonly toolSearch?: boolean;
  /** Whether its list of tools may grow while it works. Default: yes. Otherwise `mcp_call` carries what it found. */
  readonly promotion?: boolean;
  readonly vision?: boolean;
  /** Whose rules for schemas count. Default: those that all accept. */
  readonly provider?: 'any' | 'anthropic' | 'openai' | 'google';
}
