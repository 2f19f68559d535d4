// Owns where adapters and the programs of `examples/` find their frameworks: in this folder, as they would in a project of their own. For
// `node --import`, with Node 24.

import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
      return next(specifier, { ...context, parentURL: import.meta.url });
    }
  },
});
