// Owns what `--json` prints: one document, nothing else.

export function documentText(data: unknown): string {
  return `${JSON.stringify(data, undefined, 2)}\n`;
}
