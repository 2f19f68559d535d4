// Owns what one file says: its servers, rules, lists and settings, each read by itself, so that one mistake costs one entry.
// Which file wins is `merge.ts`'s.

import type { Diagnostic } from '../model/diagnostic.ts';
import type { ServerName } from '../model/names.ts';
import type { RuleText } from '../model/rule.ts';
import type { Provenance, ServerDefinition } from '../model/server.ts';
import { checkEach, explain } from './check.ts';
import { type DefaultTimeouts, defineServer } from './define.ts';
import type { Lists } from './lists.ts';
import type { Claim } from './merge.ts';
import { isMap, labelOf, type Path, type Problem, within, wrongType } from './problem.ts';
import { ruleSchema, type Settings, securitySchema, startupSchema } from './schema.ts';
import { isWorkspaceScope, type Place } from './scopes.ts';
import type { Document } from './sources/document.ts';
import { camelCase, type Reading, readKeys, type Vocabulary, vocabularies } from './vocabulary.ts';

/** A name someone claims: with a definition, or with the reason why there is none. */
export type ServerClaim = Claim & ({ readonly definition: ServerDefinition } | { readonly diagnostic: Diagnostic });

export interface Layer extends Lists {
  readonly claims: readonly ServerClaim[];
  readonly rules: readonly RuleText[];
  readonly startup: Partial<Settings['startup']>;
  readonly diagnostics: readonly Diagnostic[];
}

export interface Origin extends Place {
  readonly defaults: DefaultTimeouts;
}

interface Finding extends Problem {
  readonly server?: ServerName;
}

type Note = (...findings: readonly Finding[]) => void;
type Content = Readonly<Record<string, unknown>>;

export async function readLayer(document: Document, origin: Origin): Promise<Layer> {
  const findings = (await document.repeated()).map(repetition);
  const note: Note = (...found) => findings.push(...found);
  const content = contentOf(document.value, note);
  const drafts = readServers(content, origin, note);
  const sections = readKeys(content, vocabularies.file);
  note(...sections.problems);
  const { permissions, security, plexus } = sections.fields;
  const rules = readRules(permissions, origin, note);
  const lists = readLists(security, note);
  const startup = readStartup(plexus, origin, note);

  const diagnostics = new Map<Finding, Diagnostic>();
  for (const finding of findings) diagnostics.set(finding, await diagnose(finding, document, origin.file));
  const claims = drafts.flatMap((draft): ServerClaim[] => {
    const { name, provenance, definition } = draft;
    if (definition) return [{ name, provenance, definition }];
    const diagnostic = draft.fault && diagnostics.get(draft.fault);
    return diagnostic ? [{ name, provenance, diagnostic }] : [];
  });
  return { claims, rules, ...lists, startup, diagnostics: shorten([...diagnostics.values()], origin.file) };
}

async function diagnose(
  { path, server, code, ...said }: Finding,
  document: Document,
  file: string,
): Promise<Diagnostic> {
  const position = await document.locate(path);
  return { ...said, code: code ?? 'CONFIG_INVALID', file, ...position, ...(server === undefined ? {} : { server }) };
}

const MOST_DIAGNOSTICS = 100;

/** Whoever has more than that to mend begins with the first. */
function shorten(diagnostics: readonly Diagnostic[], file: string): readonly Diagnostic[] {
  const more = diagnostics.length - MOST_DIAGNOSTICS;
  if (more <= 0) return diagnostics;
  const message = `${more} more problems in this file are not listed`;
  const rest: Diagnostic = {
    severity: 'warning',
    code: 'CONFIG_INVALID',
    message,
    remedy: 'Mend the listed ones first.',
    file,
  };
  return [...diagnostics.slice(0, MOST_DIAGNOSTICS), rest];
}

function contentOf(value: unknown, note: Note): Content {
  if (isMap(value)) return value;
  if (value === undefined) {
    note({ severity: 'warning', path: [], message: 'the file is empty', remedy: 'Add servers to it, or delete it.' });
  } else {
    note(wrongType([], 'a map of settings', value));
  }
  return {};
}

function repetition(path: Path): Finding {
  return {
    severity: 'warning',
    path,
    message: `${labelOf(path)} is written more than once, and only the last one counts`,
    remedy: 'Remove or rename the others.',
  };
}

const isServerMap = (key: string) => ['mcpServers', 'servers'].includes(camelCase(key));

interface Draft extends Claim {
  readonly definition: ServerDefinition | undefined;
  readonly fault: Finding | undefined;
}

