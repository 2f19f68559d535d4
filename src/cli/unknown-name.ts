// Owns the errors for a server or tool name that is not known: they suggest the nearest known names.

import { nearest } from '../kernel/nearest.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Context } from './command.ts';
import { proposedCommand } from './proposed-command.ts';

export function serverUnknown(server: string, names: Iterable<string>, context: Pick<Context, 'values'>): RuntimeError {
  const listWith = proposedCommand(['list'], context);
  return new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions), listWith });
}

/** `listWith`: the command that shows the known names. */
export function toolUnknown(
  name: string,
  names: Iterable<string>,
  { because, listWith }: { readonly because?: string; readonly listWith?: string } = {},
): RuntimeError {
  return new RuntimeError('TOOL_UNKNOWN', {
    name,
    nearest: nearest(name, names, limits.suggestions),
    ...(because !== undefined && { because }),
    ...(listWith !== undefined && { listWith }),
  });
}
