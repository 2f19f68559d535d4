// Owns how the protocol writes a text into an HTTP header: as it is where a header can carry it, in Base64 where not.

const sentinel = { open: '=?base64?', close: '?=' } as const;

/** Space to tilde, and none of them a space at either end: fields are trimmed on their way. */
const plain = /^[!-~]([ -~]*[!-~])?$/;

export function encodeHeaderValue(text: string): string {
  const mistakable = text.startsWith(sentinel.open) && text.endsWith(sentinel.close);
  if (plain.test(text) && !mistakable) return text;
  return `${sentinel.open}${Buffer.from(text, 'utf8').toString('base64')}${sentinel.close}`;
}
