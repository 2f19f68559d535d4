// Owns throwing away what was typed before a question was on the screen: in the stream, and in the terminal's own buffer, which
// Node has no function for.

import { closeSync, constants, openSync, readSync } from 'node:fs';

export interface KeyboardInput extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
  readonly fd?: number;
  readonly setRawMode?: (isRaw: boolean) => unknown;
}

/** False where the system has no way to it: then what comes in the first moment has to be ignored. */
export function discardTypeAhead(input: KeyboardInput): boolean {
  while (input.read() !== null);
  if (input.isTTY !== true || input.fd === undefined) return true;
  const device = deviceOf(input.fd, process.platform);
  return device !== undefined && drain(device);
}

/** The terminal behind a descriptor, to be opened once more: reading from the descriptor itself would wait. */
export function deviceOf(descriptor: number, platform: NodeJS.Platform): string | undefined {
  if (platform === 'win32') return undefined;
  return platform === 'linux' ? `/proc/self/fd/${descriptor}` : '/dev/tty';
}

const CHUNK_BYTES = 4_096;
/** More than a terminal keeps. What is still sent after that comes from no person, and is filtered as a paste. */
const MOST_CHUNKS = 64;

function drain(device: string): boolean {
  let opened: number | undefined;
  try {
    opened = openSync(device, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const buffer = Buffer.alloc(CHUNK_BYTES);
    for (let left = MOST_CHUNKS; left > 0 && readSync(opened, buffer) > 0; left--);
    return true;
  } catch (error) {
    // Nothing is left to read.
    return (error as NodeJS.ErrnoException).code === 'EAGAIN';
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
