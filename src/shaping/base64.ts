// Owns what base64 is to us: a spelling that every reader takes, how many bytes it stands for, and whether a text is nothing else.

import { limits } from '../model/limits.ts';

const usual = /^[A-Za-z0-9+/]*={0,2}$/;
const lenient = /^[A-Za-z0-9+/_-]*={0,2}$/;

export interface Decoded {
  readonly data: string;
  /** From a `data:` address that somebody sent in place of the data. */
  readonly mimeType?: string;
}

const address = /^data:([\w.+-]+\/[\w.+-]+)?[^,]{0,200};base64,/;

/** In its usual spelling, whatever line ends, padding or alphabet it came with; nothing for what is no base64. */
export function normalBase64(text: string): Decoded | undefined {
  if (text.length % 4 === 0 && usual.test(text)) return { data: text };
  const [head = '', mimeType] = text.startsWith('data:') ? (address.exec(text.slice(0, 512)) ?? []) : [];
  const bare = text.slice(head.length).replace(/\s+/g, '');
  if (!lenient.test(bare)) return undefined;
  const letters = bare.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
  // A single letter is six bits: less than any byte.
  if (letters.length % 4 === 1) return undefined;
  const data = letters.padEnd(Math.ceil(letters.length / 4) * 4, '=');
  return { data, ...(mimeType !== undefined && { mimeType }) };
}

export function isBase64(text: string): boolean {
  return text.length >= 8 && normalBase64(text) !== undefined;
}

/** How many bytes a spelling stands for. */
export function byteLength(data: string): number {
  return Buffer.byteLength(/\s/.test(data) ? data.replace(/\s+/g, '') : data, 'base64');
}

const lines = /^(?:[A-Za-z0-9+/_-]{40,}\r?\n)+[A-Za-z0-9+/_-]*={0,2}\s*$/;
const wholeRun = /^[A-Za-z0-9+/_-]+={0,2}\s*$/;

/** So long, without a space and in capitals and small letters alike: no word, number or name is. */
export function looksBinary(text: string): boolean {
  if (text.length < limits.structured.binaryChars) return false;
  // What is no base64 mostly shows it at once.
  const start = text.slice(0, limits.structured.binaryChars);
  if (!/[a-z]/.test(start) || !/[A-Z]/.test(start)) return /^A+={0,2}$/.test(text);
  return wholeRun.test(text) || lines.test(text);
}
