// Owns where adapters and the programs of `examples/` find their frameworks: in this folder, as they would in a project of their own. For
// `node --import`, with Node 24. LangChain also lies in the root, for the types: two copies of it would be two sets of classes.

import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    const here = () => next(specifier, { ...context, parentURL: import.meta.url });
    if (specifier.startsWith('@langchain/')) return here();
    try {
      return next(specifier, context);
    } catch (error) {
      if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
      return here();
    }
  },
});
