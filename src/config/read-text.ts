// Owns getting a file's text safely: never a device, a pipe, too much, or bytes that are not text.

import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { limits } from '../model/limits.ts';
import type { Position } from './sources/document.ts';

export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' | 'unreadable'; readonly problem: string; readonly cause?: unknown }
  | { readonly kind: 'not-text'; readonly problem: string; readonly remedy: string; readonly position?: Position };

export async function readText(file: string): Promise<FileText> {
  try {
    // Asked before opening: a repository may hold a pipe, and opening that waits for ever.
    const found = await stat(file);
    if (!found.isFile()) return { kind: 'unreadable', problem: 'it is not a file' };
    if (found.size > limits.configBytes) return tooLarge(found.size);
    return decode(await readBounded(file));
  } catch (error) {
    const problem = problemOf(error);
    return { kind: isAbsence(error) ? 'absent' : 'unreadable', problem, cause: error };
  }
}

/** Who a file is, whatever path leads to it; the path itself when nothing is there. */
export async function identify(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return file;
  }
}

/** The size said before counts: a file that grows meanwhile is cut, and then is not valid. */
async function readBounded(file: string): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(Math.min(size, limits.configBytes));
    let filled = 0;
    while (filled < buffer.length) {
      const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  } finally {
    await handle.close();
  }
}

function decode(bytes: Buffer): FileText {
  if (!isUtf8(bytes)) return { kind: 'not-text', problem: 'the file is not UTF-8', remedy: 'Save it as UTF-8.' };
  const text = bytes.toString('utf8');
  const before = text.split('\0', 1).join('');
  if (before.length === text.length) return { kind: 'text', text };
  return {
    kind: 'not-text',
    problem: 'the file holds a NUL byte, so it is not text',
    remedy: 'Save it as UTF-8 text.',
    position: { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') },
  };
}

function tooLarge(size: number): FileText {
  return {
    kind: 'not-text',
    problem: `the file has ${size} bytes, and at most ${limits.configBytes} are read`,
    remedy: 'Move what is not configuration out of it.',
  };
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : undefined);
const isAbsence = (error: unknown) => ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '');

function problemOf(error: unknown): string {
  const code = codeOf(error);
  if (code === undefined) throw error;
  return problems[code] ?? `the system says ${code}`;
}

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it does not exist',
  EACCES: 'you may not read it',
  EPERM: 'you may not read it',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
};
