#!/usr/bin/env node
// Owns the program `plexus`: it runs the command line in this process. Everything else is `main.ts`'s.

import { homedir } from 'node:os';
import { enableCompileCache } from './compile-cache.ts';

enableCompileCache({ home: homedir(), env: process.env, platform: process.platform });
// Imported only now, so that its compiled code is kept.
const { processIo, runCli } = await import('./main.ts');
process.exitCode = await runCli(process.argv.slice(2), processIo());
