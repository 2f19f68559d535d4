// Owns the errors for a server or tool name that is not known: they suggest the nearest known names.

import { nearest } from '../kernel/nearest.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

export function serverUnknown(server: string, names: Iterable<string>): RuntimeError {
  return new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions) });
}

export function toolUnknown(name: string, names: Iterable<string>, because?: string): RuntimeError {
  const suggestions = nearest(name, names, limits.suggestions);
  return new RuntimeError('TOOL_UNKNOWN', { name, nearest: suggestions, ...(because !== undefined && { because }) });
}
