// Owns how much of a tool's result the model reads: by the tool's own settings, by its server's, or by the tool's own `_meta` where
// its annotations are trusted.

import { isObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { ServerSettings, ToolSettings } from '../model/server.ts';
import type { ToolDefinition } from '../model/tool.ts';
import type { ResultLimits } from '../shaping/truncate.ts';

type Settings = Pick<ServerSettings, 'maxResultChars' | 'maxResultTokens' | 'trustHints'>;
type OwnSettings = Pick<ToolSettings, 'maxResultChars' | 'maxResultTokens'>;

/** Builtin tools without a server have no settings. */
export function resultLimits(
  settings: Settings | undefined,
  own: OwnSettings,
  definition: ToolDefinition | undefined,
): ResultLimits {
  const { builtinResultChars } = limits;
  const { maxResultChars = builtinResultChars, maxResultTokens = builtinResultChars, trustHints } = settings ?? {};
  // The user's setting for the tool counts more than what the tool asks for.
  const asked = trustHints && definition && own.maxResultChars === undefined ? askedChars(definition) : 0;
  const chars = own.maxResultChars ?? Math.max(maxResultChars, asked);
  // The token limit grows with the character limit, or the larger text would be cut all the same.
  const growth = Math.max(1, asked / maxResultChars);
  return { chars, tokens: own.maxResultTokens ?? Math.ceil(maxResultTokens * growth) };
}

/** A tool can only ask for more characters, not for fewer. */
function askedChars({ _meta: meta }: ToolDefinition): number {
  const asked = isObject(meta) ? meta['anthropic/maxResultSizeChars'] : undefined;
  return typeof asked === 'number' && asked > 0 ? Math.min(Math.floor(asked), limits.askedResultChars) : 0;
}
