// Owns one `plexus agent` from its words to its end: the agent as an MCP server for other programs, over stdio or on a port of this
// machine.

import { join, resolve } from 'node:path';
import { createAgent } from '../agent/agent.ts';
import type { ChatModel } from '../agent/chat-model.ts';
import { budgetOf } from '../agent/choose-model.ts';
import { samplingModel } from '../agent/models/client-model.ts';
import { isServedName } from '../agent/served-agent.ts';
import type { Runtime, RuntimeOptions } from '../api.ts';
import type { AgentSettings } from '../config/schema.ts';
import { stateFolder } from '../config/scopes.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { isSystemError } from '../kernel/replace-file.ts';
import { asRuntimeError } from '../model/errors.ts';
import { createRuntime } from '../runtime.ts';
import { TokenFileError } from '../serving/access.ts';
import { byToken, type McpServer, readOrCreateToken, withoutToken } from '../serving/door.ts';
import { type CommandResult, type Context, printedAlready, UsageError } from './command.ts';
import { environmentOf, loadConfigFor } from './load-config.ts';
import { chooseModelFor } from './model-of-context.ts';
import { printable } from './render/text.ts';
import { warnOfDiagnostics, withRuntime } from './with-runtime.ts';

export async function runAgent(context: Context): Promise<CommandResult> {
  const asked = readOptions(context);
  const listening = createDeferred<Listening>();
  const served = serve(context, asked, listening.resolve);
  const address = await Promise.race([listening.promise, served.then(() => undefined)]);
  // Over stdio nothing but the protocol may be printed.
  if (address === undefined) return printedAlready();
  return {
    data: address,
    text: () => printable(listeningText(address)),
    more: async function* () {
      yield* [];
      await served;
    },
  };
}

interface AgentCommandOptions {
  readonly name: string;
  readonly port: number | undefined;
  readonly hasToken: boolean;
  readonly allowed: readonly string[];
}

export function readOptions({ values, cwd }: Pick<Context, 'values' | 'cwd'>): AgentCommandOptions {
  const { port, name = 'plexus', 'no-token': noToken, 'allow-cwd': allowed = [] } = values;
  if (port !== undefined && !/^\d{1,5}$/.test(String(port))) throw new UsageError('--port takes a number, 0 to 65535');
  if (Number(port) > 65_535) throw new UsageError('--port takes a number, 0 to 65535');
  if (noToken === true && port === undefined)
    throw new UsageError('--no-token is for --port; over stdio there is none');
  return {
    name: String(name),
    port: port === undefined ? undefined : Number(port),
    hasToken: noToken !== true,
    allowed: [allowed].flat().map((folder) => resolve(cwd, String(folder))),
  };
}

/** The address of an agent that is served over HTTP. */
interface Listening {
  readonly url: string;
  /** `undefined`: no token is needed. */
  readonly tokenFile: string | undefined;
}

const listeningText = ({ url, tokenFile }: Listening) =>
  [
    `The agent is served at ${url} until Ctrl-C.`,
    tokenFile === undefined
      ? 'No token is needed: every program on this machine can use the agent and its tools.'
      : `Clients send the header "Authorization: Bearer TOKEN"; the token is in ${tokenFile}`,
  ].join('\n');

/** Serves until the input ends, or Ctrl-C. `onListening` is told the address, over HTTP. */
async function serve(
  asked: Context,
  options: AgentCommandOptions,
  onListening: (address: Listening) => void,
): Promise<void> {
  // Standard input belongs to the client.
  const context: Context = { ...asked, ask: undefined, askText: undefined };
  const { name, port, allowed } = options;
  if (!isServedName(name)) throw new UsageError('--name takes a few letters, digits, "_" and "-"');
  const folder = join(stateFolder(environmentOf(context)), 'agents', name);
  const { settings } = await loadConfigFor(context);
  const { model, models } = await modelsFor(context, settings.agent);
  await withRuntime(context, runtimeOptions, async (runtime, diagnostics) => {
    warnOfDiagnostics(diagnostics, context);
    const conversations = { folder: join(folder, 'conversations') };
    const agent = createAgent({ runtime, model, budget: budgetOf(settings.agent), conversations, cwd: context.cwd });
    const server = agent.serve({
      ...{ name, models, limits: settings.serving },
      folders: { allowed, open: (cwd) => openFolder(context, cwd) },
      onError: (error) => context.warn((paint) => paint.yellow(printable(asRuntimeError(error).message))),
    });
    if (port === undefined) await Promise.race([server.stdio(), aborted(context.signal)]);
    else {
      onListening(await listen(server, port, options.hasToken ? join(folder, 'token') : undefined));
      await aborted(context.signal);
    }
    await server.close();
  });
}

interface OfferedModels {
  readonly model: ChatModel;
  /** Empty where there is no choice. */
  readonly models: readonly ChatModel[];
}

async function modelsFor(context: Context, settings: AgentSettings): Promise<OfferedModels> {
  const { values } = context;
  const isClients = values['model'] === samplingModel.name && values['url'] === undefined;
  if (isClients) return { model: samplingModel, models: [] };
  const { model, names, open } = await chooseModelFor(context, settings);
  return { model, models: names.length > 1 ? names.map(open) : [] };
}

/** A client's first message is answered before all servers are up; its first prompt waits for them. */
const runtimeOptions: RuntimeOptions = { watch: true, startup: { whenUncached: 'background' } };

/** The folder's own files count, and its servers need their own approval. */
async function openFolder({ runtimeOptions: common }: Context, cwd: string): Promise<Runtime> {
  return createRuntime({ ...common, ...runtimeOptions, cwd, interactive: false });
}

async function listen(server: McpServer, port: number, tokenFile: string | undefined): Promise<Listening> {
  try {
    const authenticate = tokenFile === undefined ? withoutToken : byToken(await readOrCreateToken(tokenFile));
    const { url } = await server.listen({ port, authenticate });
    return { url, tokenFile };
  } catch (error) {
    if (error instanceof TokenFileError) throw new UsageError(error.message);
    if (!isSystemError(error) || !(error.code === 'EADDRINUSE' || error.code === 'EACCES')) throw error;
    const because = error.code === 'EACCES' ? 'it is reserved' : 'another program has it';
    throw new UsageError(`port ${port} cannot be used: ${because}`);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
