// Owns the settings of Plexus itself: reading them from one file, whether that file may set them, and merging them from all
// files.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { Provenance } from '../model/server.ts';
import { checkEach } from './check.ts';
import type { KeyPath } from './config-map.ts';
import { type ReportProblem, readSection } from './file-problems.ts';
import { labelOf, within } from './problem.ts';
import type { SectionName, Settings } from './schema.ts';
import { isReference, literalSecret } from './secret-reference.ts';
import { complete } from './sections.ts';
import { provenanceOf, type SourceOrigin } from './servers.ts';
import { vocabularies } from './vocabulary.ts';

/** One setting of one file. */
export interface SettingClaim {
  /** The canonical key, such as `startup.gateMs`. */
  readonly key: string;
  readonly value: unknown;
  readonly provenance: Provenance;
}

/** Settings that any file may set, because they only ever take servers away. */
const tighteningSettings = new Set(['disabledServers']);

/** Budgets of the agent: a file in the workspace can lower them, and never raise them, even when it is approved. */
const budgets = new Set(['agent.maxSteps', 'agent.maxTokens', 'agent.maxTimeMs']);

/**
 * Settings that decide which files are read at all, and to whom a conversation is sent: a file in the workspace cannot set them,
 * even when it is approved.
 */
const isOwnOnly = (key: string) =>
  key === 'enabled' || key === 'project.enabled' || (key.startsWith('agent.') && !budgets.has(key));

/** Settings that are sections of their own, each under its key. */
const sections = ['startup', 'project', 'connectConcurrency', 'results', 'trust', 'serving', 'agent'] as const;

/** A repository cannot decide how Plexus behaves, unless the user approved its file. */
export function readSettings(value: unknown, origin: SourceOrigin, report: ReportProblem): readonly SettingClaim[] {
  const base: KeyPath = ['plexus'];
  const top = readSection(value, base, vocabularies.plexus, report);
  const isSection = (key: string): key is (typeof sections)[number] => sections.some((section) => section === key);
  const own = Object.fromEntries(Object.entries(top.fields).filter(([key]) => !isSection(key)));
  const claims = [
    ...readPart({ ...top, fields: own }, 'plexus', base),
    ...Object.keys(top.fields)
      .filter(isSection)
      .flatMap((key) => {
        const path = [...base, top.writtenAs.get(key) ?? key];
        return readPart(readSection(top.fields[key], path, vocabularies[key], report), key, path, `${key}.`);
      }),
  ];
  const isOwn = origin.mayLoosen && !origin.inWorkspace;
  const allowed = claims.filter(({ key }) => {
    if (isOwnOnly(key)) return isOwn;
    return origin.mayLoosen || tighteningSettings.has(key) || budgets.has(key);
  });
  for (const { key, provenance, value } of claims.filter((claim) => !allowed.includes(claim))) {
    const label = labelOf(provenance.key);
    report({
      severity: 'warning',
      ...(!isOwnOnly(key) && { loosens: `${label} = ${JSON.stringify(value)}` }),
      path: provenance.key,
      message: `a file in the workspace cannot set ${label}, so this is ignored`,
      remedy: isOwnOnly(key)
        ? IN_OWN_FILE
        : 'Set it in your own file, or approve this one as it is: plexus approve --policy',
    });
  }
  const literal = allowed.find(({ key, value }) => key === 'agent.key' && !isReference(String(value)));
  if (literal) report(literalSecret(literal.provenance.key.map(String)));
  return allowed.filter((claim) => claim !== literal);

  function readPart(
    read: ReturnType<typeof readSection>,
    section: SectionName,
    path: KeyPath,
    prefix = '',
  ): SettingClaim[] {
    const { fields, problems } = checkEach(read, section);
    report(...problems.map((problem) => within(path, problem)));
    return Object.entries(fields).map(([key, setting]) => ({
      key: prefix + key,
      value: setting,
      provenance: provenanceOf(origin, [...path, read.writtenAs.get(key) ?? key]),
    }));
  }
}

const IN_OWN_FILE = 'Set it in your own file.';

export interface MergedSettings {
  readonly settings: Settings;
  /** The source of each setting that is not a default. */
  readonly origins: ReadonlyMap<string, Provenance>;
  /** Budgets of workspace files that are above what counts without them; they are ignored. */
  readonly raised: readonly SettingClaim[];
}

/**
 * The strongest file decides; layers come strongest first. Tightening settings are joined from all files, and of the budgets that
 * the workspace sets the lowest counts.
 */
export function mergeSettings(layers: readonly (readonly SettingClaim[])[]): MergedSettings {
  const merged = new Map<string, SettingClaim>();
  const isLowering = ({ key, provenance }: SettingClaim) => budgets.has(key) && provenance.inWorkspace === true;
  for (const claim of layers.flat().filter((each) => !isLowering(each))) {
    const before = merged.get(claim.key);
    if (before === undefined) merged.set(claim.key, claim);
    else if (tighteningSettings.has(claim.key))
      merged.set(claim.key, { ...before, value: [before.value, claim.value].flat() });
  }
  const lowering = layers.flat().filter(isLowering);
  const raised = lowering.filter(({ key, value }) => Number(value) > Number(merged.get(key)?.value ?? defaultOf(key)));
  for (const claim of lowering) {
    const counting = Number(merged.get(claim.key)?.value ?? defaultOf(claim.key));
    if (Number(claim.value) < counting) merged.set(claim.key, claim);
  }
  const written: Record<string, unknown> = {};
  for (const { key, value } of merged.values()) {
    const [section = '', inner] = key.split('.');
    if (inner === undefined) written[section] = value;
    else written[section] = { ...Object(written[section]), [inner]: value };
  }
  const origins = new Map([...merged].map(([key, { provenance }]) => [key, provenance]));
  return { settings: complete('plexus', written), origins, raised };
}

const defaultOf = (budget: string): unknown => Object(complete('agent'))[budget.replace('agent.', '')];

/** Known only once all files are merged. */
export function raisedBudget({ key, value, provenance }: SettingClaim, { agent }: Settings): Diagnostic {
  const label = labelOf(provenance.key);
  const counts = String(Object(agent)[key.replace('agent.', '')]);
  return {
    severity: 'warning',
    code: 'CONFIG_INVALID',
    message: `a file in the workspace cannot raise ${label} to ${String(value)}, so it stays at ${counts}`,
    remedy: IN_OWN_FILE,
  };
}
