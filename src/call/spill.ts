// Owns writing parts of a result to files: blobs that the model cannot look at, and the whole text of a result that was cut.

import { isUtf8 } from 'node:buffer';
import type { Cancellation } from '../kernel/cancellation.ts';
import { limits } from '../model/limits.ts';
import type { Attachment, ToolOutcome } from '../model/tool.ts';
import { type ResultContent, withAttachments } from '../shaping/text.ts';
import type { Artifacts } from '../store/artifacts.ts';

export type Keeper = Pick<Artifacts, 'keep'>;

/** Where the model finds the whole text, for the notice in its place. */
export interface Rest {
  readonly file?: string;
  readonly remark?: string;
}

export async function keepWhole(text: string, meta: ToolOutcome['meta'], keeper: Keeper): Promise<Rest> {
  const kept = await keeper.keep({ name: nameOf(meta), extension: 'txt', data: text });
  if ('problem' in kept) return { remark: `the whole text could not be kept: ${kept.problem}` };
  return { file: kept.file, remark: `the whole text is in ${kept.file}` };
}

export interface BlobOptions {
  readonly meta: ToolOutcome['meta'];
  readonly keeper: Keeper;
  /** The model looks at images itself, so they need no file. */
  readonly hasVision: boolean;
  readonly cancellation: Cancellation;
}

/** The same content, with the file of each blob. A blob that could not be written stays an attachment. */
export async function keepBlobs(
  content: ResultContent,
  { meta, keeper, hasVision, cancellation }: BlobOptions,
): Promise<ResultContent> {
  const blobs = content.attachments
    .filter(({ data, kind }) => data !== undefined && data !== '' && !(hasVision && kind === 'image'))
    .slice(0, limits.artifacts.perResult);
  if (blobs.length === 0) return content;
  const files = new Map<Attachment, string>();
  const save = async (blob: Attachment) => {
    const data = bytesOf(blob);
    const kept = await keeper.keep({ name: nameOf(meta), extension: extensionOf(blob, data), data });
    if ('file' in kept) files.set(blob, kept.file);
  };
  await cancellation.race(Promise.all(blobs.map(save)));
  const withFile = (blob: Attachment): Attachment => {
    const file = files.get(blob);
    return file === undefined ? blob : { ...blob, file };
  };
  return withAttachments(content, content.attachments.map(withFile));
}

const nameOf = ({ server, tool }: ToolOutcome['meta']) => `${server}-${tool}`;

/** Treats valid UTF-8 as text whatever its type says, so that its secrets are redacted. */
function bytesOf({ data = '' }: Attachment): string | Uint8Array {
  const bytes = Buffer.from(data, 'base64');
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : bytes;
}

/** File extensions by type. Types that are not listed get none, so that no click can run such a file. */
const extensions: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/jpg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/bmp': 'bmp',
  'image/tiff': 'tiff',
  'image/avif': 'avif',
  'image/heic': 'heic',
  'image/x-icon': 'ico',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/mp4': 'm4a',
  'audio/aac': 'aac',
  'audio/webm': 'webm',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/ogg': 'ogv',
  'video/mpeg': 'mpeg',
  'font/woff': 'woff',
  'font/woff2': 'woff2',
  'font/ttf': 'ttf',
  'font/otf': 'otf',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gz',
  'application/x-tar': 'tar',
  'application/json': 'json',
  'application/xml': 'xml',
  'application/yaml': 'yaml',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/csv': 'csv',
  'text/css': 'css',
  'text/json': 'json',
  'text/xml': 'xml',
  'text/yaml': 'yaml',
};

export function extensionOf({ mimeType = '' }: Attachment, data: string | Uint8Array): string {
  const type = mimeType.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  const known = Object.hasOwn(extensions, type) ? extensions[type] : undefined;
  return known ?? (typeof data === 'string' ? 'txt' : 'bin');
}
