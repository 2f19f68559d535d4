// Owns telling an error of the operating system, such as a missing file, from every other error. Loads nothing.

export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
