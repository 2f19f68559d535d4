// Owns what a person is told about one tool before calling it: its signature, its parameters, and a line to copy. `render/tool-page.ts`
// draws it.

import type { JsonObject } from '../kernel/json.ts';
import type { Tool, ToolAnnotations } from '../model/tool.ts';
import { type Parameter, type ParameterList, readParameters } from './parameters/parameters.ts';
import { sampleOf } from './parameters/sample.ts';
import { sampleWords, spell } from './parameters/spell.ts';
import { parameterText, typeText } from './parameters/type-text.ts';

export interface ShownParameter {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly default?: unknown;
  readonly description?: string;
  /** How a value of it is written, as a person types it. */
  readonly example: string;
}

export interface ToolPage {
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly title?: string;
  readonly description: string;
  readonly signature: string;
  readonly parameters: readonly ShownParameter[];
  /** The tool also takes parameters that its schema does not name. */
  readonly takesOthers: boolean;
  /** A line to copy, with everything that the tool requires. */
  readonly example: string;
  readonly annotations: ToolAnnotations;
  /** As the server sent them. */
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly reduced?: readonly string[];
}

/** `lineFor`: a line that calls the tool with these arguments. */
export function describeTool(
  { name, id, definition, reduced }: Tool,
  lineFor: (words: readonly string[]) => string,
): ToolPage {
  const { title, description = '', inputSchema, outputSchema, annotations = {} } = definition;
  const parameters = readParameters(inputSchema);
  return {
    name,
    ...id,
    ...(title !== undefined && { title }),
    description,
    signature: signatureOf(id.tool, parameters, outputSchema),
    parameters: parameters.known.map(shownParameter),
    takesOthers: parameters.others !== undefined,
    example: lineFor(sampleWords(parameters)),
    annotations,
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(reduced && { reduced }),
  };
}

export function signatureOf(tool: string, { known, others }: ParameterList, output: JsonObject | undefined): string {
  const inner = [...known.map(parameterText), ...(others === undefined ? [] : ['…'])];
  return `${tool}(${inner.join(', ')})${output ? `: ${resultText(output)}` : ''}`;
}

const LONGEST_RESULT = 60;

function resultText(schema: JsonObject): string {
  const { known: fields } = readParameters(schema);
  const text = typeText([{ type: 'object', schema, ...(fields.length > 0 && { fields }) }]);
  return text.length > LONGEST_RESULT ? 'object' : text;
}

function shownParameter(parameter: Parameter): ShownParameter {
  const { name, forms, isRequired, description, default: preset } = parameter;
  return {
    name,
    type: typeText(forms),
    required: isRequired,
    ...(preset !== undefined && { default: preset }),
    ...(description !== undefined && { description }),
    example: spell(name, sampleOf(parameter), forms),
  };
}
