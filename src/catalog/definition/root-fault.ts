// Owns refusing input schemas that no arguments can satisfy: arguments are always an object.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import { typeNameOf } from './keywords.ts';
import { isRemote, References, referenceIn } from './refs.ts';

/** The fault as the end of a sentence about the tool. A schema that can be repaired, or understood in any way, has none. */
export function faultOfRoot(inputSchema: JsonObject): string | undefined {
  return new RootCheck(inputSchema).faultOf(inputSchema, inputSchema, MOST_DEPTH);
}

/** How deep references and forms may nest at the root, and how many are visited: real schemas stay far below. */
const MOST_DEPTH = 16;
const MOST_VISITS = 500;

class RootCheck {
  readonly #references: References;
  #visitsLeft = MOST_VISITS;

  constructor(root: JsonObject) {
    this.#references = new References(root);
  }

  faultOf(schema: unknown, base: unknown, depthLeft: number): string | undefined {
    if (schema === false) return 'its inputSchema allows nothing';
    if (!isObject(schema) || --this.#visitsLeft < 0) return undefined;
    if (depthLeft === 0) return 'its inputSchema refers only to itself';
    return (
      faultOfType(schema) ??
      this.#faultOfReference(schema, base, depthLeft) ??
      this.#faultOfForms(schema, base, depthLeft)
    );
  }

  #faultOfReference(schema: JsonObject, base: unknown, depthLeft: number): string | undefined {
    const reference = referenceIn(schema);
    if (reference === undefined) return undefined;
    const found = this.#references.find(reference.address, base);
    if (found !== undefined) return this.faultOf(found.target, found.base, depthLeft - 1);
    return isRemote(reference.address)
      ? 'its inputSchema lies elsewhere, and references that lead out of a schema are not followed'
      : 'its inputSchema refers to a part that is not there';
  }

  /** Every schema of `allOf` must be satisfiable, and one each of `anyOf` and `oneOf`. */
  #faultOfForms({ allOf, anyOf, oneOf }: JsonObject, base: unknown, depthLeft: number): string | undefined {
    const faults = (forms: unknown) =>
      Array.isArray(forms) ? forms.map((form) => this.faultOf(form, base, depthLeft - 1)) : [];
    const [first] = faults(allOf).filter((fault) => fault !== undefined);
    if (first !== undefined) return first;
    for (const choice of [faults(anyOf), faults(oneOf)])
      if (choice.length > 0 && choice.every((fault) => fault !== undefined)) return choice[0];
    return undefined;
  }
}

function faultOfType({ type, enum: values }: JsonObject): string | undefined {
  const names = (Array.isArray(type) ? type : [type]).map(typeNameOf);
  if (type !== undefined && names.every((name) => name !== undefined && name !== 'object'))
    return `its inputSchema is of type ${names.join(' or ')}, and arguments are an object`;
  if (Array.isArray(values) && values.length > 0 && !values.some(isObject))
    return 'its inputSchema allows no object, and arguments are one';
  return undefined;
}
