// Owns running the command line of this process: `bin.ts` loads it once a command is to run. It exports nothing, so that the build
// keeps the parts of a start in few files.

import { runProcess } from './main.ts';

process.exitCode = await runProcess();
