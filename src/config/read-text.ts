// Owns getting a file's text safely: never a device, a pipe, too much, or bytes that are not text.

import { isUtf8 } from 'node:buffer';
import * as fs from 'node:fs';
import { limits } from '../model/limits.ts';
import type { Position } from './sources/document.ts';

export type FileText =
  | { readonly kind: 'text'; readonly text: string; readonly identity: string }
  | { readonly kind: 'absent' | 'unreadable'; readonly problem: string; readonly cause?: unknown }
  | { readonly kind: 'not-text'; readonly problem: string; readonly remedy: string; readonly position?: Position };

export async function readText(file: string): Promise<FileText> {
  try {
    return await readOpened(file);
  } catch (error) {
    const problem = problemOf(error);
    return { kind: isAbsence(error) ? 'absent' : 'unreadable', problem, cause: error };
  }
}

/**
 * Opened without waiting: a repository may hold a pipe, and opening that otherwise waits for ever. With callbacks instead of
 * `fs/promises`: most of the files looked for are not there, and a handle or a promise for each step costs more than reading.
 */
function readOpened(file: string): Promise<FileText> {
  return new Promise((resolve, reject) => {
    fs.open(file, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0), (failed, opened) => {
      if (failed) return reject(failed);
      const end = (error: Error | null, found?: FileText) => {
        fs.close(opened, () => (found ? resolve(found) : reject(error)));
      };
      fs.fstat(opened, (error, found) => {
        if (error) return end(error);
        if (!found.isFile()) return end(null, { kind: 'unreadable', problem: 'it is not a file' });
        if (found.size > limits.configBytes) return end(null, tooLarge(found.size));
        // Who the file is, whatever path leads to it; some systems do not count their files.
        const identity = found.ino === 0 ? file : `${found.dev}:${found.ino}`;
        const buffer = Buffer.allocUnsafe(found.size);
        readAll(opened, buffer, 0, (unread, filled) =>
          unread ? end(unread) : end(null, decode(buffer.subarray(0, filled), identity)),
        );
      });
    });
  });
}

/** The size said before counts: a file that grows meanwhile is cut, and then is not valid. */
function readAll(
  opened: number,
  buffer: Buffer,
  filled: number,
  done: (error: Error | null, filled: number) => void,
): void {
  if (filled === buffer.length) {
    done(null, filled);
    return;
  }
  fs.read(opened, buffer, filled, buffer.length - filled, null, (error, count) => {
    if (error || count === 0) done(error, filled);
    else readAll(opened, buffer, filled + count, done);
  });
}

function decode(bytes: Buffer, identity: string): FileText {
  if (!isUtf8(bytes)) return { kind: 'not-text', problem: 'the file is not UTF-8', remedy: 'Save it as UTF-8.' };
  const text = bytes.toString('utf8');
  const nul = text.indexOf('\0');
  if (nul < 0) return { kind: 'text', text, identity };
  const before = text.slice(0, nul);
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
