// Owns how built code reaches Node's own modules. An `import` of one makes Node read every property that it exports, and some of
// them load further modules: of `node:util` and `node:fs` alone that costs as much as a sixth of an empty process.

const IMPORT = /^import (?:(\w+|\* as \w+)(?:, )?)?(\{[^}]*\})? from "(node:[\w/]+)";$/gm;

/** A plugin that takes Node's modules from `process.getBuiltinModule`, which reads nothing. */
export function builtinModules() {
  return { name: 'builtin-modules', renderChunk: (code) => ({ code: withoutImports(code), map: null }) };
}

export function withoutImports(code) {
  return code.replace(IMPORT, (_, whole, named, name) => {
    const taken = `globalThis.process.getBuiltinModule("${name}")`;
    return [
      whole && `const ${whole.replace('* as ', '')} = ${taken};`,
      named && `const ${named.replace(/(\w+) as (\w+)/g, '$1: $2')} = ${taken};`,
    ]
      .filter(Boolean)
      .join(' ');
  });
}
