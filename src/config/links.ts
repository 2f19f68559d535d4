// Owns what is told about a file of the workspace that is a link to one outside of it: that something is wrong, and nothing of
// its content. A repository could link to any file of the person's, and diagnostics end up in logs.

import { realPath } from '../kernel/real-path.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Layer } from './layer.ts';
import { type ConfigPlace, type HostEnvironment, isWithin } from './scopes.ts';

/** Follows links only where there is something to tell. */
export function withoutForeignQuotes(
  layer: Layer,
  { file, inWorkspace }: ConfigPlace,
  environment: Pick<HostEnvironment, 'cwd' | 'platform'>,
): Layer {
  if (!inWorkspace || file === undefined || layer.diagnostics.length === 0) return layer;
  if (!leadsOut(file, environment)) return layer;
  const [first] = layer.diagnostics;
  const told = first && withoutQuote(first, layer.diagnostics.length);
  return {
    ...layer,
    ...(layer.capped && { capped: withoutQuote(layer.capped) }),
    claims: layer.claims.map((claim) =>
      'diagnostic' in claim ? { ...claim, diagnostic: withoutQuote(claim.diagnostic) } : claim,
    ),
    diagnostics: told ? [told] : [],
  };
}

function withoutQuote({ severity, code, file, line, column }: Diagnostic, count = 1): Diagnostic {
  const what = count === 1 ? 'something in the file is wrong' : `${count} things in the file are wrong`;
  return {
    severity,
    code,
    message: `${what}; it is a link out of the workspace, so nothing of it is quoted`,
    remedy: 'Put the file itself there, or correct the file that the link leads to.',
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  };
}

/** A path whose links cannot be read may lead anywhere. */
function leadsOut(file: string, { cwd, platform }: Pick<HostEnvironment, 'cwd' | 'platform'>): boolean {
  const [from, to] = [realPath(cwd), realPath(file)];
  return from === undefined || to === undefined || !isWithin(from, to, platform);
}
