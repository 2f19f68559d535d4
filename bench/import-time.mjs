// Owns how long an import takes, told from within: prints the milliseconds for all modules named on the command line.

const from = performance.now();
await Promise.all(process.argv.slice(2).map((specifier) => import(specifier)));
process.stdout.write(String(performance.now() - from));
