// Owns the public surface of "plexus": explicit names only.

export type { Readiness, Runtime, RuntimeOptions } from './api.ts';
export { failureAsOutcome } from './call/failure-as-outcome.ts';
export type { Prompts } from './catalog/resources/prompts.ts';
export type { Resources } from './catalog/resources/resources.ts';
export type { ConfigSource } from './config/discover.ts';
export type { AskInput } from './config/inputs.ts';
export type { NativeTool, Replacement } from './config/native.ts';
export type { HostServer as ServerConfig } from './config/server-entry.ts';
export type { ClientHandlers, ElicitAnswer, ElicitRequest } from './connection/requests.ts';
export type { ServerStatus } from './connection/status.ts';
export type { RuntimeEvent } from './events.ts';
export type { Clock } from './kernel/clock.ts';
export { createMemoryStore, type Store } from './kernel/store.ts';
export type { Diagnostic } from './model/diagnostic.ts';
export { type FailureCode, type Remedy, RuntimeError } from './model/errors.ts';
export type { ClientInfo } from './model/identity.ts';
export type { Model } from './model/model.ts';
export type { QualifiedName, ServerName, ToolId } from './model/names.ts';
export type { Prompt, PromptMessages, Resource, ResourceContents, ResourceTemplate } from './model/resource.ts';
export type { Channel, InputRequest, Launcher, ServerDefinition } from './model/server.ts';
export type {
  Attachment,
  ContentBlock,
  Signal,
  Tool,
  ToolDefinition,
  ToolMeta,
  ToolOutcome,
  ToolRef,
} from './model/tool.ts';
export type { Decision } from './policy/decision.ts';
export type { GatedCall, PermissionGate } from './policy/gate.ts';
export type { HostRule } from './policy/host-rules.ts';
export { createRuntime, discoverMCPServers } from './runtime.ts';
export { systemPromptFragment } from './shaping/boundary.ts';
export type { ApprovalAnswer, ApprovalRequest, Approve } from './trust/approval.ts';
export type { Turn, TurnCallOptions } from './turn.ts';
export type { TurnOptions, View, ViewOptions } from './view.ts';
