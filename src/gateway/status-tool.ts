// Owns `plexus_status`, the tool that tells a model which servers cannot be used, why, and what to do; and the same outcomes in the
// `_meta` of merged lists.

import type { ServerStatus } from '../connection/status.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { RuntimeError } from '../model/errors.ts';

export const STATUS_TOOL = 'plexus_status';
/** The key of the outcomes in `_meta`. */
export const SERVERS_META = 'plexus/servers';

export const statusTool: JsonObject = {
  name: STATUS_TOOL,
  title: 'Status of the servers',
  description:
    'Tells which MCP servers behind this gateway are up, which are not, why, and what to do about it. Call it when a tool that you expect is missing or a server does not answer.',
  inputSchema: { type: 'object', properties: {} },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

/** Why a server that is up does not offer all that it has. */
type FailureOf = (status: ServerStatus) => RuntimeError | undefined;

/** By server: its state, and the reason where it is not up, or a list of it is missing. An idle server starts with the first call. */
export function outcomesOf(statuses: readonly ServerStatus[], failureOf: FailureOf): JsonObject {
  return Object.fromEntries(
    statuses.map((status) => {
      const { name, state, toolCount } = status;
      const reason = reasonOf(status, failureOf);
      return [name, { state, tools: toolCount, ...(reason !== undefined && { reason }) }];
    }),
  );
}

const reasonOf = (status: ServerStatus, failureOf: FailureOf): string | undefined =>
  status.state === 'idle' ? undefined : (status.reason ?? failureOf(status)?.message);

export function statusResult(statuses: readonly ServerStatus[], failureOf: FailureOf): JsonObject {
  const lines = statuses.map((status) => {
    const { name, state, toolCount } = status;
    const reason = reasonOf(status, failureOf);
    return `${name}: ${state}, ${toolCount} tools${reason === undefined ? '' : `. ${reason}`}`;
  });
  const text = lines.length === 0 ? 'No server is configured.' : lines.join('\n');
  return { content: [{ type: 'text', text }], structuredContent: { servers: outcomesOf(statuses, failureOf) } };
}
