#!/usr/bin/env node
// Owns the program `plexus`: it runs the command line in this process, or `plexus connect`, which every agent of a machine starts
// and keeps, and which therefore loads nothing of the rest. Everything else is `main.ts`'s and `connect.ts`'s.

import { connect } from '../gateway/connect/connect.ts';
import { homeFolder } from '../kernel/home-folder.ts';

const [verb, ...words] = process.argv.slice(2);
const isPlainConnect = verb === 'connect' && (words.length === 0 || (words.length === 2 && words[0] === '--profile'));
if (isPlainConnect) void runConnect(words[1]);
else void import('./command-line.ts');

async function runConnect(profile: string | undefined): Promise<void> {
  const { env, platform, stdin, stdout } = process;
  const warn = (sentence: string) => process.stderr.write(`${sentence}\n`);
  let code = 1;
  try {
    code = await connect({
      ...{ env, home: homeFolder(), platform, cwd: process.cwd(), profile, input: stdin, output: stdout, warn },
      program: { command: process.execPath, args: [process.argv[1] ?? '', 'serve', '--until-idle'] },
    });
  } catch (error) {
    // The folder that it was started in is gone, or nobody knows the home folder of this account.
    warn(`plexus: ${error instanceof Error ? error.message : String(error)}`);
  }
  // Not before the last answer is written; the client's end of stdin may still be open.
  stdout.write('', () => process.exit(code));
}
