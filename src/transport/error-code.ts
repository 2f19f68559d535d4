// Owns reading the code of a system error: the only part of a failure that decides anything.

/** `ENOENT` and its like; absent for what is no error of the system or of Node. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
