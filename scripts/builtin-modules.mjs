// Owns how the build loads Node's own modules: by `process.getBuiltinModule`, not by `import`. An import of `node:crypto` also
// runs its getters, which load all of Web Crypto; for the modules of a start this costs 3 ms of 60.

const IMPORT = /\bimport\s*(\*\s*as\s+[\w$]+|\{[^}]*\}|[\w$]+(?:\s*,\s*\{[^}]*\})?)\s*from\s*["'](node:[\w/]+)["'];?/g;

/** A plugin of the bundler. */
export function builtinModules() {
  return {
    name: 'builtin-modules',
    renderChunk: { order: 'post', handler: (code, { fileName }) => (isTypes(fileName) ? null : rewritten(code)) },
  };
}

/** Declarations are built by the same bundler, and need their imports. */
const isTypes = (fileName) => fileName.endsWith('.d.ts');

const rewritten = (code) => ({ code: code.replace(IMPORT, asConstants), map: null });

function asConstants(_, names, module) {
  const loaded = `process.getBuiltinModule(${JSON.stringify(module)})`;
  const [, namespace] = /^\*\s*as\s+([\w$]+)$/.exec(names) ?? [];
  if (namespace !== undefined) return `const ${namespace}=${loaded};`;
  const [, own, braces = ''] = /^([\w$]+)?(?:\s*,\s*)?(\{[^}]*\})?$/.exec(names);
  const parts = [];
  if (own !== undefined) parts.push(`${own}=${loaded}`);
  if (braces !== '') parts.push(`${braces.replace(/\s+as\s+/g, ':')}=${loaded}`);
  return `const ${parts.join(',')};`;
}
