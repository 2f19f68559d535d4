// Owns reading an answer to `resources/read`: its parts, with text unchanged and bytes in valid base64.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { ResourceContents, ResourcePart } from '../../model/resource.ts';
import { isPlain } from './resource-definition.ts';

/** A broken part is left out and reported; if all parts are broken the answer is refused. */
export function contentsOf(result: JsonObject, server: ServerName, uri: string): ResourceContents {
  const broken = (problem: string) => new RuntimeError('ANSWER_BROKEN', { server, what: 'resources/read', problem });
  const { contents: listed } = result;
  if (!Array.isArray(listed)) throw broken('it holds no list of contents');
  const contents: ResourcePart[] = [];
  const problems: string[] = [];
  for (const [index, item] of listed.slice(0, limits.listItems).entries()) {
    const part = partOf(item, uri);
    if (typeof part === 'string') problems.push(`part ${index + 1} was left out: ${part}`);
    else contents.push(part);
  }
  if (listed.length > limits.listItems) problems.push(`of ${listed.length} parts the first ${limits.listItems} count`);
  const [problem] = problems;
  if (contents.length === 0 && problem !== undefined) throw broken(problem);
  return { server, uri, contents, problems: problems.slice(0, limits.listProblems) };
}

function partOf(item: unknown, asked: string): ResourcePart | string {
  if (!isObject(item)) return 'it is not an object';
  const { uri, mimeType, text, blob } = item;
  const about = {
    uri: typeof uri === 'string' && isPlain(uri, limits.resourceDefinition.uriChars) ? uri : asked,
    ...(typeof mimeType === 'string' && isPlain(mimeType, limits.nameChars) && { mimeType }),
  };
  if (typeof text === 'string') return { ...about, text };
  if (typeof blob !== 'string') return 'it has neither text nor bytes';
  const base64 = soundBase64(blob);
  return base64 === undefined ? 'its bytes are not base64' : { ...about, blob: base64 };
}

/** Accepts line breaks, the URL alphabet and missing padding; gives standard base64. */
function soundBase64(text: string): string | undefined {
  const joined = /\s/.test(text) ? text.replace(/\s+/g, '') : text;
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(joined)) return undefined;
  const bare = joined.replace(/=+$/, '');
  if (bare.length % 4 === 1) return undefined;
  const isPlainBase64 = joined.length % 4 === 0 && !/[_-]/.test(joined);
  return isPlainBase64 ? joined : Buffer.from(bare, 'base64').toString('base64');
}
