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

/** A JSON Schema for an object, which the arguments of a tool always are. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

export interface Tool {
  /** The server and the tool's own name: its identity. */
  readonly id: ToolId;
  /** The name that a model calls it by. */
  readonly name: QualifiedName;
  /** Whether the definition comes from the open session. */
  readonly freshness: Freshness;
  /** `mcp:<server> via <provider>`: where the server comes from. */
  readonly label: string;
  /** The config entry of its server: an entry elsewhere with the same name is another server. */
  readonly source: string;
  /** As the model is shown it: adapted to the provider and within the limits. */
  readonly description: string;
  /** The JSON Schema of the arguments, as the model is shown it. */
  readonly inputSchema: ObjectSchema;
  /** The parts removed for that, in words for a person. */
  readonly reduced?: readonly string[];
  readonly meta: ToolMeta;
  /** As the server sent it; arguments are checked against this. */
  readonly definition: ToolDefinition;
}

// Aliases, not interfaces: they can be read as `SentBlock` too.
type BlockFields = {
  readonly annotations?: JsonObject;
  readonly _meta?: JsonObject;
};

export type TextBlock = BlockFields & {
  readonly type: 'text';
  readonly text: string;
};

export type ImageBlock = BlockFields & {
  readonly type: 'image';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
};

export type AudioBlock = BlockFields & {
  readonly type: 'audio';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
};

export type ResourceLinkBlock = BlockFields & {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
};

export type EmbeddedResourceBlock = BlockFields & {
  readonly type: 'resource';
  readonly resource: {
    readonly uri: string;
    readonly mimeType?: string;
    readonly text?: string;
    /** Base64. */
    readonly blob?: string;
  };
};

/**
 * One block of a result, exactly as the server sent it: only `type` was checked. A server of a newer protocol may send types that
 * are not in this union, and a careless one fields of other types.
 */
export type ContentBlock = TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | EmbeddedResourceBlock;

/** A block for code that trusts no server: nothing but `type` is known of it. */
export type SentBlock = { readonly type: string; readonly [field: string]: unknown };

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
  /** Images, audio, files and links of the result. */
  readonly attachments: readonly Attachment[];
  /** The structured content as the server sent it. */
  readonly structured?: unknown;
  /** The instructions of servers, where this result is the first to show one of their tools; also at the end of `text`. */
  readonly instructions?: string;
  /** The tool's own error; a value, not an exception. */
  readonly isError: boolean;
  /** Passages that look like an order to the model. */
  readonly signals: readonly Signal[];
  /** Present if the text was cut. */
  readonly truncated?: Truncation;
  readonly meta: OutcomeMeta;
}

export interface OutcomeMeta {
  /** The id of the call, as in its events. */
  readonly callId: string;
  readonly server: ServerName;
  readonly tool: string;
  /** From the call to its outcome, waiting included. */
  readonly durationMs: number;
  /** How often the call was sent. */
  readonly attempts: number;
  readonly fromCache: boolean;
  /** What was changed in the arguments so that they fit the tool's schema; absent where they were sent as they came. */
  readonly repaired?: readonly ArgumentRepair[];
}

/**
 * One change of an argument: a text that spells a list or an object (`json-text`), a number or a boolean was read as what it
 * spells, a single value was put into a list (`single-item`), or a value that means "not given" was left out.
 */
export interface ArgumentRepair {
  /** Where: keys and positions, from the arguments inwards. */
  readonly path: readonly (string | number)[];
  readonly kind: 'json-text' | 'number-text' | 'boolean-text' | 'single-item' | 'left-out';
}
