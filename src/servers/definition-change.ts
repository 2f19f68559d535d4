// Owns what a changed entry means for a server that is up: which settings apply to it as it is, and which start it anew.

import { isDeepStrictEqual } from 'node:util';
import type { DefinitionChange } from '../connection/connections.ts';
import { labelOf, type ServerDefinition, type ServerSettings } from '../model/server.ts';
import { definitionHash } from '../trust/fingerprint.ts';

/**
 * Restart: what the process or the session is opened with, and cannot be told later. Every new setting has to choose. The launch
 * is not listed here: each of its keys decides what runs or what is reached.
 */
export const settingEffects = {
  enabled: 'live',
  title: 'live',
  description: 'live',
  startupTimeoutMs: 'live',
  toolTimeoutMs: 'live',
  toolIdleTimeoutMs: 'live',
  enabledTools: 'live',
  disabledTools: 'live',
  tools: 'live',
  exposure: 'live',
  alwaysLoad: 'live',
  instructions: 'live',
  cacheable: 'live',
  toolCacheTtlMs: 'live',
  subscriptions: 'live',
  logLevel: 'restart',
  maxResultChars: 'live',
  maxResultTokens: 'live',
  maxMessageBytes: 'restart',
  lifecycle: 'live',
  idleStopMs: 'live',
  required: 'live',
  perClient: 'restart',
  share: 'restart',
  trustHints: 'live',
  approval: 'live',
  elicitation: 'restart',
  parallel: 'live',
  reconnect: 'live',
  health: 'live',
  keepAliveMs: 'live',
} as const satisfies Record<keyof ServerSettings, 'restart' | 'live'>;

const restarting = (Object.keys(settingEffects) as (keyof ServerSettings)[]).filter(
  (setting) => settingEffects[setting] === 'restart',
);

/** An entry of another file is another server that has taken the name, even where it says the same. */
export function changeOf(before: ServerDefinition, after: ServerDefinition): DefinitionChange {
  const isSameLaunch = definitionHash(before) === definitionHash(after) && codeOf(before) === codeOf(after);
  const isSameSession = restarting.every((key) => isDeepStrictEqual(before.settings[key], after.settings[key]));
  if (!isSameLaunch && !isSameEntry(before, after)) return 'replacement';
  if (!isSameLaunch || !isSameSession) return 'restart';
  const isSame = isDeepStrictEqual(before.settings, after.settings) && labelOf(before) === labelOf(after);
  return isSame ? 'none' : 'live';
}

/** The function behind a server in process, which no hash can tell from another one. */
const codeOf = ({ launch }: ServerDefinition) => (launch.kind === 'in-process' ? launch.serve : undefined);

const isSameEntry = ({ provenance: before }: ServerDefinition, { provenance: after }: ServerDefinition) =>
  before.file === after.file && before.scope === after.scope && before.provider === after.provider;
