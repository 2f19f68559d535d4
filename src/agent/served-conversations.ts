// Owns the open conversations of a served agent: each belongs to one client, is opened on the terms of its first call, and is closed
// when it was idle for a while. `conversations.ts` owns the files.

import type { Runtime } from '../api.ts';
import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Peer, ServedCall } from '../serving/door.ts';
import type { ChatModel } from './chat-model.ts';
import { approveByClient } from './client-approval.ts';
import { type AgentReply, type ConversationOptions, openConversation } from './conversation.ts';
import type { ConversationFile, Conversations } from './conversations.ts';
import type { ServedTerms } from './journal.ts';
import { sampledFrom, samplingModel } from './models/client-model.ts';
import type { AgentEvent } from './run-events.ts';
import type { FolderLease, Folders } from './served-folders.ts';
import type { SandboxStates } from './served-sandbox.ts';

export interface ServedConversation {
  readonly id: string;
  /** One prompt at a time; the client of the call is asked for approvals, and for answers if its model is used. */
  run(prompt: string, call: ServedCall, onEvent: (event: AgentEvent) => void): Promise<AgentReply>;
  close(): Promise<void>;
}

export interface ServedConversations {
  begin(cwd: string, terms: ServedTerms): Promise<ConversationLease>;
  /** Rejects with `CONVERSATION_UNKNOWN` also where it belongs to another client. */
  resume(id: string, owner: string): Promise<ConversationLease>;
  close(): Promise<void>;
}

/** An open conversation stays open at least until it is released. */
export interface ConversationLease extends Pick<ServedConversation, 'id' | 'run'> {
  release(): void;
}

export interface ServedConversationsDeps {
  readonly options: ConversationOptions;
  readonly kept: Conversations;
  readonly models: readonly ChatModel[];
  readonly folders: Folders;
  readonly sandboxes: SandboxStates;
  readonly clock: Clock;
  /** Called with what goes wrong when an idle conversation is closed. */
  readonly report: (error: unknown) => void;
}

interface Entry {
  readonly opened: Promise<ServedConversation>;
  leases: number;
  stopTimer?: CancelTimer;
}

export function createServedConversations(deps: ServedConversationsDeps): ServedConversations {
  const { kept, clock, report } = deps;
  const whenReady = createReadiness();
  const opening = { ...deps, whenReady };
  /** By owner and id: what one client asks for touches nothing of another. The one that was used last stands last. */
  const entries = new Map<string, Entry>();
  const remove = (key: string, entry: Entry) => {
    if (entries.get(key) === entry) entries.delete(key);
  };
  const close = async (key: string, entry: Entry): Promise<void> => {
    entry.stopTimer?.();
    remove(key, entry);
    await (await entry.opened).close();
  };
  const closeIdle = (key: string, entry: Entry) => {
    if (entry.leases === 0) close(key, entry).catch(report);
  };
  const closeSurplus = () => {
    for (const [key, entry] of [...entries].slice(0, Math.max(0, entries.size - limits.servedAgent.open)))
      closeIdle(key, entry);
  };
  const lease = async (key: string, entry: Entry): Promise<ConversationLease> => {
    entries.delete(key);
    entries.set(key, entry);
    entry.stopTimer?.();
    entry.leases++;
    try {
      const conversation = await entry.opened;
      const release = () => {
        if (--entry.leases > 0) return;
        entry.stopTimer = clock.after(limits.servedAgent.idleMs, () => closeIdle(key, entry), 'background');
        closeSurplus();
      };
      return { id: conversation.id, run: conversation.run, release };
    } catch (error) {
      remove(key, entry);
      throw error;
    }
  };
  return {
    async begin(cwd, terms) {
      const file = await kept.create(cwd, terms);
      return lease(keyOf(file.id, terms.owner), { opened: open(file, terms, opening), leases: 0 });
    },
    async resume(id, owner) {
      const key = keyOf(id, owner);
      return lease(key, entries.get(key) ?? { opened: openKept(id, owner, opening), leases: 0 });
    },
    async close() {
      await Promise.allSettled([...entries].map(([key, entry]) => close(key, entry)));
    },
  };
}

/** A conversation belongs to a client, and to the name under which the agent was served. */
export const ownerOf = (name: string, { principal }: Peer): string => `${name}/${principal.id}`;

const keyOf = (id: string, owner: string) => `${owner} ${id}`;

const unknown = (conversation: string) => new RuntimeError('CONVERSATION_UNKNOWN', { conversation });

/** The first conversation in a folder waits until its servers have started, or have had the time to. */
function createReadiness(): (runtime: Runtime) => Promise<unknown> {
  const waits = new WeakMap<Runtime, Promise<unknown>>();
  return (runtime) => {
    const wait = waits.get(runtime) ?? runtime.ready();
    waits.set(runtime, wait);
    return wait;
  };
}

interface OpeningDeps extends ServedConversationsDeps {
  readonly whenReady: (runtime: Runtime) => Promise<unknown>;
}

/** The file of another client is not even locked. */
async function openKept(id: string, owner: string, deps: OpeningDeps): Promise<ServedConversation> {
  const { terms } = (await deps.kept.read(id)).head;
  if (terms?.owner !== owner) throw unknown(id);
  return open(await deps.kept.open(id), terms, deps);
}

async function open(file: ConversationFile, terms: ServedTerms, deps: OpeningDeps): Promise<ServedConversation> {
  let folder: FolderLease | undefined;
  try {
    folder = await deps.folders.lease(file.cwd);
    await deps.whenReady(folder.runtime);
    const { run, close } = runningIn(folder.runtime, { file, terms, deps });
    const { release } = folder;
    return { id: file.id, run, close: () => close().finally(release) };
  } catch (error) {
    await Promise.all([file.close(), folder?.release()]);
    throw error;
  }
}

interface Opening {
  readonly file: ConversationFile;
  readonly terms: ServedTerms;
  readonly deps: OpeningDeps;
}

function runningIn(runtime: Runtime, { file, terms, deps }: Opening): Pick<ServedConversation, 'run' | 'close'> {
  const { options, sandboxes, clock } = deps;
  /** The call whose prompt the agent works on. */
  let current: ServedCall | undefined;
  const model = modelFor(terms.model, deps);
  const { steps = limits.agentBudget.steps } = options.budget ?? {};
  const isSandboxed = () => terms.isReadOnly === true || (current !== undefined && sandboxes.isReadOnly(current.peer));
  const conversation = openConversation(
    {
      approve: approveByClient(() => current),
      ...options,
      system: [options.system, `The current folder is ${file.cwd}.`].filter(Boolean).join('\n\n'),
      runtime,
      model: model === samplingModel ? sampledFrom(() => current) : model,
      budget: { ...options.budget, steps: Math.min(steps, terms.maxSteps ?? steps) },
      readOnly: () => isSandboxed() || options.readOnly?.() === true,
    },
    { file, clock, furtherRules: terms.permissions },
  );
  return {
    run: (prompt, call, onEvent) =>
      conversation.run(prompt, {
        signal: call.signal,
        onEvent: (event) => {
          if (event.type === 'conversation.started') current = call;
          onEvent(event);
        },
      }),
    close: () => conversation.close(),
  };
}

function modelFor(name: string | undefined, { options, models }: OpeningDeps): ChatModel {
  if (name === undefined) return options.model;
  const model = models.find((each) => each.name === name);
  if (model === undefined) throw new Error(`The model "${name}" of this conversation is no longer offered.`);
  return model;
}
