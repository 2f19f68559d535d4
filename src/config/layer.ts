// Owns reading one file: its servers, rules, lists, inputs and settings. `merge.ts` decides which file wins.

import type { Diagnostic } from '../model/diagnostic.ts';
import { type ArgumentConditions, faultsIn, type IdleRule, type RuleText } from '../model/rule.ts';
import type { InputRequest } from '../model/server.ts';
import { overCap } from './caps.ts';
import { asWritten, checkEach, explain } from './check.ts';
import { type ConfigMap, isMap, type KeyPath } from './config-map.ts';
import { diagnose, type FileProblem, type ReportProblem, readSection, shorten } from './file-problems.ts';
import { findGroups, findInputs, findStrays, type StrayServers } from './groups.ts';
import type { EntryGroup } from './importers/importer.ts';
import { camelCase } from './key-case.ts';
import type { ListedServers } from './lists.ts';
import { labelOf, within, wrongType } from './problem.ts';
import type { ListedServer } from './schema.ts';
import { parse } from './sections.ts';
import { claimsOf, provenanceOf, readServers, type ServerClaim, type SourceOrigin } from './servers.ts';
import { readSettings, type SettingClaim } from './settings.ts';
import type { Document } from './sources/document.ts';
import { type NormalizedSection, readKeys, vocabularies } from './vocabulary.ts';

export interface Layer extends ListedServers {
  readonly claims: readonly ServerClaim[];
  readonly rules: readonly RuleText[];
  /** Rules that were read but have no effect. */
  readonly idleRules: readonly IdleRule[];
  readonly promptInputs: readonly InputRequest[];
  readonly settings: readonly SettingClaim[];
  /** Set by the enterprise's file only. */
  readonly mode?: 'exclusive' | 'merge';
  /** Settings that would loosen something the scope may not loosen; they are ignored until the user approves the file. */
  readonly loosenings: readonly Diagnostic[];
  /** Set where the file holds more than a file of the workspace may: nothing else of it was read. */
  readonly capped?: Diagnostic;
  /** Set where the person's own file is broken and what it forbids is not known. */
  readonly isUnknown?: true;
  readonly diagnostics: readonly Diagnostic[];
}

export const emptyLayer: Layer = {
  claims: [],
  rules: [],
  idleRules: [],
  promptInputs: [],
  settings: [],
  allowlist: [],
  denylist: [],
  loosenings: [],
  diagnostics: [],
};

export async function readLayer(document: Document, origin: SourceOrigin): Promise<Layer> {
  const fileProblems: FileProblem[] = [];
  const report: ReportProblem = (...found) => fileProblems.push(...found);
  const content = contentOf(document.value, report);
  const { groups, rest } = findGroups(content);
  const over = isFileOfWorkspace(origin) ? overCap(groups, rulesIn(rest)) : undefined;
  if (over) return cappedLayer(document, origin, over);
  report(...(await document.repeated()).filter(([top = '']) => isRead(String(top), groups)).map(repetition));
  const drafts = readServers(groups, origin, report);
  const sections = readSections(rest, groups.length > 0, report);
  const { permissions, security, plexus } = sections.fields;
  const { mode } = readMode(sections, origin, report);
  const layer = {
    ...readRules(permissions, origin, report),
    ...readLists(security, report),
    promptInputs: readInputs(findInputs(content), report),
    settings: readSettings(plexus, origin, report),
    ...(mode !== undefined && { mode }),
  };
  const diagnostics = await diagnose(fileProblems, document, origin.file, origin.provider);
  const all = [...diagnostics.values()];
  return {
    ...layer,
    claims: claimsOf(drafts, diagnostics, layer.promptInputs),
    loosenings: all.filter(({ loosens }) => loosens !== undefined),
    diagnostics: shorten(all),
  };
}

/** Reads another program's file, of which only the servers and their inputs count. */
export async function readServersOnly(
  document: Document,
  origin: SourceOrigin,
  find: (content: ConfigMap) => readonly EntryGroup[],
): Promise<Layer> {
  const fileProblems: FileProblem[] = [];
  const report: ReportProblem = (...found) => fileProblems.push(...found);
  const content = contentOf(document.value, report);
  const groups = find(content);
  const over = isFileOfWorkspace(origin) ? overCap(groups, undefined) : undefined;
  if (over) return cappedLayer(document, origin, over);
  const drafts = readServers(groups, origin, report);
  const inputs = readInputs(findInputs(content), report);
  const diagnostics = await diagnose(fileProblems, document, origin.file, origin.provider);
  return {
    ...emptyLayer,
    promptInputs: inputs,
    claims: claimsOf(drafts, diagnostics, inputs),
    diagnostics: shorten([...diagnostics.values()]),
  };
}

const isFileOfWorkspace = ({ file, inWorkspace }: SourceOrigin) => file !== undefined && inWorkspace === true;

function rulesIn(rest: ConfigMap): unknown {
  const { permissions } = readKeys(rest, vocabularies.file).fields;
  return isMap(permissions) ? readKeys(permissions, vocabularies.permissions).fields['rules'] : undefined;
}

