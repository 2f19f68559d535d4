// Owns the proof that `plexus/openai` masters every situation with the real package, in both majors that it promises.

import { describeSituations, describeWithNewerNode } from './adapter-tests.ts';
import { openDrivers } from './drivers/openai.ts';
import { describeInstalled } from './installed.ts';

const titles = ['chat completions', 'chat completions, streaming', 'responses', 'responses, streaming'];

describeInstalled('openai 6', async () => describeSituations(await openDrivers('6')));
describeInstalled('openai 7', () => describeWithNewerNode('openai', '7', titles));
