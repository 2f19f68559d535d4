// Owns `plexus agent`: the agent as an MCP server for other programs, over stdio or on a port of this machine.

import { join, resolve } from 'node:path';
import type { Runtime, RuntimeOptions } from '../../api.ts';
import { stateFolder } from '../../config/scopes.ts';
import { createDeferred } from '../../kernel/deferred.ts';
import { isSystemError } from '../../kernel/replace-file.ts';
import type { ListeningServer, McpServer } from '../../serving/door.ts';
import { type Command, type Context, UsageError } from '../command.ts';
import { environmentOf, loadConfigFor } from '../load-config.ts';
import { printable } from '../render/text.ts';
import { warnOfDiagnostics, withRuntime } from '../with-runtime.ts';

export const agent: Command = {
  usage: 'agent [--port N [--no-token]] [--name NAME] [--allow-cwd DIR] [options]',
  options: {
    port: { type: 'string' },
    'no-token': { type: 'boolean' },
    name: { type: 'string' },
    'allow-cwd': { type: 'string', multiple: true },
    model: { type: 'string' },
    url: { type: 'string' },
  },
  help: {
    'port N': 'serve over HTTP on this machine at this port, 0 for any free one; without it, over stdio',
    'no-token': 'with --port: let every program of this machine in',
    'name NAME': 'the name of the tool; the other one is NAME-reply (plexus)',
    'allow-cwd DIR': 'a folder that clients may work in beside this one; can be repeated',
    'model NAME': "the model; sampling means the client's own",
    'url ADDRESS': 'the address of the model',
  },
  examples: ['agent', 'agent --name cocode', 'agent --port 4020', 'agent --port 4020 --no-token'],
  async run(context) {
    const asked = readOptions(context);
    const listening = createDeferred<Listening | undefined>();
    const served = serve(context, asked, listening.resolve);
    const address = await Promise.race([listening.promise, served.then(() => undefined)]);
    // Over stdio nothing but the protocol may be printed.
    if (address === undefined) {
      await served;
      return { data: undefined, text: () => '', bytes: new Uint8Array() };
    }
    return {
      data: address,
      text: () => printable(listeningText(address)),
      more: async function* () {
        yield* [];
        await served;
      },
    };
  },
};

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
  { name, port, hasToken, allowed }: AgentCommandOptions,
  onListening: (address: Listening) => void,
): Promise<void> {
  // Standard input belongs to the client.
  const context: Context = { ...asked, ask: undefined, askText: undefined };
  const { signal, warn } = context;
  const folder = join(stateFolder(environmentOf(context)), 'agents', name);
  const { settings } = await loadConfigFor(context);
  const { isServedName } = await import('../../agent/served-agent.ts');
  if (!isServedName(name)) throw new UsageError('--name takes a few letters, digits, "_" and "-"');
  const [{ chatCompletionsModel, createAgent, samplingModel }, { byToken, readOrCreateToken, withoutToken }] =
    await Promise.all([import('../../agent/agent.ts'), import('../../serving/door.ts')]);
  const model = chatCompletionsModel({ model: String(context.values['model']), url: String(context.values['url']) });
  await withRuntime(context, runtimeOptions, async (runtime, diagnostics) => {
    warnOfDiagnostics(diagnostics, context);
    const server = createAgent({
      runtime,
      model: context.values['model'] === 'sampling' ? samplingModel : model,
      conversations: { folder: join(folder, 'conversations') },
      cwd: context.cwd,
    }).serve({
      name,
      limits: settings.serving,
      folders: { allowed, open: (cwd) => openFolder(context, cwd) },
      onError: (error) => warn((paint) => paint.yellow(printable(String(error)))),
    });
    if (port === undefined) {
      if (context.stdin.isTTY === true)
        warn(() => 'Waiting for a client on standard input. To talk yourself: plexus chat');
      await Promise.race([server.stdio(), aborted(signal)]);
    } else {
      const tokenFile = hasToken ? join(folder, 'token') : undefined;
      const authenticate = tokenFile === undefined ? withoutToken : byToken(await readOrCreateToken(tokenFile));
      const { url } = await listen(server, port, authenticate);
      onListening({ url, tokenFile });
      await aborted(signal);
    }
    await server.close();
  });
}

/** A client's first message is answered before all servers are up; its first prompt waits for them. */
const runtimeOptions: RuntimeOptions = { watch: true, startup: { whenUncached: 'background' } };

/** The folder's own files count, and its servers need their own approval. */
async function openFolder({ runtimeOptions: common }: Context, cwd: string): Promise<Runtime> {
  const { createRuntime } = await import('../../runtime.ts');
  return createRuntime({ ...common, ...runtimeOptions, cwd, interactive: false });
}

async function listen(
  server: McpServer,
  port: number,
  authenticate: Parameters<McpServer['listen']>[0]['authenticate'],
): Promise<ListeningServer> {
  try {
    return await server.listen({ port, authenticate });
  } catch (error) {
    if (isSystemError(error) && (error.code === 'EADDRINUSE' || error.code === 'EACCES'))
      throw new UsageError(
        `port ${port} cannot be used: ${error.code === 'EACCES' ? 'it is reserved' : 'another program has it'}`,
      );
    throw error;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
