// Owns how the protocol writes a text into an HTTP header: as it is where a header can carry it, otherwise in Base64.

const sentinel = { open: '=?base64?', close: '?=' } as const;

/** Printable ASCII without a space at either end: HTTP trims header values. */
const plain = /^[!-~]([ -~]*[!-~])?$/;

export function encodeHeaderValue(text: string): string {
  const mistakable = text.startsWith(sentinel.open) && text.endsWith(sentinel.close);
  if (plain.test(text) && !mistakable) return text;
  return `${sentinel.open}${Buffer.from(text, 'utf8').toString('base64')}${sentinel.close}`;
}
