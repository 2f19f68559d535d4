// Owns that the chunks hold no character above U+00FF: V8 keeps a source with a single one of them at two bytes a character,
// which for the files of a start is a megabyte.

const ABOVE = /(\\*)([^\0-\xff])/g;

/** A plugin of the bundler. Runs on what is written, since minifying would undo the escapes. */
export function latin1Chunks() {
  return {
    name: 'latin1-chunks',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle))
        if (chunk.type === 'chunk' && /\.c?js$/.test(chunk.fileName)) chunk.code = chunk.code.replace(ABOVE, escaped);
    },
  };
}

/** A backslash that stood before the character itself would otherwise escape that of the escape. */
function escaped(_, slashes, character) {
  const before = slashes.length % 2 === 0 ? slashes : slashes.slice(1);
  return `${before}\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
