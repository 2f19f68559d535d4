// Owns the answer to a framework of a version that no test has seen: it is refused with the versions that are known to work.

import { createRequire } from 'node:module';

const checked = new Set<string>();

/** Reads the version that is installed beside `from`; a package that cannot be found there is left to the host. */
export function checkFramework(name: string, majors: readonly string[], from: string = import.meta.url): void {
  const key = `${name} ${from}`;
  if (checked.has(key)) return;
  const version = installedVersion(name, from);
  if (version !== undefined && !majors.includes(version.split('.')[0] ?? ''))
    throw new TypeError(
      `This adapter is known to work with ${name} ${majors.join(' and ')}; version ${version} is installed. ` +
        `Install one of those: npm install ${name}@${majors.at(-1)}`,
    );
  checked.add(key);
}

function installedVersion(name: string, from: string): string | undefined {
  try {
    const { version } = createRequire(from)(`${name}/package.json`) as { readonly version?: unknown };
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
