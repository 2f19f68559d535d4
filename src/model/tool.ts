// Owns what a tool is and what a call gives back.

import type { JsonObject } from '../kernel/json.ts';
import type { QualifiedName, ServerName, ToolId } from './names.ts';

export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** A tool as its server sent it. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  readonly [extension: string]: unknown;
}

/** What is told about a tool besides its name and schema; all but the server is the server's own word. */
export interface ToolMeta {
  readonly server: ServerName;
  readonly title?: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly version?: string;
  readonly annotations: ToolAnnotations;
}

/** One of the tools that their servers call the same. */
export interface ToolRef extends ToolId {
  readonly name: QualifiedName;
}

/** From the open session, from one that was lost, or from what was remembered. Only live hints ever relax a decision. */
export type Freshness = 'live' | 'stale' | 'cached';

export interface Tool {
  readonly id: ToolId;
  readonly name: QualifiedName;
  readonly freshness: Freshness;
  /** `mcp:<server> via <provider>`: where its server comes from. */
  readonly label: string;
  /** Which entry its server comes from: another one under the same name is another server. */
  readonly source: string;
  /** What a model is shown: fit for its provider and within the limits. */
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** What was taken out for that, in words for a person. */
  readonly reduced?: readonly string[];
  readonly meta: ToolMeta;
  /** As the server sent it: what calls are checked against. */
  readonly definition: ToolDefinition;
}

/** One block of a result, as the server sent it. */
export interface ContentBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What a result holds besides text. A host hands it to a model that can look at it; the text has a placeholder for it. */
export interface Attachment {
  readonly kind: 'image' | 'audio' | 'resource' | 'link';
  readonly mimeType?: string;
  readonly uri?: string;
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  /** In bytes; of a link it is the server's word. */
  readonly size?: number;
  /** Base64 in its usual spelling, for binary content; absent where the server sent something else. */
  readonly data?: string;
  /** Where the bytes lie, for its owner's eyes only and for a while. */
  readonly file?: string;
}

/** Something in a text that looks like an instruction; a hint for people, never a verdict. */
export interface Signal {
  readonly name: string;
  /** Where in the whole text; of a result, before it was cut and wrapped. */
  readonly at: number;
  readonly excerpt: string;
}

export interface Truncation {
  readonly totalChars: number;
  readonly keptChars: number;
  /** Where the whole text lies, secrets redacted, for its owner's eyes only and for a while. */
  readonly file?: string;
}

export interface ToolOutcome {
  /** What the model reads: shaped and wrapped. */
  readonly text: string;
  /** The blocks as the server sent them. */
  readonly content: readonly ContentBlock[];
  readonly attachments: readonly Attachment[];
  readonly structured?: unknown;
  /** The tool's own error; a value, not an exception. */
  readonly isError: boolean;
  readonly signals: readonly Signal[];
  readonly truncated?: Truncation;
  readonly meta: OutcomeMeta;
}

export interface OutcomeMeta {
  readonly server: ServerName;
  readonly tool: string;
  readonly durationMs: number;
  readonly attempts: number;
  readonly fromCache: boolean;
}
