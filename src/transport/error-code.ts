// Owns reading the code of a system error. Decisions depend on the code, never on the message.

/** Such as `ENOENT`; `undefined` for an error that neither the system nor Node raised. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
