// Owns base64: normalizing it so that every decoder accepts it, counting its bytes, and recognizing text that is nothing else.

import { limits } from '../model/limits.ts';

const standard = /^[A-Za-z0-9+/]*={0,2}$/;
const lenient = /^[A-Za-z0-9+/_-]*={0,2}$/;

export interface DecodedBase64 {
  readonly data: string;
  /** From a `data:` URL that a server sent in place of the data. */
  readonly mimeType?: string;
}

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?[^,]{0,200};base64,/;

/** Standard base64 from any line breaks, padding or alphabet; `undefined` for text that is not base64. */
export function normalBase64(text: string): DecodedBase64 | undefined {
  if (text.length % 4 === 0 && standard.test(text)) return { data: text };
  const [head = '', mimeType] = text.startsWith('data:') ? (dataUrl.exec(text.slice(0, 512)) ?? []) : [];
  const bare = text.slice(head.length).replace(/\s+/g, '');
  if (!lenient.test(bare)) return undefined;
  const letters = bare.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
  // One character left over is six bits: less than a byte.
  if (letters.length % 4 === 1) return undefined;
  const data = letters.padEnd(Math.ceil(letters.length / 4) * 4, '=');
  return { data, ...(mimeType !== undefined && { mimeType }) };
}

export function isBase64(text: string): boolean {
  return text.length >= 8 && normalBase64(text) !== undefined;
}

/** How many bytes the base64 decodes to. */
export function byteLength(data: string): number {
  return Buffer.byteLength(/\s/.test(data) ? data.replace(/\s+/g, '') : data, 'base64');
}

const lines = /^(?:[A-Za-z0-9+/_-]{40,}\r?\n)+[A-Za-z0-9+/_-]*={0,2}\s*$/;
const wholeRun = /^[A-Za-z0-9+/_-]+={0,2}\s*$/;

/** Long, without a space and in mixed case: no word, number or name looks like that. */
export function looksBinary(text: string): boolean {
  if (text.length < limits.structured.binaryChars) return false;
  // Most text that is not base64 shows it in its first characters.
  const start = text.slice(0, limits.structured.binaryChars);
  if (!/[a-z]/.test(start) || !/[A-Z]/.test(start)) return /^A+={0,2}$/.test(text);
  return wholeRun.test(text) || lines.test(text);
}
