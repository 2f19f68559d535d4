// Owns `--save-images DIR` of `plexus call`: the images of a result as files in a folder that the person names. No file is overwritten.

import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { extensionOf } from '../call/spill.ts';
import { fullness, isSystemError, reasonOf } from '../kernel/replace-file.ts';
import { RuntimeError } from '../model/errors.ts';
import type { Attachment, ToolOutcome } from '../model/tool.ts';
import { type Context, UsageError } from './command.ts';
import { printable } from './render/text.ts';

export interface SavedImages {
  readonly outcome: ToolOutcome;
  /** Some image could not be written; the person was told which. */
  readonly isIncomplete: boolean;
}

/** `undefined` without the option. Makes the folder now: a call must not be performed whose images have no place. */
export async function imageFolder({ values, cwd }: Pick<Context, 'values' | 'cwd'>): Promise<string | undefined> {
  const folder = values['save-images'];
  if (typeof folder !== 'string') return undefined;
  if (folder === '') throw new UsageError('--save-images takes a folder');
  const path = resolve(cwd, folder);
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw unwritable(path, error);
  }
  return path;
}

/** The outcome whose images name their files. The call is done, so an image that cannot be written is only told. */
export async function saveImages(
  outcome: ToolOutcome,
  folder: string,
  context: Pick<Context, 'warn'>,
): Promise<SavedImages> {
  const attachments: Attachment[] = [];
  let isIncomplete = false;
  for (const each of outcome.attachments) {
    try {
      attachments.push(isImage(each) ? { ...each, file: await save(each, folder, outcome.meta) } : each);
    } catch (error) {
      const { message } = unwritable(folder, error);
      context.warn((paint) => paint.yellow(printable(`An image was not saved: ${message}`)));
      attachments.push(each);
      isIncomplete = true;
    }
  }
  return { outcome: { ...outcome, attachments }, isIncomplete };
}

const isImage = ({ kind, data }: Attachment) => kind === 'image' && Boolean(data);

/** Named after the tool, and numbered in a folder that has more of them. */
async function save(image: Attachment, folder: string, { tool }: ToolOutcome['meta']): Promise<string> {
  const bytes = Buffer.from(image.data ?? '', 'base64');
  const [name, extension] = [tool.replace(/[^\w-]+/g, '_').slice(0, 60), extensionOf(image, bytes)];
  for (let number = 1; ; number++) {
    const file = join(folder, `${name}-${number}.${extension}`);
    try {
      await writeFile(file, bytes, { flag: 'wx' });
      return file;
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
    }
  }
}

function unwritable(file: string, error: unknown): RuntimeError {
  if (!isSystemError(error)) throw error;
  return new RuntimeError(
    'OUTPUT_UNWRITABLE',
    { file, problem: reasonOf(error), ...fullness(error) },
    { cause: error },
  );
}
