// Owns recognizing arguments in a query by their shape, such as a web address, a path or a date. Their own words say nothing about a
// tool; that the query has such an argument says that the tool takes one.

interface Shape {
  readonly pattern: RegExp;
  /** The usual name of a parameter that takes such a value. */
  readonly word: string;
}

const month = '(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*';
const day = '\\d{1,2}(?:st|nd|rd|th)?';

const shapes: readonly Shape[] = [
  { word: 'url', pattern: /\bhttps?:\/\/\S+|\bwww\.\S+/gi },
  { word: 'email', pattern: /[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}/g },
  { word: 'path', pattern: /(?<![\w/])(?:~|\.{1,2})?(?:\/[\w.-]{1,255}){2,}\/?|\b[A-Z]:\\\S+/g },
  { word: 'ip', pattern: /\b\d{1,3}(?:\.\d{1,3}){3}\b/g },
  { word: 'date', pattern: /\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\b\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b/g },
  { word: 'date', pattern: new RegExp(`\\b(?:${day}(?: of)? ${month}|${month} ${day})\\b(?:,? \\d{4})?`, 'gi') },
  {
    word: 'date',
    pattern: /\b(?:today|tomorrow|tonight|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend)\b/gi,
  },
  { word: 'time', pattern: /\b\d{1,2}(?::\d{2})? ?[ap]\.?m\b\.?|\b\d{1,2}:\d{2}\b/gi },
];

export interface ShapedQuery {
  /** The query without these arguments; a path leaves the kind of its file. */
  readonly text: string;
  /** The parameters that would take them, each once. */
  readonly parameters: readonly string[];
}

export function takeShapes(query: string): ShapedQuery {
  const parameters = new Set<string>();
  let text = query;
  for (const { word, pattern } of shapes) {
    text = text.replace(pattern, (found) => {
      parameters.add(word);
      const kind = word === 'path' ? /\.([a-z]\w{0,4})$/i.exec(found)?.[1] : undefined;
      return kind === undefined ? ' ' : ` file ${kind} `;
    });
  }
  return { text, parameters: [...parameters] };
}
