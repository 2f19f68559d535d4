// Owns the proof that `plexus/anthropic` masters every situation with the real package.

import { describeSituations } from './adapter-tests.ts';
import { describeInstalled } from './installed.ts';

describeInstalled('@anthropic-ai/sdk', async () => {
  const { openDrivers } = await import('./drivers/anthropic.ts');
  describeSituations(await openDrivers());
});
