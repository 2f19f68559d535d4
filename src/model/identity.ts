// Owns how Plexus introduces itself to servers.

import manifest from '../../package.json' with { type: 'json' };

export interface ClientInfo {
  readonly name: string;
  readonly title?: string;
  readonly version: string;
}

export const identity = {
  name: manifest.name,
  title: 'Plexus',
  version: manifest.version,
} as const satisfies ClientInfo;

/** The newest revision of the protocol that we speak. */
export const newestProtocol = '2026-07-28';
