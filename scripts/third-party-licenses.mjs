// Owns the notices of the packages that the build takes in: their licenses travel with their code.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A plugin of the bundler: writes one file with the license of every package that ended up in a chunk. */
export function thirdPartyLicenses() {
  return {
    name: 'third-party-licenses',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds);
      const folders = [...new Set(modules.map(packageOf).filter((folder) => folder !== undefined))].sort();
      const source = folders.map(notice).join(`\n${'-'.repeat(80)}\n\n`);
      if (folders.length > 0) this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source });
    },
  };
}

function packageOf(id) {
  const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id) ?? [];
  return folder;
}

/** A package without a license file still names its license. */
function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
}
