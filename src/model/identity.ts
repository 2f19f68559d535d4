// Owns how Plexus introduces itself to servers.

import manifest from '../../package.json' with { type: 'json' };

export const identity = { name: manifest.name, title: 'Plexus', version: manifest.version } as const;
