// Owns what each provider of models can read of a tool's input schema. One schema that it cannot read makes a provider
// refuse the whole request, so where reports differ the narrower one counts.

/** `any` is what all of them accept. */
export type Provider = 'any' | 'anthropic' | 'openai' | 'google';

export interface Dialect {
  /** Why something is not shown; ends a sentence. */
  readonly refusal: string;
  /** Only these keywords, in the shapes of OpenAPI: one type, `nullable`, enums of texts, `anyOf` alone. */
  readonly keywords: ReadonlySet<string> | undefined;
  /** What the names of a tool's own parameters must be; those within a parameter are free. */
  readonly parameterName: RegExp | undefined;
  /** An array must say what its items are. */
  readonly needsItems: boolean;
  /** The arguments must say which properties they have, even if none. */
  readonly needsProperties: boolean;
  /** What may not stand at the root, beside the forms (`anyOf`, `oneOf`, `allOf`) that nobody takes there. */
  readonly notAtRoot: readonly string[];
}

const parameterName = /^[a-zA-Z0-9_.-]{1,64}$/;

const openApi: ReadonlySet<string> = new Set([
  'anyOf',
  'default',
  'description',
  'enum',
  'example',
  'format',
  'items',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'nullable',
  'pattern',
  'properties',
  'propertyOrdering',
  'required',
  'title',
  'type',
]);

const notAtRoot = ['enum', 'const', 'not'];

export const dialects: Readonly<Record<Provider, Dialect>> = {
  any: {
    refusal: 'not every model can read it',
    keywords: openApi,
    parameterName,
    needsItems: true,
    needsProperties: true,
    notAtRoot,
  },
  anthropic: {
    refusal: 'models of Anthropic cannot read it',
    keywords: undefined,
    parameterName,
    needsItems: false,
    needsProperties: false,
    notAtRoot: [],
  },
  openai: {
    refusal: 'models of OpenAI cannot read it',
    keywords: undefined,
    parameterName: undefined,
    needsItems: true,
    needsProperties: true,
    notAtRoot,
  },
  google: {
    refusal: 'models of Google cannot read it',
    keywords: openApi,
    parameterName: undefined,
    needsItems: true,
    needsProperties: true,
    notAtRoot,
  },
};

/** The formats that the OpenAPI subset names; any other is refused by some of its readers. */
export const openApiFormats: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

/** What the engines of the providers agree on: no named groups, no classes by property, no inline flags. */
const ownSyntax = /\\[pPkcN]|\\u\{|\(\?(?![:=!<])|\(\?<(?![=!])|[*+?}]\+/;
/** Nobody reads longer ones, and a hostile one can take an engine the square of its length only to be parsed. */
const MOST_PATTERN_CHARS = 2_000;
const lookaround = /\(\?<?[=!]|\\[1-9]/;

/** Whether a reader's engine takes the pattern; the subset's engine knows no looking around and no references back. */
export function isPortablePattern(source: string, { keywords }: Dialect): boolean {
  if (source.length > MOST_PATTERN_CHARS) return false;
  if (ownSyntax.test(source) || (keywords !== undefined && lookaround.test(source))) return false;
  try {
    new RegExp(source);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
