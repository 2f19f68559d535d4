// Owns how the answers to `server/discover` and `initialize` are read: which era and version both sides speak, and what a
// server offers. Field names are those of the SDK's types, checked by the compiler; the SDK itself is not loaded.

import type {
  DiscoverResult,
  InitializeResult,
  UnsupportedProtocolVersionErrorData,
} from '@modelcontextprotocol/client';
import { isObject, type JsonObject } from '../kernel/json.ts';
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
  const { supportedVersions, capabilities, instructions }: Unchecked<DiscoverResult> = isObject(result) ? result : {};
  const supported = textsIn(supportedVersions);
  if (!isObject(capabilities)) return { kind: 'legacy' };
  if (!supported.includes(newestProtocol)) return withoutModern(supported);
  return { kind: 'modern', agreement: agreement('modern', newestProtocol, capabilities, instructions) };
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
  const { protocolVersion, capabilities, instructions }: Unchecked<InitializeResult> = outcome.result;
  if (typeof protocolVersion !== 'string') return refused('its answer to "initialize" names no protocol version');
  if (!legacyVersions.some((version) => version === protocolVersion))
    return refused(`it answered "initialize" with protocol version ${shown(protocolVersion)}; ${OURS}`);
  if (!isObject(capabilities)) return refused('its answer to "initialize" names no capabilities');
  return { kind: 'agreed', agreement: agreement('legacy', protocolVersion, capabilities, instructions) };
}

const OURS = `Plexus speaks ${[newestProtocol, ...legacyVersions].join(', ')}`;

const refused = (reason: string): InitializeVerdict => ({ kind: 'refused', reason });

function agreement(era: Era, protocolVersion: string, capabilities: JsonObject, instructions: unknown): Agreement {
  // Some servers write a capability that they lack as null or false.
  const declared = Object.entries(capabilities).filter(([, value]) => value !== null && value !== false);
  return {
    era,
    protocolVersion,
    capabilities: Object.fromEntries(declared),
    instructions: typeof instructions === 'string' ? instructions : undefined,
  };
}

function supportedIn(data: unknown): readonly string[] {
  const { supported }: Unchecked<UnsupportedProtocolVersionErrorData> = isObject(data) ? data : {};
  return textsIn(supported);
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

const listed = (versions: readonly string[]) => shown(versions.join(', '));

const shown = (text: string) => text.slice(0, limits.refusalChars);
