#!/usr/bin/env node
// Owns the program `plexus`: it runs the command line in this process. Everything else is `main.ts`'s.

import { processIo, runCli } from './main.ts';

process.exitCode = await runCli(process.argv.slice(2), processIo());
