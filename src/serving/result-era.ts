// Owns how one result or error of a service is worded in each era.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { codes, metaKeys, ProtocolError } from './protocol.ts';
import type { Implementation } from './service.ts';

/** Results that a modern client may cache, if we say for how long. */
const CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/** A service that says nothing about caching means: not at all. */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' };

export function modernResult(method: string, result: JsonObject, info: Implementation): JsonObject {
  const { _meta: meta } = result;
  const hints = CACHEABLE.has(method) && result['resultType'] !== 'input_required' ? UNCACHED : undefined;
  return {
    resultType: 'complete',
    ...hints,
    ...result,
    _meta: { ...(isObject(meta) ? meta : undefined), [metaKeys.serverInfo]: info },
  };
}

/** Without the words of the modern era; structured content and output schemas that are no objects cannot be told. */
export function legacyResult(method: string, result: JsonObject): JsonObject {
  if (!isModernInPart(method, result)) return result;
  const { resultType: _, ttlMs: __, cacheScope: ___, structuredContent, _meta: meta, ...others } = result;
  const kept: JsonObject = {
    ...others,
    ...(isObject(structuredContent) && { structuredContent }),
    ...(isObject(meta) && metaWithoutServer(meta)),
  };
  if (method === 'tools/list' && Array.isArray(kept['tools']))
    return { ...kept, tools: kept['tools'].map(withoutOddOutput) };
  return kept;
}

/** A modern server names itself in every result; clients of the older era know it from `initialize`, and some show `_meta` to their model. */
function metaWithoutServer({ [metaKeys.serverInfo]: _, ...others }: JsonObject): JsonObject {
  return Object.keys(others).length > 0 ? { _meta: others } : {};
}

function isModernInPart(method: string, result: JsonObject): boolean {
  return (
    method === 'tools/list' ||
    'resultType' in result ||
    'ttlMs' in result ||
    'cacheScope' in result ||
    (isObject(result['_meta']) && metaKeys.serverInfo in result['_meta']) ||
    ('structuredContent' in result && !isObject(result['structuredContent']))
  );
}

function withoutOddOutput(tool: unknown): unknown {
  if (!isObject(tool) || tool['outputSchema'] === undefined) return tool;
  const { outputSchema, ...others } = tool;
  return isObject(outputSchema) && outputSchema['type'] === 'object' ? tool : others;
}

/** -32002 is the older code for an unknown resource. */
export function modernError(error: ProtocolError): ProtocolError {
  if (error.code !== codes.resourceNotFound) return error;
  const { status } = error;
  return new ProtocolError(codes.invalidParams, error.message, error.data, status === undefined ? {} : { status });
}
