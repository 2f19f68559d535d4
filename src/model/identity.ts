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
