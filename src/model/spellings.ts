// Owns the spellings of a tool's name other than its ToolId: safe names, and the forms that other agents use. Spellings are only
// generated here; `catalog/aliases` looks tools up by them, `policy/` asks whether a rule may mean a tool.

import { createHash } from 'node:crypto';
import { limits } from './limits.ts';
import type { ToolId } from './names.ts';

/** Longer than any server's and tool's name together with the separators. */
export const LONGEST_SPELLING = 2 * limits.nameChars;

/** A part of a name, reduced to characters that every provider accepts. */
export function sanitize(part: string): string {
  return part.replace(/[^A-Za-z0-9-]+/g, '_').replace(/^_+|_+$/g, '') || 'x';
}

/** The name with and without the prefixes that agents add (`mcp_`, `@`). */
export function bodiesOf(spelled: string): readonly string[] {
  const [, rest = ''] = /^(?:mcp[_.:/-]|@)(.+)$/is.exec(spelled) ?? [];
  const [, further = ''] = /^[_-](.+)$/s.exec(rest) ?? [];
  return [spelled, rest, further].filter((body) => body !== '');
}

/** Agents treat capitals and special characters differently; folded, their spellings are the same. */
export function fold(text: string): string {
  if (FOLDED.test(text)) return text;
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
}

const FOLDED = /^[a-z0-9]+(?:_[a-z0-9]+)*$/;

/** Two folded parts as one name. Some agents drop a server's name that the tool's name repeats. */
export function pairOf(server: string, tool: string): readonly string[] {
  if (server === '' || tool === '') return [];
  return tool.startsWith(`${server}_`) ? [`${server}_${tool}`, tool] : [`${server}_${tool}`];
}

/** Spellings that lose more than folding does; each counts only exactly as the agent writes it. */
export function lossySpellings(id: ToolId): readonly string[] {
  return [...madeSpellings(id), ...cutSpellings(id)];
}

/** Without digits, or with the server's name cut. */
function madeSpellings({ server, tool }: ToolId): readonly string[] {
  const lettersOnly = (part: string) => fold(part.toLowerCase().replace(/[^a-z]+/g, '_'));
  const short = () =>
    server
      .toLowerCase()
      .replace(/[^a-z0-9_.-]+/g, '_')
      .slice(0, CUT_SERVER);
  return [
    ...(/\d/.test(server + tool) ? pairOf(lettersOnly(server), lettersOnly(tool)).map((pair) => `mcp__${pair}`) : []),
    ...(server.length > CUT_SERVER || tool.length > CUT_SERVER
      ? [`mcp_${short()}_${tool}`.replaceAll('.', '_').slice(0, limits.toolNameLength)]
      : []),
  ];
}

const CUT_SERVER = 13;
/** No agent cuts a shorter name. */
const CUT_FROM = 60;

/** How agents shorten names that a provider would refuse: the middle left out, or the end replaced by a hash. */
function cutSpellings({ server, tool }: ToolId): readonly string[] {
  if (server.length + tool.length < CUT_FROM - 'mcp_'.length - 1) return [];
  const hash = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, 8);
  const full = [`mcp__${server}__${tool}`, `mcp_${server}_${tool}`, `${server}__${tool}`, tool];
  return full
    .map((name) => name.replace(/[^A-Za-z0-9_.:-]/g, '_'))
    .flatMap((name) => [
      `${name.slice(0, 30)}...${name.slice(-30)}`,
      `${name.slice(0, 28)}___${name.slice(-32)}`,
      `${name.replace(/[.:]/g, '_').slice(0, 55)}_${hash}`,
    ]);
}
