// Owns the entry point plexus/serving: how a host serves its own tools, and everything that agent and gateway are built on.

export { type Authenticate, bearerToken, byToken, readOrCreateToken, withoutToken } from './access.ts';
export type { ChangedList, IsMeant } from './changes.ts';
export type { HttpHandler, RequestHead, ServedRequest, ServedResponse } from './http-exchange.ts';
export type { ListeningServer } from './http-listener.ts';
export {
  createMcpServer,
  type HttpOptions,
  type ListenOptions,
  type McpServer,
  type McpServerOptions,
  type SseHandlers,
} from './mcp-server.ts';
export {
  createOwnService,
  type OwnContents,
  type OwnPrompt,
  type OwnResource,
  type OwnServiceOptions,
  type OwnTemplate,
  type OwnTool,
} from './own-service.ts';
export { type ProtocolEra, ProtocolError, resourceNotFound } from './protocol.ts';
export type {
  Implementation,
  Offer,
  Peer,
  Principal,
  ProgressReport,
  QuestionMethod,
  ServedCall,
  ServedMethod,
  ServedSession,
  Service,
} from './service.ts';
export type { ServingLimits } from './serving-limits.ts';
export type { StdioPipes } from './stdio-endpoint.ts';