async function cappedLayer(document: Document, origin: SourceOrigin, over: FileProblem): Promise<Layer> {
  const diagnostics = [...(await diagnose([over], document, origin.file, origin.provider)).values()];
  const [capped] = diagnostics;
  return { ...emptyLayer, ...(capped && { capped }), diagnostics };
}

function contentOf(value: unknown, report: ReportProblem): ConfigMap {
  if (isMap(value)) return value;
  if (value === undefined) {
    report({ severity: 'warning', path: [], message: 'the file is empty', remedy: 'Add servers to it, or delete it.' });
  } else {
    const problem = wrongType([], 'a map of settings', value);
    report(Array.isArray(value) ? { ...problem, remedy: 'Put the list into a map: { "servers": [ … ] }.' } : problem);
  }
  return {};
}

/** Keys of another program in the same file are not checked. */
const isRead = (key: string, groups: readonly EntryGroup[]) =>
  vocabularies.file.meanings.has(camelCase(key)) || groups.some(({ path }) => path.length === 0 || path[0] === key);

/** A file without any known key gets one warning for the whole file. */
function readSections(rest: ConfigMap, hasGroups: boolean, report: ReportProblem): NormalizedSection {
  const strays = findStrays(rest);
  const isStray = (key: string) => strays.some(({ path }) => path.length === 0 || path[0] === key);
  const others = Object.fromEntries(Object.entries(rest).filter(([key]) => !isStray(key)));
  const sections = readKeys(others, vocabularies.file);
  report(...strays.map(misplaced));
  const { fields, problems, unknownKeys } = sections;
  const hasOwn = hasGroups || Object.keys(fields).some((key) => key !== '$schema');
  const isAllUnknown = !hasOwn && unknownKeys.length > 0 && problems.length === 1;
  if (!isAllUnknown) report(...problems);
  else if (strays.length === 0) report(nothingKnown);
  return sections;
}

const nothingKnown: FileProblem = {
  severity: 'warning',
  path: [],
  message: 'the file holds neither servers nor settings that are known here',
  remedy: 'Write servers into a map called "mcpServers" (in TOML "mcp_servers"), each under its name.',
};

function misplaced({ path, more, isText }: StrayServers): FileProblem {
  const [where, map] = [labelOf(path), 'a map called "mcpServers" at the top of the file'];
  const problem = (what: string, remedy: string): FileProblem => ({
    severity: 'warning',
    path,
    message: `${where} ${what}, but none are read there`,
    remedy,
  });
  if (isText) return problem('holds servers inside of a text', `Write them as ${map}.`);
  if (more > 0) return problem(`and ${more} more look like servers`, `Move them into ${map}.`);
  return problem('looks like a server', path.length > 0 ? `Move it into ${map}.` : `Put it under a name into ${map}.`);
}

/** Only the enterprise's file can switch other files off. */
function readMode(sections: NormalizedSection, { scope }: SourceOrigin, report: ReportProblem): Pick<Layer, 'mode'> {
  const { mode } = sections.fields;
  if (mode === undefined) return {};
  if (scope !== 'enterprise') {
    const path = asWritten(['mode'], sections);
    const message = `only the enterprise configuration can set ${labelOf(path)}, so this is ignored`;
    report({ severity: 'warning', path, message, remedy: 'Remove it.' });
    return {};
  }
  const { fields, problems } = checkEach({ ...sections, fields: { mode } }, 'file');
  report(...problems);
  return fields.mode === undefined ? {} : { mode: fields.mode };
}

function repetition(path: KeyPath): FileProblem {
  return {
    severity: 'warning',
    path,
    message: `${labelOf(path)} is written more than once, and only the last one counts`,
    remedy: 'Remove or rename the others.',
  };
}

function readRules(value: unknown, origin: SourceOrigin, report: ReportProblem): Pick<Layer, 'rules' | 'idleRules'> {
  const { rules: written = [] } = readSection(value, ['permissions'], vocabularies.permissions, report).fields;
  if (!Array.isArray(written)) report(wrongType(['permissions', 'rules'], 'a list of rules', written));
  const read = Array.isArray(written)
    ? written.flatMap((rule, at) => readRule(rule, ['permissions', 'rules', at], origin, report))
    : [];
  return { rules: read.filter((rule) => !isIdle(rule)), idleRules: read.filter(isIdle) };
}

const isIdle = (rule: RuleText): rule is IdleRule => 'idle' in rule;

/**
 * A rule whose action cannot be read counts as "ask": a mistyped deny must not leave the tool to a looser rule. Conditions on
 * arguments are kept as written; `policy` interprets them so that a broken condition allows nothing and denies more.
 */
