// Owns the proof that `plexus/ai-sdk` masters every situation with the real package, in both majors that it promises.

import { describeSituations, describeWithNewerNode } from './adapter-tests.ts';
import { openDrivers } from './drivers/ai-sdk.ts';
import { describeInstalled } from './installed.ts';

describeInstalled('ai 6', async () => describeSituations(await openDrivers('6')));
describeInstalled('ai 7', () => describeWithNewerNode('ai-sdk', '7', ['generateText', 'streamText']));
