// Owns the frameworks that the adapters are tested with: `test/frameworks/package.json` names their exact versions. Run by itself,
// it installs them; a former major of a package has its number behind the name (`openai-6`).

import { join } from 'node:path';
import { installPinned } from './pinned-packages.mjs';
import { root } from './setup.mjs';

const folder = join(root, 'test', 'frameworks');

/** Some frameworks declare Node 22; their tests are TypeScript, which Node 24 runs as it is. */
const NODE = 24;

/** Gives the path of that Node. */
export const installFrameworks = () =>
  installPinned(folder, { what: 'the frameworks of test/frameworks', needsNode: NODE });

if (process.argv[1] === import.meta.filename) installFrameworks();
