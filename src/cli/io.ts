// Owns what the command line needs of the process it runs in. `main.ts` binds it to the real process, tests bind it to memory.

import type { Readable, Writable } from 'node:stream';

/** A property is read only when it is needed: opening the streams of a process takes longer than printing help. */
export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** Whether a stream leads to a screen, or to another device; answered without opening the stream. */
  readonly isTerminal: (stream: 'stdin' | 'stdout' | 'stderr') => boolean;
  /** How many characters a line of the screen takes; `undefined` where the stream leads to none, or it does not say. */
  readonly columns: (stream: 'stdout' | 'stderr') => number | undefined;
  /**
   * Writes to stdout without opening its stream, as much as it takes at once. Returns the rest, which is for the stream: it also
   * knows how to fail. A reader that has gone takes everything.
   */
  readonly printNow: (bytes: Uint8Array) => Uint8Array;
  /**
   * Subscribes to Ctrl-C (SIGINT) and SIGTERM. A listener that returns true stays subscribed; otherwise the next one ends the
   * process, as it does without a subscriber.
   */
  readonly onInterrupt: (listener: (signal: 'SIGINT' | 'SIGTERM') => boolean) => void;
  /** Sends this process the signal of Ctrl-C: a terminal in raw mode does not do that itself. */
  readonly interrupt: () => void;
  /** Ends the process now, without waiting for streams that are still open. */
  readonly exit: (code: number) => void;
}
