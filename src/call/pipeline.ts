// Owns the shape of a call's journey: what travels, what a stage is, and how stages become one function.

import type { ClientHandlers } from '../connection/requests.ts';
import type { Progress } from '../connection/session.ts';
import type { Cancellation } from '../kernel/cancellation.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { BuiltinAnswer } from '../model/builtin.ts';
import { RuntimeError } from '../model/errors.ts';
import type { QualifiedName } from '../model/names.ts';
import type { RuleText } from '../model/rule.ts';
import type { Tool, ToolOutcome } from '../model/tool.ts';
import type { Approve } from './approval.ts';
import type { CallId } from './events.ts';
import type { Lines } from './lines.ts';
import type { Taint } from './taint.ts';

/** One call on its way. Immutable; a stage that changes it passes a copy on. */
export interface ToolCall {
  readonly callId: CallId;
  readonly name: QualifiedName;
  /** What the name stands for in this turn's catalog; an unknown name never gets past `resolve`. */
  readonly tool: Tool | undefined;
  readonly arguments: JsonObject;
  /** What the caller may know of. */
  readonly visibleTools: VisibleTools;
  readonly cancellation: Cancellation;
  readonly onProgress: (progress: Progress) => void;
  /** The server is at work on it, whether or not it says how far it is. */
  readonly onSign?: () => void;
  /** Somebody is asked on its behalf: the time until the answer is not the tool's. */
  readonly onWaiting?: (isWaiting: boolean) => void;
  /** How long the tool may take this time; 0 for as long as it likes. */
  readonly timeoutMs?: number | undefined;
  readonly caller: Caller;
  /** How it was permitted; whoever had to wait is held against it again. Absent: a rule allows it, in whatever form. */
  readonly permit?: Permit;
  /** Where the tool is one of the runtime's own: what is done instead of asking a server. */
  readonly builtin?: BuiltinCall;
}

export interface VisibleTools {
  readonly tools: readonly Tool[];
  /** Nothing is kept from the caller: it may be told why something is missing. */
  readonly isWhole: boolean;
  /** Whether it has been shown the tool that finds others. */
  readonly canSearch?: () => boolean;
}

export interface BuiltinCall {
  /** It touches no server: where no rule speaks of it, nobody is asked. */
  readonly isLocal: boolean;
  readonly perform: (args: JsonObject, cancellation: Cancellation) => Promise<BuiltinAnswer>;
}

export interface Permit {
  /** Nobody was asked: it must be allowed still. Otherwise somebody agreed, and nothing may deny it since. */
  readonly isAllowed: boolean;
  /** The form of the tool that counted: what its server says of it now is waited for. */
  readonly form?: string;
}

/** The view that calls: what it was granted this session, and who answers what a server asks during its calls. */
export interface Caller {
  /** By what was granted: a tool in this very form, of this very server. */
  readonly grants: Set<string>;
  readonly taint: Taint;
  /** What it may do of what the runtime allows; one list for each view between the two. */
  readonly permissions?: readonly (readonly RuleText[])[];
  /** Its model looks at images by itself. */
  readonly hasVision?: boolean;
  /** Who is asked; without it, whoever the runtime asks. */
  readonly approve?: Approve;
  readonly handlers: ClientHandlers;
  /** Where the view has connections of its own, how it reaches its servers. */
  readonly lines?: Lines;
}

export type Perform = (call: ToolCall) => Promise<ToolOutcome>;

/** The one extension point on the call path. A stage without work of its own passes the next one's promise through. */
export type Stage = (next: Perform) => Perform;

/** The first stage is the outermost. */
export function compose(stages: readonly Stage[], innermost: Perform): Perform {
  return stages.reduceRight((next, stage) => stage(next), innermost);
}

/** For the stages behind `resolve`. */
export function toolOf(call: ToolCall): Tool {
  if (call.tool === undefined) throw new RuntimeError('INTERNAL', { problem: `"${call.name}" was not resolved` });
  return call.tool;
}
