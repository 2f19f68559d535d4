// Owns what a server offers beside tools: resources, templates of them, and prompts; and what reading one gives back.

import type { JsonObject } from '../kernel/json.ts';
import type { ServerName } from './names.ts';
import type { ContentBlock, Signal } from './tool.ts';

interface Offered {
  readonly server: ServerName;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** As its server sent it. */
  readonly definition: JsonObject;
}

export interface Resource extends Offered {
  readonly uri: string;
  readonly mimeType?: string;
  /** In bytes, by the server's word. */
  readonly size?: number;
}

/** A pattern of uris, by RFC 6570. */
export interface ResourceTemplate extends Offered {
  readonly uriTemplate: string;
  readonly mimeType?: string;
}

export interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
}

export interface Prompt extends Offered {
  readonly arguments: readonly PromptArgument[];
}

/** One part of a resource: a text, or bytes in base64. */
export type ResourcePart =
  | { readonly uri: string; readonly mimeType?: string; readonly text: string }
  | { readonly uri: string; readonly mimeType?: string; readonly blob: string };

export interface ResourceContents {
  readonly server: ServerName;
  readonly uri: string;
  readonly contents: readonly ResourcePart[];
  /** What was left out because it was broken, in words for a person. */
  readonly problems: readonly string[];
}

export interface PromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlock;
}

export interface PromptMessages {
  readonly server: ServerName;
  readonly name: string;
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  readonly problems: readonly string[];
  /** What in it looks like an order; a hint for people. */
  readonly signals: readonly Signal[];
}

/** What may follow what was typed so far. */
export interface Completion {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore: boolean;
}
