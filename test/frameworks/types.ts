// Owns the proof that the shapes of the adapters are those of each framework, in every major that is promised: it compiles, or not.

import type { Anthropic } from '@anthropic-ai/sdk';
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import type { CallableTool } from '@google/genai';
import type { MCPServer, Tool } from '@openai/agents';
import type * as ai7 from 'ai';
import type * as ai6 from 'ai-6';
import type * as openai7 from 'openai';
import type * as openai6 from 'openai-6';
import type { AiTools } from '../../src/adapters/ai-sdk.ts';
import type { MessagesBlock, MessagesResult, MessagesTool, RunnableTool } from '../../src/adapters/anthropic.ts';
import type { FleetTool } from '../../src/adapters/google.ts';
import type {
  ChatCall,
  ChatResult,
  ChatTool,
  ResponsesItem,
  ResponsesResult,
  ResponsesTool,
} from '../../src/adapters/openai.ts';
import type { AgentsFunctionTool, AgentsServer } from '../../src/adapters/openai-agents.ts';

/** Does not compile unless `Given` can stand where `Wanted` is expected. */
type Fits<Given extends Wanted, Wanted> = Given;

export type Ai6 = [Fits<AiTools['tools'], ai6.ToolSet>, Fits<AiTools['prepareStep'], ai6.PrepareStepFunction>];

export type Ai7 = [
  Fits<AiTools['tools'], ai7.ToolSet>,
  Fits<AiTools['prepareStep'], ai7.PrepareStepFunction<ai7.ToolSet>>,
];

export type OpenAI6 = [
  Fits<ChatTool, openai6.OpenAI.ChatCompletionTool>,
  Fits<ChatResult, openai6.OpenAI.ChatCompletionMessageParam>,
  Fits<openai6.OpenAI.ChatCompletionMessageToolCall, ChatCall>,
  Fits<ResponsesTool, openai6.OpenAI.Responses.Tool>,
  Fits<ResponsesResult, openai6.OpenAI.Responses.ResponseInputItem>,
  Fits<openai6.OpenAI.Responses.ResponseOutputItem, ResponsesItem>,
];

export type OpenAI7 = [
  Fits<ChatTool, openai7.OpenAI.ChatCompletionTool>,
  Fits<ChatResult, openai7.OpenAI.ChatCompletionMessageParam>,
  Fits<openai7.OpenAI.ChatCompletionMessageToolCall, ChatCall>,
  Fits<ResponsesTool, openai7.OpenAI.Responses.Tool>,
  Fits<ResponsesResult, openai7.OpenAI.Responses.ResponseInputItem>,
  Fits<openai7.OpenAI.Responses.ResponseOutputItem, ResponsesItem>,
];

export type Anthropic1 = [
  Fits<MessagesTool, Anthropic.ToolUnion>,
  Fits<MessagesResult, Anthropic.ToolResultBlockParam>,
  Fits<Anthropic.ContentBlock, MessagesBlock>,
  Fits<RunnableTool, BetaRunnableTool>,
];

export type Google2 = Fits<FleetTool, CallableTool>;

export type Agents0 = [Fits<AgentsServer, MCPServer>, Fits<AgentsFunctionTool, Tool>];
