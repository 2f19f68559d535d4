// Owns the proof that `plexus/google` masters every situation with the real package.

import { describeSituations } from './adapter-tests.ts';
import { describeInstalled } from './installed.ts';

describeInstalled('@google/genai', async () => {
  const { openDrivers } = await import('./drivers/google.ts');
  describeSituations(await openDrivers());
});
