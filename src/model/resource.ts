// Owns the types of resources, resource templates and prompts, and of what a server returns for one.

import type { JsonObject } from '../kernel/json.ts';
import type { ServerName } from './names.ts';
import type { ContentBlock, Signal } from './tool.ts';

export interface ServerItem {
  readonly server: ServerName;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** The definition as the server sent it. */
  readonly definition: JsonObject;
}

export interface Resource extends ServerItem {
  readonly uri: string;
  readonly mimeType?: string;
  /** In bytes, as the server states it. */
  readonly size?: number;
}

/** A pattern for uris, as in RFC 6570. */
export interface ResourceTemplate extends ServerItem {
  readonly uriTemplate: string;
  readonly mimeType?: string;
}

export interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
}

export interface Prompt extends ServerItem {
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
  /** Which broken parts were left out, as sentences for a person. */
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
  /** Text in it that looks like orders to a model; a hint for people. */
  readonly signals: readonly Signal[];
}

/** A server's proposals for what a person is typing. */
export interface Completion {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore: boolean;
}
