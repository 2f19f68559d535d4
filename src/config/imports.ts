// Owns reading other agents' files: which apps are wanted, and each file of theirs once per app.

import { nearest } from '../kernel/nearest.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { limits } from '../model/limits.ts';
import type { Importer } from './importers/importer.ts';
import { importers } from './importers/importers.ts';
import { type ReadDocument, type Remembered, readRemembering } from './read-document.ts';
import type { Settings } from './schema.ts';
import type { FilePlace, HostEnvironment } from './scopes.ts';

export interface ImportFile {
  readonly importer: Importer;
  readonly place: FilePlace;
  readonly read: ReadDocument;
}

export interface ChosenApps {
  readonly chosen: readonly Importer[];
  readonly diagnostics: readonly Diagnostic[];
}

export function chooseApps(wanted: Settings['import']): ChosenApps {
  if (wanted === 'off') return { chosen: [], diagnostics: [] };
  if (wanted === 'auto') return { chosen: importers, diagnostics: [] };
  const known = importers.map(({ app }) => app);
  return {
    chosen: importers.filter(({ app }) => wanted.includes(app)),
    diagnostics: wanted.filter((app) => !known.includes(app)).map((app) => unknownApp(app, known)),
  };
}

function unknownApp(app: string, known: readonly string[]): Diagnostic {
  const guesses = nearest(app, known, limits.suggestions);
  return {
    severity: 'warning',
    code: 'CONFIG_INVALID',
    message: `"import" names "${app}", which is no app that servers can be imported from`,
    remedy: guesses.length > 0 ? `Did you mean "${guesses.join('" or "')}"?` : `Known are: ${known.join(', ')}.`,
  };
}

/** Every file that exists, strongest first. */
export async function readImports(
  apps: readonly Importer[],
  environment: HostEnvironment & { readonly remembered?: Remembered | undefined },
): Promise<readonly ImportFile[]> {
  const candidates = apps.flatMap((importer) =>
    importer.places(environment).map(({ file, inWorkspace }) => ({
      importer,
      place: {
        scope: 'imported' as const,
        file,
        provider: importer.title,
        ...(inWorkspace && { inWorkspace: true as const }),
      },
    })),
  );
  const read = await Promise.all(
    candidates.map(async (candidate) => ({
      ...candidate,
      read: await readRemembering(candidate.place.file, environment.remembered, candidate.place),
    })),
  );
  const identified = read.map((each) => ({ ...each, identity: identityOf(each) }));
  const own = new Map(identified.filter(({ place }) => !place.inWorkspace).map((each) => [each.identity, each.place]));
  // One file may serve two apps under different keys, so it counts once for each; a broken file is reported once.
  const seen = new Set<string>();
  return identified.flatMap(({ importer, place, read: found, identity }) => {
    const use = found.kind === 'document' ? `${importer.app}\0${identity}` : identity;
    if (found.kind === 'absent' || seen.has(use)) return [];
    seen.add(use);
    return [{ importer, read: found, place: asOwn(place, own.get(identity)) }];
  });
}

const identityOf = ({ read, place }: Pick<ImportFile, 'read' | 'place'>) =>
  read.kind === 'document' ? read.identity : place.file;

/** The user's own file stays the user's: a repository could hold a link to it, and the home folder may be the workspace. */
function asOwn(place: FilePlace, own: FilePlace | undefined): FilePlace {
  if (own === undefined || !place.inWorkspace) return place;
  const { inWorkspace: _, ...rest } = place;
  return { ...rest, file: own.file };
}
