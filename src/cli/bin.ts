#!/usr/bin/env node
// Owns the program `plexus`: it runs the command line in this process. Everything else is `main.ts`'s.

import { homedir } from 'node:os';
import { enableCompileCache } from './compile-cache.ts';
import { processIo, runCli } from './main.ts';

// What a command needs is loaded after this, and its compiled code is kept.
enableCompileCache({ home: homedir(), env: process.env, platform: process.platform });
process.exitCode = await runCli(process.argv.slice(2), processIo());
