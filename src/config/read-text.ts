// Owns reading a file's text safely: never a device or a pipe, never too much, never bytes that are not text.

import { isUtf8 } from 'node:buffer';
import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { limits } from '../model/limits.ts';
import type { Position } from './sources/document.ts';

export type FileText =
  | { readonly kind: 'text'; readonly text: string; readonly identity: string }
  | { readonly kind: 'absent' | 'unreadable'; readonly problem: string; readonly cause?: unknown }
  | {
      readonly kind: 'not-text';
      readonly problem: string;
      readonly remedy: string;
      readonly position?: Position;
      /** Its bytes were not read. */
      readonly isTooLarge?: true;
    };

export async function readText(file: string, mostBytes: number = limits.configBytes): Promise<FileText> {
  try {
    return await readOpened(file, mostBytes);
  } catch (error) {
    const problem = problemOf(error);
    return { kind: isAbsence(error) ? 'absent' : 'unreadable', problem, cause: error };
  }
}

/**
 * Opening a file may take long, on a hanging network folder for example, so it is asynchronous; `O_NONBLOCK` keeps it from waiting
 * for the other end of a pipe that a repository may hold. An open file is then read synchronously, if it is small.
 */
function readOpened(file: string, mostBytes: number): Promise<FileText> {
  return new Promise((resolve, reject) => {
    fs.open(file, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0), (failed, opened) => {
      if (failed) reject(failed);
      else readWhole(opened, file, mostBytes).then(resolve, reject);
    });
  });
}

const READ_AT_ONCE_BYTES = 256 * 1024;

async function readWhole(opened: number, file: string, mostBytes: number): Promise<FileText> {
  try {
    // As big integers: some systems have inode numbers that a number cannot hold, and two files would look like one.
    const found = fs.fstatSync(opened, { bigint: true });
    if (!found.isFile()) return { kind: 'unreadable', problem: 'it is not a file' };
    const size = Number(found.size);
    if (size > mostBytes) return tooLarge(size, mostBytes);
    // The same for every path that leads to the file; some systems have no inode numbers.
    const identity = found.ino === 0n ? file : `${found.dev}:${found.ino}`;
    const buffer = Buffer.allocUnsafe(size);
    const isSmall = size <= READ_AT_ONCE_BYTES;
    const read = isSmall ? readSync : readAsync;
    // Reads only as much as `fstat` reported: a file that grows meanwhile is cut, and then does not parse.
    let filled = 0;
    for (let more = -1; more !== 0 && filled < size; filled += more) more = await read(opened, buffer, filled);
    return decode(buffer.subarray(0, filled), identity);
  } finally {
    fs.closeSync(opened);
  }
}

const readSync = (opened: number, buffer: Buffer, from: number) =>
  fs.readSync(opened, buffer, from, buffer.length - from, null);

const readAsync = async (opened: number, buffer: Buffer, from: number) =>
  (await promisify(fs.read)(opened, buffer, from, buffer.length - from, null)).bytesRead;

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

function tooLarge(size: number, mostBytes: number): FileText {
  return {
    kind: 'not-text',
    isTooLarge: true,
    problem: `the file has ${size} bytes, and at most ${mostBytes} are read`,
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
