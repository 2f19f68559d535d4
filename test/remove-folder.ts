// Owns removing the folder of a test, also while a runtime or a process still writes a last file into it.

import { rm } from 'node:fs/promises';

export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
