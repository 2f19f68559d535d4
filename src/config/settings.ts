// Owns the settings of Plexus itself: what one file says of them, whether it may say it, and which file's word counts.

import type { Provenance } from '../model/server.ts';
import { checkEach } from './check.ts';
import type { KeyPath } from './config-map.ts';
import { type ReportProblem, readSection } from './file-problems.ts';
import { labelOf, within } from './problem.ts';
import {
  connectConcurrencySchema,
  plexusSchema,
  projectSchema,
  resultsSchema,
  type Settings,
  startupSchema,
} from './schema.ts';
import { provenanceOf, type SourceOrigin } from './servers.ts';
import { vocabularies } from './vocabulary.ts';

/** One setting as one file has it. */
export interface SettingClaim {
  /** Canonical, as in `startup.gateMs`. */
  readonly key: string;
  readonly value: unknown;
  readonly provenance: Provenance;
}

/** What any file may say, because it only ever takes away. */
const tighteningSettings = new Set(['disabledServers']);

/** What says which files are read at all: it cannot stand in one of those, whoever approved it. */
const fileSwitches = new Set(['enabled', 'project.enabled']);

const sections = {
  startup: startupSchema,
  project: projectSchema,
  connectConcurrency: connectConcurrencySchema,
  results: resultsSchema,
} as const;

/** How the person's own program behaves is not a repository's to say, unless the person agreed. */
export function readSettings(value: unknown, origin: SourceOrigin, report: ReportProblem): readonly SettingClaim[] {
  const base: KeyPath = ['plexus'];
  const top = readSection(value, base, vocabularies.plexus, report);
  const isSection = (key: string): key is keyof typeof sections => Object.hasOwn(sections, key);
  const own = Object.fromEntries(Object.entries(top.fields).filter(([key]) => !isSection(key)));
  const claims = [
    ...readPart({ ...top, fields: own }, plexusSchema, base),
    ...Object.keys(top.fields)
      .filter(isSection)
      .flatMap((key) => {
        const path = [...base, top.writtenAs.get(key) ?? key];
        return readPart(readSection(top.fields[key], path, vocabularies[key], report), sections[key], path, `${key}.`);
      }),
  ];
  const isOwn = origin.mayLoosen && !origin.inWorkspace;
  const allowed = claims.filter(({ key }) =>
    fileSwitches.has(key) ? isOwn : origin.mayLoosen || tighteningSettings.has(key),
  );
  for (const { key, provenance, value } of claims.filter((claim) => !allowed.includes(claim))) {
    const label = labelOf(provenance.key);
    const isForOwn = fileSwitches.has(key);
    report({
      severity: 'warning',
      ...(!isForOwn && { loosens: `${label} = ${JSON.stringify(value)}` }),
      path: provenance.key,
      message: `a file in the workspace cannot set ${label}, so this is ignored`,
      remedy: isForOwn
        ? 'Set it in your own file.'
        : 'Set it in your own file, or approve this one as it is: plexus approve --policy',
    });
  }
  return allowed;

  function readPart(
    read: ReturnType<typeof readSection>,
    schema: Parameters<typeof checkEach>[1],
    path: KeyPath,
    prefix = '',
  ): SettingClaim[] {
    const { fields, problems } = checkEach(read, schema);
    report(...problems.map((problem) => within(path, problem)));
    return Object.entries(fields).map(([key, said]) => ({
      key: prefix + key,
      value: said,
      provenance: provenanceOf(origin, [...path, read.writtenAs.get(key) ?? key]),
    }));
  }
}

export interface MergedSettings {
  readonly settings: Settings;
  /** Where each setting that is not a default comes from. */
  readonly origins: ReadonlyMap<string, Provenance>;
}

/** The strongest file's word counts; layers come strongest first. What only takes away is joined from all of them. */
export function mergeSettings(layers: readonly (readonly SettingClaim[])[]): MergedSettings {
  const merged = new Map<string, SettingClaim>();
  for (const claim of layers.flat()) {
    const before = merged.get(claim.key);
    if (before === undefined) merged.set(claim.key, claim);
    else if (tighteningSettings.has(claim.key))
      merged.set(claim.key, { ...before, value: [before.value, claim.value].flat() });
  }
  const written: Record<string, unknown> = {};
  for (const { key, value } of merged.values()) {
    const [section = '', inner] = key.split('.');
    if (inner === undefined) written[section] = value;
    else written[section] = { ...Object(written[section]), [inner]: value };
  }
  const origins = new Map([...merged].map(([key, { provenance }]) => [key, provenance]));
  return { settings: plexusSchema.parse(written), origins };
}
