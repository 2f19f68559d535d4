// Owns telling an error of the operating system, such as a missing file, from every other error. Loads nothing.

export function isSystemError(error: unknown): error is Error & { readonly code: string; readonly syscall: unknown } {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
