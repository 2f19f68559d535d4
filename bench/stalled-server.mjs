// Owns a server that hears everything and never answers. It goes when its input ends.

process.stdin.resume().on('end', () => process.exit());
