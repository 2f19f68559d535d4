// Owns the types of a tool and of the outcome of a call.

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

/** What is known about a tool besides its name and schema. Everything but `server` is the server's own claim. */
export interface ToolMeta {
  readonly server: ServerName;
  readonly title?: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly version?: string;
  readonly annotations: ToolAnnotations;
}

/** One of several tools that have the same name on their servers. */
export interface ToolRef extends ToolId {
  readonly name: QualifiedName;
}

/** From the open session, from a lost one, or from the tool cache. Only live hints may relax a decision. */
export type Freshness = 'live' | 'stale' | 'cached';

export interface Tool {
  readonly id: ToolId;
  readonly name: QualifiedName;
  readonly freshness: Freshness;
  /** `mcp:<server> via <provider>`: where the server comes from. */
  readonly label: string;
  /** The config entry of its server: an entry elsewhere with the same name is another server. */
  readonly source: string;
  /** As the model is shown it: adapted to the provider and within the limits. */
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** What was removed for that, in words for a person. */
  readonly reduced?: readonly string[];
  readonly meta: ToolMeta;
  /** As the server sent it; arguments are checked against this. */
  readonly definition: ToolDefinition;
}

/** One block of a result, as the server sent it. */
export interface ContentBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A part of a result that is not text. The host hands it to a model that can read it; the text has a placeholder for it. */
export interface Attachment {
  readonly kind: 'image' | 'audio' | 'resource' | 'link';
  readonly mimeType?: string;
  readonly uri?: string;
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  /** In bytes; for a link, as the server claims. */
  readonly size?: number;
  /** Standard base64, for binary content; absent where the server sent something else. */
  readonly data?: string;
  /** The file with the bytes, readable only by the user and kept for a while. */
  readonly file?: string;
}

/** A passage that looks like an instruction to the model; a hint for people, never a verdict. */
export interface Signal {
  readonly name: string;
  /** The position in the whole text; of a result, before it was cut and wrapped. */
  readonly at: number;
  readonly excerpt: string;
}

export interface Truncation {
  readonly totalChars: number;
  readonly keptChars: number;
  /** The file with the whole text, secrets redacted, readable only by the user and kept for a while. */
  readonly file?: string;
}

export interface ToolOutcome {
  /** The text for the model: shaped and wrapped. */
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
