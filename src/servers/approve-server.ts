// Owns the approval of one server before it is opened: reads the stored approvals (`trust/gate.ts`), asks the user where there
// is none, and remembers the answer.

import { isDeepStrictEqual } from 'node:util';
import { withoutSecrets } from '../config/literal-secrets.ts';
import type { LaunchPreview } from '../config/preview.ts';
import { variablesRead } from '../config/referenced-variables.ts';
import { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import { isSecretVariable } from '../model/secret-shapes.ts';
import { commandLine, type ServerDefinition } from '../model/server.ts';
import { type Approve, askFor } from '../trust/approval.ts';
import { type LaunchIdentity, trustFingerprint } from '../trust/fingerprint.ts';
import type { FoundOut, Gate } from '../trust/gate.ts';

export interface ApprovalDeps {
  readonly gate: Gate;
  readonly approve: Approve;
  /** Whether a stored approval covers the contents of the files that the entry names. */
  readonly pinsFiles?: () => boolean;
  readonly preview: (definition: ServerDefinition) => Promise<LaunchPreview>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * The variables that an approved server may read besides those of its entry: none for the user's own servers, which read what
 * their entry names. `undefined`: the server was not approved and gets nothing of the user's.
 */
export type GrantedVariables = readonly string[] | undefined;

/** A remote server of the workspace that nobody approved: it may be looked at, and is offered nothing of the host. */
export const lacksApproval = (
  { provenance }: Pick<ServerDefinition, 'provenance'>,
  grants: GrantedVariables,
): boolean => grants === undefined && provenance.inWorkspace === true;

/** How the approval of an open server has changed. `given`: the server would get all that it has, and more. */
export type ApprovalChange = 'none' | 'given' | 'revoked';

export class ServerApprovals {
  readonly #deps: ApprovalDeps;
  /** Fingerprints that were approved for the life of the runtime, with the variables they may read. */
  readonly #forThisRuntime = new Map<string, readonly string[]>();
  /** Fingerprints that were approved by an answer that is not stored. */
  readonly #notStored = new Set<string>();

  constructor(deps: ApprovalDeps) {
    this.#deps = deps;
  }

  /** Throws `SERVER_UNTRUSTED` where nobody approves the server. */
  async require(definition: ServerDefinition, signal: AbortSignal, found?: FoundOut): Promise<GrantedVariables> {
    const judgement = await this.#deps.gate.judge(definition, found);
    if (judgement.kind === 'own') return [];
    if (judgement.kind === 'approved') return judgement.grants;
    if (judgement.kind === 'restricted') return this.#answered(definition);
    signal.throwIfAborted();
    const fingerprint = trustFingerprint(judgement.identity);
    const approved = this.#forThisRuntime.get(fingerprint);
    if (approved) return approved;
    const { name: server, provenance } = definition;
    const { all, sent } = variablesRead(definition);
    // A credential leaves the machine only where the person names it: `plexus approve NAME --allow-env VARIABLE`.
    const variables = all.filter((each) => !sent.includes(each) || !isSecretVariable(each));
    const request = {
      server,
      command: commandLine(withoutSecrets(definition.launch)),
      variables,
      ...(provenance.file && { file: provenance.file }),
      ...(judgement.changes.length > 0 && { changes: judgement.changes }),
      ...(judgement.workspaceFile !== undefined && { workspaceFile: judgement.workspaceFile }),
      ...(judgement.isLocal && { isLocal: judgement.isLocal }),
    };
    const shown = await this.#preview(definition, request.command);
    const answer = await this.#ask({ kind: 'server', ...request, ...shown }, signal);
    if (answer === 'no') throw new RuntimeError('SERVER_UNTRUSTED', request);
    const isStored = answer === 'always' && (await this.#store(definition, variables, judgement.identity));
    // A stored approval is read from the store each time, because it may be revoked, also by another process.
    if (!isStored) this.#notStored.add(fingerprint);
    if (!isStored && answer !== 'once') this.#forThisRuntime.set(fingerprint, variables);
    return variables;
  }

  /** Compares what a server would be given now, without asking anybody, with the variables it was opened with. */
  async changeSince(definition: ServerDefinition, grants: GrantedVariables): Promise<ApprovalChange> {
    const judgement = await this.#deps.gate.judge(definition);
    if (judgement.kind === 'own') return 'none';
    if (judgement.kind === 'approved') return changeOfGrants(grants, judgement.grants);
    if (judgement.kind === 'restricted' && grants === undefined) return 'none';
    return this.#notStored.has(await this.#deps.gate.fingerprint(definition)) ? 'none' : 'revoked';
  }

  /** Whether the server would be opened now without asking anybody. */
  async isApproved(definition: ServerDefinition): Promise<boolean> {
    const judgement = await this.#deps.gate.judge(definition);
    return judgement.kind !== 'asks' || this.#notStored.has(trustFingerprint(judgement.identity));
  }

  /** The answer for the life of the runtime, when the server turned out to be local: without it, each opening would begin unapproved. */
  async #answered(definition: ServerDefinition): Promise<GrantedVariables> {
    if (this.#forThisRuntime.size === 0) return undefined;
    return this.#forThisRuntime.get(await this.#deps.gate.fingerprint(definition));
  }

  async #preview(definition: ServerDefinition, command: string): Promise<Partial<LaunchPreview>> {
    const { filled, inputs } = await this.#deps.preview(definition);
    return { ...(filled !== command && { filled }), ...(inputs.length > 0 && { inputs }) };
  }

  async #ask(request: Parameters<Approve>[0], signal: AbortSignal) {
    const { approve, clock, onError } = this.#deps;
    const cancellation = new Cancellation();
    const unsubscribe = cancellation.follow(signal);
    return askFor(request, { approve, clock, cancellation, onError }).finally(unsubscribe);
  }

  /** The person said yes: a full disk costs the memory of it, not the server. */
  async #store(definition: ServerDefinition, variables: readonly string[], identity: LaunchIdentity): Promise<boolean> {
    try {
      await this.#deps.gate.approve(definition, variables, identity, { pinsFiles: this.#deps.pinsFiles?.() });
      return true;
    } catch (error) {
      this.#deps.onError(error);
      return false;
    }
  }
}

function changeOfGrants(before: GrantedVariables, now: readonly string[]): ApprovalChange {
  if (isDeepStrictEqual(before, now)) return 'none';
  return (before ?? []).every((variable) => now.includes(variable)) ? 'given' : 'revoked';
}