function readServers(content: Content, origin: Origin, note: Note): Draft[] {
  const seen = new Set<ServerName>();
  return Object.entries(content).flatMap(([key, servers]): Draft[] => {
    if (!isServerMap(key) || servers === null) return [];
    if (!isMap(servers)) {
      note(wrongType([key], 'a map from names to servers', servers));
      return [];
    }
    const entries = Object.entries(servers);
    if (entries.length > MOST_SERVERS) note(tooMany(key, entries.length));
    return entries.slice(0, MOST_SERVERS).map(([name, value]) => readServer(name, value, [key, name]));
  });

  function readServer(name: ServerName, value: unknown, key: readonly string[]): Draft {
    const provenance: Provenance = { scope: origin.scope, file: origin.file, key };
    const { definition, problems } = defineServer({ name, value, provenance }, origin.defaults);
    const findings = problems.map((problem): Finding => ({ ...within(key, problem), server: name }));
    note(...findings);
    if (seen.has(name)) note({ ...secondMap(key), server: name });
    seen.add(name);
    return { name, provenance, definition, fault: findings.find(({ severity }) => severity === 'error') };
  }
}

/** Far above any real fleet; a hostile file must not hold up the start. */
const MOST_SERVERS = 1_000;

function tooMany(key: string, found: number): Finding {
  return {
    severity: 'error',
    path: [key],
    message: `"${key}" holds ${found} servers, of which only the first ${MOST_SERVERS} are read`,
    remedy: 'Remove those that are not needed.',
  };
}

function secondMap(path: Path): Finding {
  return {
    severity: 'warning',
    path,
    message: 'the file defines this server in two places, and the first one counts',
    remedy: 'Remove one of them.',
  };
}

/** Nothing can be read of what is no map, but that it is none. */
function readSection(value: unknown, path: Path, vocabulary: Vocabulary, note: Note): Reading {
  if (value !== undefined && !isMap(value)) note(wrongType(path, 'a map of settings', value));
  const read = readKeys(isMap(value) ? value : {}, vocabulary);
  note(...read.problems.map((problem) => within(path, problem)));
  return read;
}

function readRules(value: unknown, origin: Origin, note: Note): RuleText[] {
  const { rules = [] } = readSection(value, ['permissions'], vocabularies.permissions, note).fields;
  if (Array.isArray(rules))
    return rules.flatMap((rule, at) => readRule(rule, ['permissions', 'rules', at], origin, note));
  note(wrongType(['permissions', 'rules'], 'a list of rules', rules));
  return [];
}

/** A rule whose action cannot be read counts as "ask": a mistyped deny must not leave the tool to a looser rule. */
function readRule(value: unknown, path: Path, { scope, file }: Place, note: Note): RuleText[] {
  const read = readSection(value, path, vocabularies.rule, note);
  if (!isMap(value)) return [];
  const parsed = ruleSchema.safeParse(read.fields);
  note(...(parsed.error?.issues ?? []).map((issue) => within(path, explain(issue, read))));
  const { tool, action = 'ask' } = checkEach(read, ruleSchema).fields;
  if (tool === undefined) return [];
  if (action === 'allow' && isWorkspaceScope(scope)) {
    note(cannotAllow(path, tool));
    return [];
  }
  return [{ tool, action, provenance: { scope, file, key: path.map(String) } }];
}

function cannotAllow(path: Path, tool: string): Finding {
  return {
    severity: 'warning',
    path,
    message: `a file in the workspace cannot allow a tool, so the rule for "${tool}" is ignored`,
    remedy: 'Put the rule into your user configuration if you want it.',
  };
}

/** What can be read of a list counts even when the rest is wrong: better one server too few than one too many. */
function readLists(value: unknown, note: Note): Lists {
  const read = readSection(value, ['security'], vocabularies.security, note);
  note(...checkEach(read, securitySchema).problems.map((problem) => within(['security'], problem)));
  const names = (list: unknown) => [list].flat().filter((name) => typeof name === 'string');
  return { allowlist: names(read.fields['mcpServerAllowlist']), denylist: names(read.fields['mcpServerDenylist']) };
}

/** How long the person's own program waits is not a repository's to say. */
function readStartup(value: unknown, { scope }: Place, note: Note): Layer['startup'] {
  const { startup } = readSection(value, ['plexus'], vocabularies.plexus, note).fields;
  const path = ['plexus', 'startup'];
  const { fields, problems } = checkEach(readSection(startup, path, vocabularies.startup, note), startupSchema);
  note(...problems.map((problem) => within(path, problem)));
  if (!isWorkspaceScope(scope) || Object.keys(fields).length === 0) return fields;
  note({
    severity: 'warning',
    path,
    message: 'a file in the workspace cannot set how long the start waits, so this is ignored',
    remedy: 'Set it in your own file; see where it lies with: plexus config path',
  });
  return {};
}
