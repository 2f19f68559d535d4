// Owns what `--json` prints: one document, nothing else.

/** What a terminal could take for a command is escaped; the document means the same. */
export function documentText(data: unknown): string {
  const text = JSON.stringify(data, undefined, 2).replace(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${text}\n`;
}