function readRule(
  value: unknown,
  path: KeyPath,
  origin: SourceOrigin,
  report: ReportProblem,
): readonly (RuleText | IdleRule)[] {
  const read = readSection(value, path, vocabularies.rule, report);
  if (!isMap(value)) return [];
  const { args, ...fields } = read.fields;
  const parsed = parse('rule', fields);
  report(...(parsed.issues ?? []).map((issue) => within(path, explain(issue, read))));
  const { tool, action = 'ask' } = checkEach({ ...read, fields }, 'rule').fields;
  if (tool === undefined) return [];
  if (args !== undefined) report(...conditionFaults(args, [...path, read.writtenAs.get('args') ?? 'args'], action));
  const conditions = args !== undefined && { args: args as ArgumentConditions };
  const rule: RuleText = { tool, action, ...conditions, provenance: provenanceOf(origin, path) };
  if (action === 'allow' && !origin.mayLoosen) {
    report(cannotAllow(path, tool));
    return [
      {
        ...rule,
        idle: 'is ignored, because a file in the workspace cannot allow; to approve it: plexus approve --policy',
      },
    ];
  }
  const [problem] = read.problems;
  if (action === 'allow' && problem) {
    report(notUnderstood(path, tool));
    return [{ ...rule, idle: `allows nothing, because part of it is not understood: ${problem.message}` }];
  }
  if (parsed.issues) return [{ ...rule, misread: `counts as "${action}", because part of it cannot be read` }];
  return [problem ? { ...rule, misread: `counts without part of it: ${problem.message}` } : rule];
}

const SHOWN_FAULTS = 5;

function conditionFaults(args: unknown, path: KeyPath, action: RuleText['action']): readonly FileProblem[] {
  const so = action === 'allow' ? 'so the rule allows nothing' : 'so the rule counts without it';
  return faultsIn(args)
    .slice(0, SHOWN_FAULTS)
    .map(({ path: below, expected }) => {
      const found = below.reduce<unknown>((map, key) => Object(map)[key], args);
      const problem = wrongType([...path, ...below], expected, found);
      return { ...problem, message: `${problem.message}, ${so}` };
    });
}

/** The part that is not understood may have narrowed the rule. */
function notUnderstood(path: KeyPath, tool: string): FileProblem {
  return {
    severity: 'warning',
    path,
    message: `the rule for "${tool}" allows nothing, because part of it is not understood`,
    remedy: 'Correct or remove that part.',
  };
}

function cannotAllow(path: KeyPath, tool: string): FileProblem {
  return {
    severity: 'warning',
    loosens: `the rule "${tool}" = allow`,
    path,
    message: `a file in the workspace cannot allow a tool, so the rule for "${tool}" is ignored`,
    remedy: 'Put the rule into your own file, or approve this one as it is: plexus approve --policy',
  };
}

/**
 * The valid lines of a list count even when others are wrong: better one server too few than one too many. An invalid line of an
 * allow list allows nothing, instead of leaving an empty list, which would allow everything.
 */
function readLists(value: unknown, report: ReportProblem): ListedServers {
  const read = readSection(value, ['security'], vocabularies.security, report);
  const readList = (key: string, beyond: ListedServer) => {
    const path = ['security', read.writtenAs.get(key) ?? key];
    const lines = [read.fields[key] ?? []].flat();
    if (lines.length > MOST_LISTED) report(tooLong(path, lines.length, beyond));
    const listed = lines.slice(0, MOST_LISTED).map((each, at) => {
      const parsed = parse('listedServer', isMap(each) ? asListed(each) : each);
      if (!parsed.issues) return parsed.value;
      report(wrongType([...path, at], 'a name, an address, or a map with "name", "command" or "url"', each));
      return noServer;
    });
    return lines.length > MOST_LISTED ? [...listed, beyond] : listed;
  };
  return { allowlist: readList('mcpServerAllowlist', noServer), denylist: readList('mcpServerDenylist', everyServer) };
}

/** Each line is compared with each server, and a hostile file must not delay the start. */
const MOST_LISTED = 10_000;

function tooLong(path: KeyPath, found: number, beyond: ListedServer): FileProblem {
  const so = beyond === everyServer ? 'no server is used' : 'the rest allows nothing';
  return {
    severity: 'error',
    path,
    message: `${labelOf(path)} has ${found} lines, of which ${MOST_LISTED} can be read, so ${so}`,
    remedy: 'Join lines with "*".',
  };
}

const everyServer: ListedServer = { name: '*' };
/** No server has an empty name. */
const noServer: ListedServer = { name: '' };

/** Other agents' names for the same three keys. */
const asListed = ({ serverName, serverCommand, serverUrl, ...own }: ConfigMap) => ({
  name: serverName,
  command: serverCommand,
  url: serverUrl,
  ...own,
});

function readInputs({ path: base, entries }: EntryGroup, report: ReportProblem): InputRequest[] {
  if (entries === undefined || entries === null) return [];
  if (!Array.isArray(entries)) {
    report(wrongType(base, 'a list of inputs', entries));
    return [];
  }
  return entries.flatMap((each, at) => {
    const path = [...base, at];
    const read = readSection(each, path, vocabularies.input, report);
    if (!isMap(each)) return [];
    const parsed = parse('input', read.fields);
    if (!parsed.issues) return [parsed.value];
    report(...parsed.issues.map((issue) => within(path, explain(issue, read))));
    return [];
  });
}
