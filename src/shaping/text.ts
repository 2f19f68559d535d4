// Owns turning MCP content blocks into text and attachments. Text stays verbatim; binary data never becomes text.

import { isObject } from '../kernel/json.ts';
import type { Attachment, ContentBlock } from '../model/tool.ts';

export interface Extracted {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

export function extractText(content: readonly ContentBlock[], structured: unknown): Extracted {
  const only = content.length === 1 ? content[0] : undefined;
  // Nearly every result is one block of text: no arrays for it.
  if (only?.type === 'text' && typeof only['text'] === 'string') return { text: only['text'], attachments: [] };
  const attachments: Attachment[] = [];
  const parts = content.map((block) => {
    const attachment = attachmentOf(block);
    if (attachment) attachments.push(attachment);
    return textOf(block, attachment);
  });
  if (parts.length === 0 && structured !== undefined) parts.push(JSON.stringify(structured));
  return { text: parts.join('\n'), attachments };
}

function textOf(block: ContentBlock, attachment: Attachment | undefined): string {
  if (block.type === 'text' && typeof block['text'] === 'string') return block['text'];
  const resource = block['resource'];
  if (block.type === 'resource' && isObject(resource) && typeof resource['text'] === 'string') return resource['text'];
  return attachment ? placeholder(attachment) : JSON.stringify(block);
}

/** Tells the model what is there without spending its context on it. */
function placeholder({ kind, mimeType, uri, data }: Attachment): string {
  const size = data === undefined ? undefined : sizeText(Buffer.byteLength(data, 'base64'));
  return `[${[kind, mimeType, uri, size].filter(Boolean).join(' ')}]`;
}

const sizeText = (bytes: number) => (bytes < 1024 ? `${bytes} bytes` : `${Math.ceil(bytes / 1024)} KB`);

function attachmentOf(block: ContentBlock): Attachment | undefined {
  switch (block.type) {
    case 'image':
    case 'audio':
      return typeof block['data'] === 'string' ? { kind: block.type, ...typed(block), data: block['data'] } : undefined;
    case 'resource_link':
      return typeof block['uri'] === 'string' ? { kind: 'link', ...typed(block), uri: block['uri'] } : undefined;
    case 'resource': {
      const resource = block['resource'];
      if (!isObject(resource) || typeof resource['uri'] !== 'string') return undefined;
      const data = resource['blob'];
      return { kind: 'resource', ...typed(resource), uri: resource['uri'], ...(typeof data === 'string' && { data }) };
    }
    default:
      return undefined;
  }
}

function typed(from: { readonly [field: string]: unknown }): { mimeType?: string } {
  return typeof from['mimeType'] === 'string' ? { mimeType: from['mimeType'] } : {};
}
