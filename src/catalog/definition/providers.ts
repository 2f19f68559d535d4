// Owns which parts of JSON Schema each model provider accepts. One schema that a provider cannot read makes it refuse the whole
// request, so where reports differ the stricter one counts.

/** `any` stands for what all providers accept, also those that know only the OpenAPI subset. */
export type Provider = 'any' | 'anthropic' | 'openai' | 'google';
/** `unnamed` is for a model whose provider the host did not name: what both Anthropic and OpenAI accept. */
type DialectName = Provider | 'unnamed';

export interface Dialect {
  /** Why something is not shown; the end of a sentence. */
  readonly refusal: string;
  /** If given, only these keywords, in the shapes of OpenAPI: one type, `nullable`, enums of texts, `anyOf` alone. */
  readonly keywords: ReadonlySet<string> | undefined;
  /** The pattern for names of a tool's own parameters; names within a parameter are free. */
  readonly parameterName: RegExp | undefined;
  /** Whether patterns may look around and refer back. OpenAI refuses the whole request for one, also without `strict`. */
  readonly looksAround: boolean;
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

/** Not for strict modes: those also want every parameter to be required, so hosts that use one convert schemas themselves. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  unnamed: {
    refusal: 'not every model can read it',
    keywords: undefined,
    parameterName,
    looksAround: false,
    needsItems: true,
    needsProperties: true,
    notAtRoot,
  },
  any: {
    refusal: 'not every model can read it',
    keywords: openApi,
    parameterName,
    looksAround: false,
    needsItems: true,
    needsProperties: true,
    notAtRoot,
  },
  anthropic: {
    refusal: 'models of Anthropic cannot read it',
    keywords: undefined,
    parameterName,
    looksAround: true,
    needsItems: false,
    needsProperties: false,
    notAtRoot: [],
  },
  openai: {
    refusal: 'models of OpenAI cannot read it',
    keywords: undefined,
    parameterName: undefined,
    looksAround: false,
    needsItems: true,
    needsProperties: true,
    notAtRoot,
  },
  google: {
    refusal: 'models of Google cannot read it',
    keywords: openApi,
    parameterName: undefined,
    looksAround: false,
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

/** Whether the provider's engine accepts the pattern. */
export function isPortablePattern(source: string, { looksAround }: Dialect): boolean {
  if (source.length > MOST_PATTERN_CHARS) return false;
  if (ownSyntax.test(source) || (!looksAround && lookaround.test(source))) return false;
  try {
    new RegExp(source);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
