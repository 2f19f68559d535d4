// Owns the tests of which versions of a framework an adapter refuses.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { checkFramework } from '../../../src/adapters/framework-version.ts';
import { createFolder } from '../../e2e/runtimes.ts';

function beside(version: unknown): string {
  const folder = createFolder();
  mkdirSync(join(folder, 'node_modules', 'ai'), { recursive: true });
  writeFileSync(join(folder, 'node_modules', 'ai', 'package.json'), JSON.stringify({ version }));
  return pathToFileURL(join(folder, 'host.js')).href;
}

test('a version that no test has seen is refused with those that are known to work', () => {
  expect(() => checkFramework('ai', ['6', '7'], beside('5.0.9'))).toThrow(
    'This adapter is known to work with ai 6 and 7; version 5.0.9 is installed. Install one of those: npm install ai@7',
  );
  for (const version of ['6.0.1', '7.0.0-beta.1', undefined]) checkFramework('ai', ['6', '7'], beside(version));
  for (const version of ['0.20.0', '0.20.7']) checkFramework('ai', ['0.20'], beside(version));
  expect(() => checkFramework('ai', ['0.20'], beside('0.2.0'))).toThrow('version 0.2.0 is installed');
  for (const version of ['1.2.0', '1.10.3']) checkFramework('ai', ['1.2'], beside(version));
  for (const version of ['1.1.9', '2.2.0'])
    expect(() => checkFramework('ai', ['1.2'], beside(version))).toThrow(`version ${version} is installed`);
  checkFramework('not-installed', ['1'], beside('5.0.9'));
});
