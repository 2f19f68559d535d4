// Owns how much of a tool's result the model reads: by the tool's own entry, by its server's, or by the word of a trusted tool.

import { isObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { ServerSettings, ToolSettings } from '../model/server.ts';
import type { ToolDefinition } from '../model/tool.ts';
import type { ResultLimits } from '../shaping/truncate.ts';

type Settings = Pick<ServerSettings, 'maxResultChars' | 'maxResultTokens' | 'trustHints'>;
type OwnSettings = Pick<ToolSettings, 'maxResultChars' | 'maxResultTokens'>;

/** Without settings of a server: for the runtime's own tools. */
export function resultLimits(
  settings: Settings | undefined,
  own: OwnSettings,
  definition: ToolDefinition | undefined,
): ResultLimits {
  const { builtinResultChars } = limits;
  const { maxResultChars = builtinResultChars, maxResultTokens = builtinResultChars, trustHints } = settings ?? {};
  // What a person writes of the tool counts more than what it says of itself.
  const asked = trustHints && definition && own.maxResultChars === undefined ? askedChars(definition) : 0;
  const chars = own.maxResultChars ?? Math.max(maxResultChars, asked);
  // More characters without more tokens would be no more to read.
  const growth = Math.max(1, asked / maxResultChars);
  return { chars, tokens: own.maxResultTokens ?? Math.ceil(maxResultTokens * growth) };
}

/** Only ever more: how little it may say is not for the tool to decide. */
function askedChars({ _meta: meta }: ToolDefinition): number {
  const asked = isObject(meta) ? meta['anthropic/maxResultSizeChars'] : undefined;
  return typeof asked === 'number' && asked > 0 ? Math.min(Math.floor(asked), limits.askedResultChars) : 0;
}
