// Owns cutting a text to a number of bytes: never within a character, and with a mark at the end.

const mark = '… [cut]';
const markBytes = Buffer.byteLength(mark);
const encoder = new TextEncoder();

export function cutBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, limit - markBytes)));
  return `${text.slice(0, read).trimEnd()}${mark}`;
}
