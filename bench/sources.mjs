// Owns loading parts of the library that no package exports: each is built from its source, and nothing of it stays on the disk.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'tsdown';

/** Takes paths in `src` by name, and gives the modules by the same names. */
export async function importSources(paths) {
  const folder = await mkdtemp(join(tmpdir(), 'plexus-sources-'));
  const names = Object.keys(paths);
  const sources = names.map((name) => [name, fileURLToPath(new URL(`../src/${paths[name]}`, import.meta.url))]);
  try {
    await build({
      config: false,
      entry: Object.fromEntries(sources),
      outDir: folder,
      dts: false,
      logLevel: 'error',
      format: 'esm',
      platform: 'node',
      fixedExtension: true,
    });
    const modules = names.map((name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href));
    return Object.fromEntries((await Promise.all(modules)).map((each, at) => [names[at], each]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
