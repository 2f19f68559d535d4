#!/usr/bin/env node
// Owns the program `plexus`: it runs the command line in this process, or `plexus connect`, which every agent of a machine starts
// and keeps, and which therefore loads nothing of the rest. Everything else is `main.ts`'s and `connect.ts`'s.

import { homedir } from 'node:os';
import { connect } from '../gateway/connect/connect.ts';

const [verb, ...words] = process.argv.slice(2);
const isPlainConnect = verb === 'connect' && (words.length === 0 || (words.length === 2 && words[0] === '--profile'));
if (isPlainConnect) void runConnect(words[1]);
else void import('./command-line.ts');

async function runConnect(profile: string | undefined): Promise<void> {
  const { env, platform, stdin, stdout } = process;
  const code = await connect({
    ...{ env, home: homedir(), platform, cwd: process.cwd(), profile, input: stdin, output: stdout },
    program: { command: process.execPath, args: [process.argv[1] ?? '', 'serve', '--until-idle'] },
    warn: (sentence) => process.stderr.write(`${sentence}\n`),
  });
  // Not before the last answer is written; the client's end of stdin may still be open.
  stdout.write('', () => process.exit(code));
}
