// Owns what of a result goes to files: blobs that the model cannot look at, and the whole of what was cut.

import { limits } from '../model/limits.ts';
import type { Attachment, ToolOutcome } from '../model/tool.ts';
import { type Content, withAttachments } from '../shaping/text.ts';
import type { Artifacts } from '../store/artifacts.ts';

export type Keeper = Pick<Artifacts, 'keep'>;

/** Where the model finds the rest, as a part of the notice. */
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
  /** Images reach the model as they are. */
  readonly hasVision: boolean;
}

/** The same content, its blobs with the files that hold them. What could not be kept is still an attachment. */
export async function keepBlobs(content: Content, { meta, keeper, hasVision }: BlobOptions): Promise<Content> {
  const blobs = content.attachments
    .filter(({ data, kind }) => data !== undefined && data !== '' && !(hasVision && kind === 'image'))
    .slice(0, limits.artifacts.perResult);
  if (blobs.length === 0) return content;
  const files = new Map<Attachment, string>();
  const save = async (blob: Attachment) => {
    const kept = await keeper.keep({ name: nameOf(meta), extension: extensionOf(blob), data: bytesOf(blob) });
    if ('file' in kept) files.set(blob, kept.file);
  };
  await Promise.all(blobs.map(save));
  const withFile = (blob: Attachment): Attachment => {
    const file = files.get(blob);
    return file === undefined ? blob : { ...blob, file };
  };
  return withAttachments(content, content.attachments.map(withFile));
}

const nameOf = ({ server, tool }: ToolOutcome['meta']) => `${server}-${tool}`;

/** As text where it is one, so that its secrets are found. */
function bytesOf({ data = '', mimeType = '' }: Attachment): string | Uint8Array {
  const bytes = Buffer.from(data, 'base64');
  if (!/^text\/|[/+](?:json|xml|yaml|javascript)\b/.test(mimeType)) return bytes;
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : bytes;
}

const extensions: Readonly<Record<string, string>> = {
  ...{ 'image/jpeg': 'jpg', 'image/svg+xml': 'svg', 'audio/mpeg': 'mp3', 'audio/x-wav': 'wav', 'text/plain': 'txt' },
  ...{ 'text/markdown': 'md', 'text/javascript': 'js', 'application/gzip': 'gz', 'application/x-tar': 'tar' },
};

/** So that programs which go by the name know what it is; never one that a person could start by a click. */
function extensionOf({ mimeType = '' }: Attachment): string {
  const type = mimeType.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  const [, plain] = /^(?:image|audio|video|font)\/([a-z0-9]{2,5})$/.exec(type) ?? [];
  const [, known] = /^(?:application|text)\/(pdf|json|xml|zip|csv|html|css|yaml)$/.exec(type) ?? [];
  return extensions[type] ?? plain ?? known ?? 'bin';
}
