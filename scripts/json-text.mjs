// Owns how the build carries tables: a JSON file becomes one string for `JSON.parse`, which V8 only skips when it reads the file
// and parses faster than an object literal.

const JSON_FILE = /\.json$/;
const DEFAULT_ONLY = 'package.json';

/** A plugin of the bundler. */
export function jsonText() {
  return {
    name: 'json-text',
    transform: {
      order: 'pre',
      filter: { id: JSON_FILE },
      handler: (code, id) =>
        id.endsWith(DEFAULT_ONLY)
          ? null
          : {
              code: `export default JSON.parse(${quoted(JSON.stringify(JSON.parse(code)))});`,
              moduleType: 'js',
              map: null,
            },
    },
  };
}

const quoted = (text) =>
  `'${text.replace(/[\\']/g, '\\$&').replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`)}'`;
