// Owns how the tests of permission put the stage together: the production decider, recheck and registry, a clock that stands still.

import { type AuthorizeDeps, authorize } from '../../../../src/call/authorize/authorize.ts';
import { createDecider, type DeciderDeps } from '../../../../src/call/authorize/decide.ts';
import { createRecheck } from '../../../../src/call/authorize/recheck.ts';
import type { CallEvent } from '../../../../src/call/events.ts';
import { type Stage, toolOf } from '../../../../src/call/pipeline.ts';
import type { LoadedConfig } from '../../../../src/config/load.ts';
import { createMemoryStore } from '../../../../src/kernel/store.ts';
import type { RuleText, Verdict } from '../../../../src/model/rule.ts';
import type { ApprovalMode, ServerDefinition } from '../../../../src/model/server.ts';
import type { Tool } from '../../../../src/model/tool.ts';
import type { PermissionGate } from '../../../../src/policy/gate.ts';
import { createFakeClock } from '../../../../src/testing/fake-clock.ts';
import type { ApprovalRequest, Approve } from '../../../../src/trust/approval.ts';
import { LockedTools, type Pinned } from '../../../../src/trust/locked-tools.ts';
import { createToolGrants } from '../../../../src/trust/tool-grants.ts';
import { configOf, registryOf } from '../../servers/registry.ts';
import { definitionOf } from '../../session.ts';

export const ruleText = (tool: string, action: Verdict): RuleText => ({
  tool,
  action,
  provenance: { scope: 'user', file: '/user.toml', key: [] },
});

export interface StageOptions {
  readonly approve: Approve;
  readonly rules?: () => readonly RuleText[];
  readonly mode?: ApprovalMode;
  /** For the tool `read` of each server. */
  readonly toolMode?: ApprovalMode;
  readonly trustHints?: boolean;
  /** The servers are a workspace's, and nobody approved them. */
  readonly isUnapproved?: boolean;
  readonly settings?: Partial<LoadedConfig['settings']>;
  readonly gate?: PermissionGate;
  readonly pinOf?: () => Pinned;
  readonly authorize?: Partial<Pick<AuthorizeDeps, 'grants' | 'redact' | 'currentDefinition'>>;
}

const SERVERS = ['files', 'mail', 'a', 'a__b', 'my files'];

export function createStage(options: StageOptions) {
  const { approve, rules = () => [], mode = 'auto', toolMode, trustHints = false, isUnapproved = false } = options;
  const clock = createFakeClock();
  const events: CallEvent[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const definitions = SERVERS.map((name) => ({
    ...definitionOf(name, { approval: mode, trustHints, ...(toolMode && { tools: { read: { approval: toolMode } } }) }),
    launch: { kind: 'stdio', command: 'x', args: [], env: {}, inheritEnv: 'safe' },
    provenance: isUnapproved
      ? { scope: 'project', file: '/.mcp.json', key: [name], inWorkspace: true }
      : { scope: 'user', file: '/user.toml', key: [name] },
  })) satisfies ServerDefinition[];
  const { settings } = configOf();
  const configNow = () => ({ definitions, rules: rules(), settings: { ...settings, ...options.settings } });
  const registry = registryOf(configNow());
  const { currentDefinition = ({ definition }: Tool) => definition } = options.authorize ?? {};
  const unlocked = new LockedTools({ onError });
  const deciding: DeciderDeps = {
    registry,
    lock: options.pinOf ? { pinOf: options.pinOf } : unlocked,
    currentDefinition,
    gate: options.gate,
    clock,
    onError,
  };
  const decider = createDecider(deciding);
  const recheck = createRecheck({ registry, currentDefinition, decider, lock: unlocked, isListed: () => true });
  const authorized = authorize({
    registry,
    currentDefinition,
    clock,
    onError,
    decider,
    recheck,
    grants: createToolGrants({ store: createMemoryStore(clock), clock, fingerprint: async ({ name }) => name }),
    redact: (value) => value,
    emit: (event) => events.push(event),
    approve,
    ...options.authorize,
  });
  // Every call finds the rules of its moment, and its tool was listed by the server that is configured.
  const stage: Stage = (next) => (call) => {
    registry.apply(configOf(configNow()));
    const tool = toolOf(call);
    return authorized(next)({ ...call, tool: { ...tool, source: registry.identity(tool.id.server) } });
  };
  return { clock, events, errors, stage };
}

/** Answers one after the other, and keeps what was asked. */
export const answering = (...answers: unknown[]): Approve & { asked: ApprovalRequest[] } => {
  const asked: ApprovalRequest[] = [];
  const approve = async (request: ApprovalRequest) => {
    asked.push(request);
    return answers.shift() as 'once';
  };
  return Object.assign(approve, { asked });
};
