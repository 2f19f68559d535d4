// Owns the proof that `plexus/langchain` masters every situation with the real packages.

import { describeWithNewerNode } from './adapter-tests.ts';
import { describeInstalled } from './installed.ts';

const titles = ['createAgent', 'createAgent, streaming', 'bindTools and ToolNode'];

describeInstalled('langchain', () => describeWithNewerNode('langchain', '1', titles));
