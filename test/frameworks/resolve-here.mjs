// Owns finding frameworks in `test/frameworks`, wherever the importing file is: adapters and examples then use the very packages that
// the tests drive, as in a host's project. Two copies of LangChain would be two sets of classes. For `node --import`.

import { registerHooks } from 'node:module';

const frameworks = /^(ai|langchain|@ai-sdk|@langchain)(\/|$)/;

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, frameworks.test(specifier) ? { ...context, parentURL: import.meta.url } : context),
});
