// Owns turning MCP content blocks into text and attachments. Text stays verbatim; binary data never becomes text.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { latePattern } from '../kernel/late-pattern.ts';
import { atOnce, type Slices } from '../kernel/slices.ts';
import { limits } from '../model/limits.ts';
import type { Attachment, SentBlock } from '../model/tool.ts';
import { byteLength, normalBase64 } from './base64.ts';
import { isInTextsInSlices, jsonTextInSlices } from './structured.ts';

export interface Extracted {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** The content of a result in order: texts as they are, and attachments in their place. */
export interface ResultContent {
  readonly parts: readonly (string | Attachment)[];
  readonly attachments: readonly Attachment[];
  /** How many blocks beyond the limit for attachments were left out. */
  readonly leftOut: number;
}

export function extractText(content: readonly SentBlock[], structured: unknown): Extracted {
  const plain = plainText(content, structured);
  if (plain !== undefined) return { text: plain, attachments: [] };
  const read = readContent(content, structured);
  return { text: render(read), attachments: read.attachments };
}

/** The text of a result that is one block of text and nothing else, as nearly every result is: no lists are built. */
export function plainText(content: readonly SentBlock[], structured: unknown): string | undefined {
  const only = content.length === 1 && structured === undefined ? content[0] : undefined;
  const text = only && textOf(only);
  return text === undefined ? undefined : wellFormed(text);
}

export const readContent = (content: readonly SentBlock[], structured: unknown): ResultContent =>
  atOnce(readInSlices(content, structured));

export function* readInSlices(content: readonly SentBlock[], structured: unknown): Slices<ResultContent> {
  const parts: (string | Attachment)[] = [];
  const attachments: Attachment[] = [];
  let others = 0;
  for (const block of content) {
    const text = textOf(block);
    if (text !== undefined) parts.push(text);
    else if (++others <= limits.resultAttachments) {
      parts.push(...(yield* readBlock(block, attachments)));
      yield BLOCK_UNITS;
    }
  }
  if (structured !== undefined && !(yield* isInTextsInSlices(structured, parts.filter(isText))))
    parts.push(yield* jsonTextInSlices(structured, dataOf(attachments)));
  return { parts, attachments, leftOut: Math.max(0, others - limits.resultAttachments) };
}

function textOf(block: SentBlock): string | undefined {
  const { type, text } = block;
  return type === 'text' && typeof text === 'string' ? text : undefined;
}

/** For a block that is short; the data of a long one is read at once, which takes a millisecond for each of its megabytes. */
const BLOCK_UNITS = 1_000;

/** The same content with its attachments replaced, one for one. */
export function withAttachments(content: ResultContent, attachments: readonly Attachment[]): ResultContent {
  const others = new Map(content.attachments.map((each, at) => [each, attachments[at] ?? each]));
  return {
    ...content,
    parts: content.parts.map((part) => (isText(part) ? part : (others.get(part) ?? part))),
    attachments,
  };
}

const dataOf = (attachments: readonly Attachment[]) => new Set(attachments.flatMap(({ data }) => data || []));

const isText = (part: string | Attachment): part is string => typeof part === 'string';

export function render({ parts, leftOut }: ResultContent): string {
  const lines = parts.map((part) => (isText(part) ? part : placeholder(part)));
  if (leftOut > 0) lines.push(`[${leftOut} more blocks left out]`);
  return wellFormed(lines.join('\n'));
}

/** Replaces lone surrogates: JSON and UTF-8 readers refuse text that holds one. */
function wellFormed(text: string): string {
  return (text as string & { toWellFormed(): string }).toWellFormed();
}

function* readBlock(block: SentBlock, attachments: Attachment[]): Slices<readonly (string | Attachment)[]> {
  const attachment = attachmentOf(block);
  if (attachment === undefined) return [yield* jsonTextInSlices(block)];
  attachments.push(attachment);
  const { kind, data } = attachment;
  yield data?.length ?? 0;
  if (kind === 'link') return [attachment];
  const { text, ...sent } = kind === 'resource' ? (block['resource'] as JsonObject) : block;
  if (kind === 'resource' && typeof text === 'string') return [text];
  const isBroken = data === undefined && (sent['data'] ?? sent['blob']) !== undefined;
  return [isBroken ? placeholder(attachment, 'whose data is not base64') : attachment];
}

/** Tells the model what is there without spending its context on it. */
function placeholder(attachment: Attachment, remark?: string): string {
  const { kind, mimeType, uri, title, name, description, size, file } = attachment;
  const label = title ?? name;
  const parts = [
    kind,
    oneLine(mimeType),
    oneLine(uri),
    label && `"${oneLine(label)}"`,
    size !== undefined && sizeText(size),
    file !== undefined && `saved to ${file}`,
    remark,
    description && `(${oneLine(description)})`,
  ];
  return `[${parts.filter(Boolean).join(' ')}]`;
}

const lineBreaks = latePattern(String.raw`[\p{Cc}\u2028\u2029]+`, 'gu');

/** Without line breaks, so that a placeholder stays one line; the data of a `data:` URL is left out. */
function oneLine(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const { placeholderChars } = limits;
  const short = text.startsWith('data:') ? text.replace(/,[\s\S]*$/, `,... ${text.length} characters`) : text;
  const cut = short.length > placeholderChars ? `${short.slice(0, placeholderChars)}...` : short;
  return cut.replace(lineBreaks(), ' ');
}

const sizeText = (bytes: number) => (bytes < 1024 ? `${bytes} bytes` : `${Math.ceil(bytes / 1024)} KB`);

function attachmentOf(block: SentBlock): Attachment | undefined {
  const { type } = block;
  switch (type) {
    case 'image':
    case 'audio':
      return typeof block['data'] === 'string' ? { kind: type, ...detailsOf(block, block['data']) } : undefined;
    case 'resource_link':
      return typeof block['uri'] === 'string' ? { kind: 'link', ...detailsOf(block) } : undefined;
    case 'resource': {
      const resource = block['resource'];
      if (!isObject(resource) || typeof resource['uri'] !== 'string') return undefined;
      const { blob } = resource;
      return { kind: 'resource', ...detailsOf(resource, typeof blob === 'string' ? blob : undefined) };
    }
    default:
      return undefined;
  }
}

function detailsOf(from: JsonObject, sent?: string): Omit<Attachment, 'kind'> {
  const decoded = sent === undefined ? undefined : normalBase64(sent);
  const mimeType = textIn(from, 'mimeType') ?? decoded?.mimeType;
  const size = decoded === undefined ? from['size'] : byteLength(decoded.data);
  return {
    ...(mimeType !== undefined && { mimeType }),
    ...textFields(from),
    ...(sent === undefined || decoded ? sized(size) : {}),
    ...(decoded && { data: decoded.data }),
  };
}

const sized = (size: unknown) => (typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? { size } : {});

function textFields(from: JsonObject): Pick<Attachment, 'uri' | 'name' | 'title' | 'description'> {
  const found = (['uri', 'name', 'title', 'description'] as const).map((field) => [field, textIn(from, field)]);
  return Object.fromEntries(found.filter(([, text]) => text !== undefined));
}

function textIn(from: JsonObject, field: string): string | undefined {
  const text = from[field];
  return typeof text === 'string' && text !== '' ? text : undefined;
}
