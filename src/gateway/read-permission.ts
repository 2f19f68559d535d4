// Owns what the policy says of requests that are no call: reading a resource, getting a prompt. Rules speak of them by the names of the
// tools with which a model of Plexus does the same. Where no rule speaks, the client's own order counts, since nothing is changed.

import { approvalModeOf } from '../call/authorize/decide.ts';
import { canonicalName } from '../catalog/naming.ts';
import type { JsonObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import { labelOf } from '../model/server.ts';
import type { Decision } from '../policy/decision.ts';
import { createRuleGate } from '../policy/gate.ts';
import type { ServerRegistry } from '../servers/registry.ts';
import type { ServedCall } from '../serving/service.ts';
import { type ApprovalRequest, askFor } from '../trust/approval.ts';
import { askClient } from './approval.ts';
import type { GatewayClient } from './client.ts';

/** The kinds of things that are read of a server, with the names that stand for them in rules. */
export const readings = {
  resources: { list: 'ListMcpResources', read: 'ReadMcpResource' },
  prompts: { list: 'ListMcpPrompts', read: 'GetMcpPrompt' },
} as const;

export type Reading = keyof typeof readings;

export interface WantedReading {
  readonly server: ServerName;
  readonly reading: Reading;
  /** As the tool for models would have them: the uri, or the name and arguments. */
  readonly arguments: JsonObject;
}

/** A server whose resources or prompts are denied as a whole has none for the clients of the gateway. */
export const isListed = (registry: ServerRegistry, server: ServerName, reading: Reading): boolean =>
  !registry.isDenied({ server, tool: readings[reading].list });

/** Throws where a rule denies it. */
export function refuseDenied(client: GatewayClient, wanted: WantedReading): void {
  decide(client, wanted);
}

/**
 * Throws where it is denied, or has to be asked about and the client's user does not agree. `hasAgreed`: whether the user said yes in an
 * earlier round of this request, to what is named. Returns what the user has agreed to.
 */
export async function permitReading(
  client: GatewayClient,
  served: ServedCall,
  wanted: WantedReading,
  hasAgreed: (to: string) => boolean,
): Promise<string | undefined> {
  const { verdict, because, byRule, isEveryTime, rule } = decide(client, wanted);
  const { fleet, route, isNamed, agreed } = client;
  if (verdict === 'allow' || (!byRule && route.profile.approval === 'client')) return undefined;
  const { server } = wanted;
  const { registry } = fleet.servers;
  const id = { server, tool: readings[wanted.reading].read };
  const key = [id.tool, registry.identity(server)].join('\n');
  if (isEveryTime !== true && agreed.has(key)) return undefined;
  if (hasAgreed(id.tool)) return id.tool;
  const definition = registry.definition(server);
  const request: ApprovalRequest = {
    ...{ kind: 'tool', callId: String(served.id), tool: id, name: canonicalName(id) },
    source: definition === undefined ? server : labelOf(definition),
    arguments: fleet.runtime.redact(wanted.arguments),
    ...{ annotations: READS_ONLY, because, byRule, ...(isEveryTime && { isEveryTime }) },
  };
  const { clock, onError } = fleet.parts.host;
  const answer = await askFor(request, { approve: askClient(served, isNamed), clock, onError });
  if (answer === 'session') agreed.add(key);
  if (answer !== 'no') {
    refuseDenied(client, wanted);
    return id.tool;
  }
  served.signal.throwIfAborted();
  const advice = rule === undefined ? 'add-rule' : 'change-rule';
  throw new RuntimeError('APPROVAL_REFUSED', { ...id, name: canonicalName(id), because, advice });
}

const READS_ONLY = Object.freeze({ readOnlyHint: true });

function decide({ fleet, route }: GatewayClient, { server, reading, arguments: args }: WantedReading): Decision {
  const { registry } = fleet.servers;
  // A person's own command has asked its own rules.
  if (route.isOfCommands) return { verdict: 'allow', because: 'a person typed it', byRule: true };
  const id = { server, tool: readings[reading].read };
  const gate = createRuleGate({ judge: () => registry.rules.judge, modeOf: (of) => approvalModeOf(registry, of) });
  const name = canonicalName(id);
  const gated = { tool: id, name, arguments: args, annotations: READS_ONLY, trustsAnnotations: true };
  const decision = gate.decide(gated);
  if (decision.verdict === 'deny') throw new RuntimeError('CALL_DENIED', { ...id, because: decision.because });
  const unread = registry.whyEverythingAsks();
  return unread === undefined ? decision : { verdict: 'ask', because: unread, byRule: true, isEveryTime: true };
}
