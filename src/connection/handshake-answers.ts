// Owns how the answers to `server/discover` and `initialize` are read: which era and version both sides speak, and what a
// server offers. Field names are those of the SDK's types, checked by the compiler; the SDK itself is not loaded.

import type {
  DiscoverResult,
  InitializeResult,
  UnsupportedProtocolVersionErrorData,
} from '@modelcontextprotocol/client';
import { cleanText } from '../kernel/clean-text.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { oneLine } from '../kernel/one-line.ts';
import { newestProtocol } from '../model/identity.ts';
import { limits } from '../model/limits.ts';
import type { RequestOutcome } from './wire.ts';

export type Era = 'legacy' | 'modern';

/** The outcome of a handshake: the version in use, and what the server said of itself. */
export interface Agreement {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  readonly serverInfo: ServerInfo | undefined;
}

/** A server's name and version in its own words, cleaned and cut. Any server can claim any name: nothing is decided by it. */
export interface ServerInfo {
  readonly name: string;
  readonly version?: string;
  readonly title?: string;
}

/** The versions with `initialize`, newest first: the first is offered, any of them may be the answer. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const;

export type ProbeVerdict =
  | { readonly kind: 'modern'; readonly agreement: Agreement }
  | { readonly kind: 'legacy' }
  /** The server refused the version, and named it among those that it supports. */
  | { readonly kind: 'contradictory'; readonly reason: string }
  /** The server is too new: it speaks no version of this client. */
  | { readonly kind: 'unsupported'; readonly reason: string };

export type InitializeVerdict =
  | { readonly kind: 'agreed'; readonly agreement: Agreement }
  /** `retryWith`: a version of this client among those that the server named when it refused. */
  | { readonly kind: 'refused'; readonly reason: string; readonly retryWith?: string };

type ReceivedOutcome = Exclude<RequestOutcome, { readonly kind: 'lost' }>;

/** The fields of a received object, none of which can be relied on. */
type Unchecked<Fields> = { readonly [Key in keyof Fields]?: unknown };

const UNSUPPORTED_VERSION = -32022;

/** Anything but a clear sign of the modern era means the older one: its servers answer an unknown method in many ways. */
export function readProbe(outcome: ReceivedOutcome): ProbeVerdict {
  if (outcome.kind === 'result') return readDiscovery(outcome.result);
  if (outcome.kind !== 'error' || outcome.code !== UNSUPPORTED_VERSION) return { kind: 'legacy' };
  const supported = supportedIn(outcome.data);
  if (supported.includes(newestProtocol))
    return {
      kind: 'contradictory',
      reason: `it refused protocol version ${newestProtocol}, and names it as supported`,
    };
  return withoutModern(supported);
}

function readDiscovery(result: unknown): ProbeVerdict {
  const discovery: Unchecked<DiscoverResult & { serverInfo: unknown }> = isObject(result) ? result : {};
  const { supportedVersions, capabilities, _meta: meta } = discovery;
  const supported = textsIn(supportedVersions);
  if (!isObject(capabilities)) return { kind: 'legacy' };
  if (!supported.includes(newestProtocol)) return withoutModern(supported);
  // Drafts of the modern era had the field beside the capabilities.
  const serverInfo = (isObject(meta) ? meta[SERVER_INFO] : undefined) ?? discovery.serverInfo;
  return { kind: 'modern', agreement: agreement('modern', newestProtocol, capabilities, { ...discovery, serverInfo }) };
}

/** Versions are dates, so they are ordered as text. */
function withoutModern(supported: readonly string[]): ProbeVerdict {
  const isTooNew = supported.length > 0 && supported.every((version) => version > newestProtocol);
  return isTooNew
    ? { kind: 'unsupported', reason: `it supports only ${listed(supported)}; ${OURS}` }
    : { kind: 'legacy' };
}

export function readInitialize(outcome: ReceivedOutcome, offered: string): InitializeVerdict {
  if (outcome.kind === 'oversized') return refused('its answer to "initialize" is too large');
  if (outcome.kind === 'error') {
    const supported = supportedIn(outcome.data);
    const retryWith = legacyVersions.find((version) => version !== offered && supported.includes(version));
    const named = supported.length > 0 ? `; it supports ${listed(supported)}; ${OURS}` : '';
    const reason = `it refused "initialize" with error ${outcome.code}: ${shown(outcome.message)}${named}`;
    return { kind: 'refused', reason, ...(retryWith !== undefined && { retryWith }) };
  }
  if (!isObject(outcome.result)) return refused('its answer to "initialize" has no result');
  const answer: Unchecked<InitializeResult> = outcome.result;
  const { protocolVersion, capabilities } = answer;
  if (typeof protocolVersion !== 'string') return refused('its answer to "initialize" names no protocol version');
  if (!legacyVersions.some((version) => version === protocolVersion))
    return refused(`it answered "initialize" with protocol version ${shown(protocolVersion)}; ${OURS}`);
  if (!isObject(capabilities)) return refused('its answer to "initialize" names no capabilities');
  return { kind: 'agreed', agreement: agreement('legacy', protocolVersion, capabilities, answer) };
}

const OURS = `Plexus speaks ${[newestProtocol, ...legacyVersions].join(', ')}`;

const refused = (reason: string): InitializeVerdict => ({ kind: 'refused', reason });

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

function agreement(
  era: Era,
  protocolVersion: string,
  capabilities: JsonObject,
  { instructions, serverInfo }: Unchecked<Pick<InitializeResult, 'instructions' | 'serverInfo'>>,
): Agreement {
  // Some servers write a capability that they lack as null or false.
  const declared = Object.entries(capabilities).filter(([, value]) => value !== null && value !== false);
  return {
    era,
    protocolVersion,
    capabilities: Object.fromEntries(declared),
    instructions: typeof instructions === 'string' ? instructions : undefined,
    serverInfo: readServerInfo(serverInfo),
  };
}

function readServerInfo(value: unknown): ServerInfo | undefined {
  const { name, version, title }: Unchecked<InitializeResult['serverInfo']> = isObject(value) ? value : {};
  const said = (text: unknown) =>
    typeof text === 'string'
      ? oneLine(cleanText(text.slice(0, 4 * limits.serverInfoChars)).text, limits.serverInfoChars)
      : '';
  const [ownName, ownVersion, ownTitle] = [said(name), said(version), said(title)];
  if (ownName === '') return undefined;
  return { name: ownName, ...(ownVersion && { version: ownVersion }), ...(ownTitle && { title: ownTitle }) };
}

function supportedIn(data: unknown): readonly string[] {
  const { supported }: Unchecked<UnsupportedProtocolVersionErrorData> = isObject(data) ? data : {};
  return textsIn(supported);
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

const listed = (versions: readonly string[]) => shown(versions.join(', '));

const shown = (text: string) => text.slice(0, limits.refusalChars);
