// Owns every spelling in which a rule may have written one tool. Made once per decision for all rules, and only as far as a rule
// needs it.

import { once } from '../kernel/once.ts';
import { hashOfKey, type QualifiedName, type ToolId, toolKey } from '../model/names.ts';
import { fold, lossySpellings, pairOf, sanitize } from '../model/spellings.ts';

export interface SpelledTool {
  readonly id: ToolId;
  readonly name: QualifiedName;
  readonly hash: () => string;
  readonly forms: () => ToolForms;
}

export interface ToolForms {
  /** Spellings that match only exactly as they are written. */
  readonly literal: ReadonlySet<string>;
  /** The server alone, folded. */
  readonly servers: readonly string[];
  /** The tool alone, folded, with and without a leading repetition of its server's name. */
  readonly tools: readonly string[];
  /** Server and tool together, folded. */
  readonly pairs: readonly string[];
  /** Server and tool together as a model reads them, in lower case and without a hash: patterns are matched against these. */
  readonly names: readonly string[];
  /** All spellings in one text, to look up runs of letters and digits. */
  readonly runs: string;
}

export function spellTool(id: ToolId, name: QualifiedName): SpelledTool {
  return { id, name, hash: once(() => hashOfKey(toolKey(id))), forms: once(() => formsOf(id)) };
}

/** A name that folds to nothing stands for itself, so that two such names are not equal. */
export const folded = (name: string) => fold(name) || name;

/** The server's name folded as configured, and as a model reads it. */
export function foldedServers(server: string): readonly string[] {
  return [...new Set([folded(server), folded(sanitize(server))])];
}

function formsOf(id: ToolId): ToolForms {
  const { server, tool } = id;
  const servers = foldedServers(server);
  const foldedTool = fold(tool);
  const tools = [
    foldedTool,
    ...servers.filter((each) => foldedTool.startsWith(`${each}_`)).map((each) => foldedTool.slice(each.length + 1)),
  ].filter((each) => each !== '');
  const [serverPart, toolPart] = [sanitize(server).toLowerCase(), sanitize(tool).toLowerCase()];
  const written = [`${serverPart}__${toolPart}`, `${serverPart}_${toolPart}`, `mcp__${serverPart}__${toolPart}`];
  const names = [...new Set([...written, ...written.map((each) => each.replaceAll('-', '_'))])];
  return {
    literal: new Set([tool, `${tool}_mcp_${server}`, ...lossySpellings(id)]),
    servers,
    tools,
    pairs: servers.flatMap((each) => [
      ...pairOf(each, foldedTool),
      ...(foldedTool === '' ? [] : [`${foldedTool}_mcp_${each}`]),
    ]),
    names,
    runs: [server.toLowerCase(), tool.toLowerCase(), ...servers, ...names].join(' '),
  };
}
