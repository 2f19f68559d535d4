// Owns driving the AI SDK as a host does: its loop with and without streaming, and a person who is asked by the framework.

import type * as aiSdk from 'ai';
import { aiTools } from '../../../src/adapters/ai-sdk.ts';
import type { Driver, Task } from '../situations.ts';

type Ai = typeof aiSdk;

/** The majors differ in types alone here; `types.ts` holds the adapter against both. */
export async function openDrivers(major: string): Promise<Readonly<Record<string, Driver>>> {
  const ai = (major === '6' ? await import('ai-6') : await import('ai')) as Ai;
  const { createOpenAI } = (
    major === '6' ? await import('@ai-sdk/openai-3') : await import('@ai-sdk/openai')
  ) as typeof import('@ai-sdk/openai');
  const told = {
    unknownTool: /unavailable tool/,
    badArguments: /Invalid input for tool/,
    refusal: /denied/i,
    answersAsApprove: true,
  };
  const driver = (take: Take): Driver => ({
    ...told,
    run: (task) => run(ai, createOpenAI({ baseURL: `${task.url}/v1`, apiKey: 'none' })('scripted'), task, take),
  });
  return { generateText: driver(generate), streamText: driver(stream) };
}

type Request = Parameters<Ai['generateText']>[0];
type Answer = Pick<Awaited<ReturnType<Ai['generateText']>>, 'text' | 'content'> & {
  readonly added: readonly aiSdk.ModelMessage[];
};
type Take = (ai: Ai, request: Request) => Promise<Answer>;

const generate: Take = async (ai, request) => {
  const { text, content, responseMessages, response } = await ai.generateText(request);
  // Version 6 has all of them in `response`.
  return { text, content, added: responseMessages ?? response.messages };
};

const stream: Take = async (ai, request) => {
  let failure: unknown;
  const onError = ({ error }: { readonly error: unknown }) => {
    failure = error;
  };
  const streamed = ai.streamText({ ...(request as Parameters<Ai['streamText']>[0]), onError });
  await streamed.consumeStream();
  if (failure !== undefined) throw failure;
  const [text, content, all, response] = await Promise.all([
    streamed.text,
    streamed.content,
    streamed.responseMessages,
    streamed.response,
  ]);
  return { text, content: content as Answer['content'], added: all ?? response.messages };
};

/** Runs again with the person's answers as long as the framework asks. */
async function run(ai: Ai, model: aiSdk.LanguageModel, task: Task, take: Take): Promise<string> {
  // The framework asks people itself.
  const { approve, ...options } = task.options;
  const { tools, prepareStep, systemPrompt } = aiTools(task.source.view(), options);
  const messages: aiSdk.ModelMessage[] = [{ role: 'user', content: task.prompt }];
  for (;;) {
    const { text, content, added } = await take(ai, {
      model,
      system: systemPrompt,
      messages,
      tools,
      prepareStep,
      stopWhen: ai.stepCountIs(10),
      abortSignal: task.signal,
      maxRetries: 0,
    });
    const asked = content.filter((part) => part.type === 'tool-approval-request');
    if (asked.length === 0) return text;
    const answers = [];
    for (const { approvalId } of asked) {
      const approved = (await approve?.({} as never, {} as never)) === 'once';
      answers.push({ type: 'tool-approval-response' as const, approvalId, approved });
    }
    messages.push(...added, { role: 'tool', content: answers });
  }
}
