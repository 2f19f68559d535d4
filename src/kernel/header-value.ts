// Owns how the protocol writes a text into an HTTP header: as it is where a header can carry it, otherwise in Base64.

const sentinel = { open: '=?base64?', close: '?=' } as const;

/** Printable ASCII without a space at either end: HTTP trims header values. */
const plain = /^[!-~]([ -~]*[!-~])?$/;

export function encodeHeaderValue(text: string): string {
  const mistakable = text.startsWith(sentinel.open) && text.endsWith(sentinel.close);
  if (plain.test(text) && !mistakable) return text;
  return `${sentinel.open}${Buffer.from(text, 'utf8').toString('base64')}${sentinel.close}`;
}

/** The text that a header carries; `undefined` for Base64 that does not decode. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!value.startsWith(sentinel.open) || !value.endsWith(sentinel.close)) return value;
  const encoded = value.slice(sentinel.open.length, -sentinel.close.length);
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : undefined;
}
