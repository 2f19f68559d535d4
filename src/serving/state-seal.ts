// Owns `requestState`: what we hand a client to bring back, encrypted and authenticated, so that it can neither read nor make one.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type ParsedJson, parseJson } from '../kernel/json.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PREFIX = 'p1.';

export class StateSeal {
  readonly #key: Buffer;

  /** With a stored key, states outlive a restart. */
  constructor(key: Buffer = randomBytes(KEY_BYTES)) {
    this.#key = key;
  }

  seal(value: unknown): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
    return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** The value that was sealed; not ok for anything that this key has not sealed. */
  open(state: string): ParsedJson {
    const refused: ParsedJson = { ok: false, problem: 'it was not sealed here' };
    const bytes = Buffer.from(state.slice(PREFIX.length), 'base64url');
    // Decoding skips characters that are not of the alphabet: only the one true spelling counts.
    if (state !== PREFIX + bytes.toString('base64url') || bytes.length < NONCE_BYTES + TAG_BYTES) return refused;
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      return parseJson(text);
    } catch {
      return refused;
    }
  }
}
