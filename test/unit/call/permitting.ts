// Owns how the tests of permission put the stage together: real rules, modes and grants, a clock that stands still.

import type { ApprovalRequest, Approve } from '../../../src/call/approval.ts';
import { type AuthorizeDeps, authorize } from '../../../src/call/authorize.ts';
import type { CallEvent } from '../../../src/call/events.ts';
import { decideNow, type PermissionDeps, permit } from '../../../src/call/permission.ts';
import type { Stage } from '../../../src/call/pipeline.ts';
import { createMemoryStore } from '../../../src/kernel/store.ts';
import type { RuleText, Verdict } from '../../../src/model/rule.ts';
import type { ApprovalMode } from '../../../src/model/server.ts';
import { createGate } from '../../../src/policy/gate.ts';
import { createJudge } from '../../../src/policy/judge.ts';
import { parseRules } from '../../../src/policy/rule.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createToolGrants } from '../../../src/trust/tool-grants.ts';
import { toolHash } from '../../../src/trust/tool-pin.ts';
import { definitionOf } from '../session.ts';

export const ruleText = (tool: string, action: Verdict): RuleText => ({
  tool,
  action,
  provenance: { scope: 'user', file: '/user.toml', key: [] },
});

export interface Permitting {
  readonly approve: Approve;
  readonly rules?: () => readonly RuleText[];
  readonly mode?: ApprovalMode;
  readonly authorize?: Partial<AuthorizeDeps>;
  readonly permission?: Partial<PermissionDeps>;
}

const judgeOf = (rules: readonly RuleText[]) =>
  createJudge(parseRules(rules, ['files']), { folderOf: () => '/', realPath: (path) => path });

export function createPermitting({ approve, rules = () => [], mode = 'auto', ...changes }: Permitting) {
  const clock = createFakeClock();
  const events: CallEvent[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const server = definitionOf('files');
  const lasting = createToolGrants({ store: createMemoryStore(clock), clock, fingerprint: async ({ name }) => name });
  const gate = createGate({ judge: () => judgeOf(rules()), modeOf: () => mode });
  const deciding: PermissionDeps = {
    decide: gate.decide,
    judgeOf,
    trustsAnnotations: () => false,
    isUnapprovedWorkspaceServer: () => false,
    pinOf: () => ({ isPinned: false }),
    present: ({ definition }) => definition,
    ...{ clock, onError },
    ...changes.permission,
  };
  const stage: Stage = authorize({
    refusal: () => undefined,
    decide: permit(deciding),
    decideNow: (call) => decideNow(deciding, call),
    caution: () => undefined,
    identity: (name) => name,
    present: ({ definition }) => definition,
    formOf: ({ definition }) => toolHash(definition),
    grants: {
      judge: ({ definition }) => lasting.judge(server, definition),
      grant: async ({ definition }) => {
        await lasting.grant(server, definition);
        return true;
      },
    },
    redact: (value) => value,
    emit: (event) => events.push(event),
    ...{ approve, clock, onError },
    ...changes.authorize,
  });
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
