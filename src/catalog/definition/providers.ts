// Owns which parts of JSON Schema each model provider accepts. One schema that a provider cannot read makes it refuse the whole
// request, so where reports differ the stricter one counts.

/** `any` stands for what all providers accept. */
export type Provider = 'any' | 'anthropic' | 'openai' | 'google';

export interface Dialect {
  /** Why something is not shown; the end of a sentence. */
  readonly refusal: string;
  /** If given, only these keywords, in the shapes of OpenAPI: one type, `nullable`, enums of texts, `anyOf` alone. */
  readonly keywords: ReadonlySet<string> | undefined;
  /** The pattern for names of a tool's own parameters; names within a parameter are free. */
  readonly parameterName: RegExp | undefined;
  /** An array must have `items`. */
  readonly needsItems: boolean;
  /** The root must have `properties`, even if empty. */
  readonly needsProperties: boolean;
  /** Keywords refused at the root, besides `anyOf`, `oneOf` and `allOf`, which no provider accepts there. */
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

/** The formats of the OpenAPI subset; some providers refuse any other. */
export const openApiFormats: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

/** Regular expression syntax that not every provider's engine knows: named groups, property classes, inline flags. */
const ownSyntax = /\\[pPkcN]|\\u\{|\(\?(?![:=!<])|\(\?<(?![=!])|[*+?}]\+/;
/** A hostile pattern can take an engine quadratic time only to be parsed; real patterns are shorter than this. */
const MOST_PATTERN_CHARS = 2_000;
const lookaround = /\(\?<?[=!]|\\[1-9]/;

/** Whether the provider's engine accepts the pattern; that of the OpenAPI subset has no lookaround and no back references. */
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
