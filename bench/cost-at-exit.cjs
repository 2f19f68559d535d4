// Owns telling what a process has cost: required before the program, it prints the microseconds of CPU and the bytes of memory on stderr
// at the end.

process.once('exit', () => {
  const { user, system } = process.cpuUsage();
  require('node:fs').writeSync(2, `cpu ${user + system}\nrss ${process.memoryUsage.rss()}\n`);
});
