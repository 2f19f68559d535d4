// Owns the public surface of "plexus": explicit names only.

export type {
  EventOf,
  LoginInfo,
  LoginOptions,
  LoginPreview,
  Readiness,
  ReadyOptions,
  ReloadOptions,
  Runtime,
  RuntimeOptions,
  RuntimeStats,
  ServerFailure,
  StartupReport,
} from './api.ts';
export type { AuthEvent } from './auth/events.ts';
export type { ClientAuthentication, ClientRegistration, Login, LoginKey, Tokens } from './auth/login-model.ts';
export type { LoginNeed, StoredLogin, TokenStore } from './auth/token-store.ts';
export type { CallEnd, CallEvent, CallId, CallProgress } from './call/events.ts';
export { failureAsOutcome, type TellingFailure } from './call/failure-as-outcome.ts';
export type { CatalogEvent, SignalEvent } from './catalog/events.ts';
export type { CompleteOptions } from './catalog/resources/completion.ts';
export type { ListedPrompt, PromptArguments, PromptCall, Prompts } from './catalog/resources/prompts.ts';
export type { ListProblem } from './catalog/resources/resource-catalog.ts';
export type { ResourcePage, Resources, ServerOption } from './catalog/resources/resources.ts';
export type { CancelOptions } from './catalog/resources/retried-request.ts';
export type { ConfigSource } from './config/discover.ts';
export type { ConfigEvent } from './config/events.ts';
export type { AskInput, InputOptions } from './config/inputs.ts';
export type { NativeTool, Replacement } from './config/native.ts';
export type { AnsweredInput } from './config/preview.ts';
export type {
  CommonEntry,
  HealthEntry,
  HostServer as ServerConfig,
  InProcessEntry,
  OAuthEntry,
  ReconnectEntry,
  ServerEntry,
  ToolEntry,
} from './config/server-entry.ts';
export type { ElicitationEnd, ElicitationEvent, ElicitationIdentity } from './connection/elicitation/events.ts';
export type {
  BooleanField,
  ChoiceField,
  ChoicesField,
  FieldDescription,
  FormField,
  FormOption,
  FormSchema,
  NumberField,
  TextField,
  TextFormat,
} from './connection/elicitation/form.ts';
export type { PageUrl } from './connection/elicitation/page-url.ts';
export type { Elicitation, FormElicitation, UrlElicitation } from './connection/elicitation/request.ts';
export type { ConnectionEvent, NotReady } from './connection/events.ts';
export type { ClientHandlers, ElicitAnswer, ElicitRequest } from './connection/requests.ts';
export type { SandboxState } from './connection/sandbox-state.ts';
export type { Era, ServerInfo } from './connection/session.ts';
export type { ConnectionState } from './connection/state.ts';
export type {
  BreakerStatus,
  ConnectionStage,
  FineState,
  LoginStatus,
  NotReadyState,
  ServerStatus,
  SimpleStatus,
  StatusFields,
} from './connection/status.ts';
export type { Sentence } from './connection/status-reason.ts';
export type { ResourceUpdate, UpdateListener } from './connection/subscription-book.ts';
export type { Progress } from './connection/wire.ts';
export type { RuntimeEvent } from './events.ts';
export type { Schedule } from './kernel/backoff.ts';
export type { Cancellation } from './kernel/cancellation.ts';
export type { CancelTimer, Clock } from './kernel/clock.ts';
export type { Unsubscribe } from './kernel/emitter.ts';
export type { JsonObject } from './kernel/json.ts';
export { createMemoryStore, type Store } from './kernel/store.ts';
export type { Diagnostic } from './model/diagnostic.ts';
export { type FailureCode, type FailureData, isFailure, type Remedy, RuntimeError } from './model/errors.ts';
export type { ClientInfo } from './model/identity.ts';
export type { Model } from './model/model.ts';
export type { QualifiedName, ServerName, ToolId } from './model/names.ts';
export type {
  Completion,
  Prompt,
  PromptArgument,
  PromptMessage,
  PromptMessages,
  Resource,
  ResourceContents,
  ResourcePart,
  ResourceTemplate,
  ServerItem,
} from './model/resource.ts';
export type { ArgumentConditions, Condition, Plain, RuleText, Verdict } from './model/rule.ts';
export type {
  ApprovalMode,
  Channel,
  ChannelReport,
  Exposure,
  HealthPolicy,
  InheritEnv,
  InProcessLaunch,
  InputRequest,
  Launch,
  Launcher,
  Lifecycle,
  LogLevel,
  Message,
  MessageId,
  OAuthSettings,
  Provenance,
  ReconnectPolicy,
  RemoteLaunch,
  RequestFailure,
  Scope,
  SendOptions,
  ServerDefinition,
  ServerSettings,
  StdioLaunch,
  ToolSettings,
} from './model/server.ts';
export type {
  ArgumentRepair,
  Attachment,
  AudioBlock,
  ContentBlock,
  EmbeddedResourceBlock,
  Freshness,
  ImageBlock,
  ObjectSchema,
  OutcomeMeta,
  ResourceLinkBlock,
  Signal,
  TextBlock,
  Tool,
  ToolAnnotations,
  ToolDefinition,
  ToolMeta,
  ToolOutcome,
  ToolRef,
  Truncation,
} from './model/tool.ts';
export type { DecidingRule, Decision } from './policy/decision.ts';
export type { GateAnswer, GatedCall, PermissionGate } from './policy/gate.ts';
export type { HostRule } from './policy/host-rules.ts';
export { createRuntime, discoverMCPServers } from './runtime.ts';
export type { Logger } from './servers/notices.ts';
export { systemPromptFragment } from './shaping/boundary.ts';
export { findSignals, redact, wrap } from './shaping/host-texts.ts';
export type { Inspected } from './shaping/redact.ts';
export type { Surface } from './shaping/signals/signal-matches.ts';
export { type HostTool, type HostToolContext, serveTools } from './transport/serve-tools.ts';
export type { ApprovalAnswer, ApprovalRequest, Approve, QuestionOptions } from './trust/approval.ts';
export type { TrustEvent } from './trust/events.ts';
export type { Turn, TurnCallOptions } from './turn.ts';
export type { TurnOptions, View, ViewOptions } from './view.ts';
