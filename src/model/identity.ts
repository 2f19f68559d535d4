// Owns the name and version that Plexus sends to servers.

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

/** The newest revision of the protocol that Plexus supports. */
export const newestProtocol = '2026-07-28';
