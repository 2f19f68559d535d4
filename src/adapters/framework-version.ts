// Owns the answer to a framework of a version that no test has seen: it is refused with the versions that are known to work.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const checked = new Set<string>();

/**
 * Reads the version that is installed beside `from`; a package that cannot be found there is left to the host. `versions` are
 * majors, majors with their first minor, or `0.` with the minor, which is what may break before a first major.
 */
export function checkFramework(name: string, versions: readonly string[], from: string = import.meta.url): void {
  const key = `${name} ${from}`;
  if (checked.has(key)) return;
  const version = installedVersion(name, from);
  if (version !== undefined && !versions.some((known) => isWithin(version, known)))
    throw new TypeError(
      `This adapter is known to work with ${name} ${versions.join(' and ')}; version ${version} is installed. ` +
        `Install one of those: npm install ${name}@${versions.at(-1)}`,
    );
  checked.add(key);
}

function isWithin(version: string, known: string): boolean {
  const [major, minor = 0] = numbersOf(version);
  const [knownMajor, firstMinor = 0] = numbersOf(known);
  return major === knownMajor && (major === 0 ? minor === firstMinor : minor >= firstMinor);
}

const numbersOf = (version: string) => version.split('.').map(Number);

/** Looked for by hand: few packages let `package.json` be imported. */
function installedVersion(name: string, from: string): string | undefined {
  for (const folder of createRequire(from).resolve.paths(name) ?? []) {
    const version = versionIn(join(folder, name, 'package.json'));
    if (version !== undefined) return version;
  }
  return undefined;
}

function versionIn(path: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { readonly version?: unknown };
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
