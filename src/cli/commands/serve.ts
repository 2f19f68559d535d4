// Owns `plexus serve`: the gateway over HTTP, or over stdin and stdout. Runs until it is interrupted.

import { join } from 'node:path';
import { stateFolder } from '../../config/scopes.ts';
import type { ServedGateway } from '../../gateway/serve.ts';
import { byToken, readOrCreateToken, withoutToken } from '../../serving/access.ts';
import { type Command, type CommandResult, type Context, type Paint, UsageError } from '../command.ts';

const HOST = '127.0.0.1';
const TOKEN_FILE = 'gateway.token';

export const serve: Command = {
  usage: 'serve [--port N] [--host H] [--stdio] [--expose all|search] [--no-token]',
  options: {
    port: { type: 'string' },
    host: { type: 'string' },
    stdio: { type: 'boolean' },
    expose: { type: 'string' },
    profile: { type: 'string' },
    'no-token': { type: 'boolean' },
  },
  help: {
    'port N': 'the port to listen on (plexus.serving.port); 0 takes any free one',
    'host H': `the address to listen on (${HOST})`,
    stdio: 'serve the program that started this one, over stdin and stdout',
    'expose all|search': 'show all tools, or a tool to search for them',
    'profile NAME': 'with --stdio, the profile of the client',
    'no-token': 'let every program of this machine in, on loopback only',
  },
  examples: ['serve', 'serve --port 8080', 'serve --stdio', 'serve --expose search'],
  async run(context) {
    const { values } = context;
    const asked = askedIn(values);
    const { openServedGateway } = await import('../../gateway/serve.ts');
    const { token, authenticate, tokenFile } = await accessFor(context, asked.isOpen);
    const served = await context.waitFor(
      'starting the gateway',
      openServedGateway({
        ...{ host: asked.host, authenticate },
        ...(asked.expose && { expose: asked.expose }),
        runtime: { ...context.runtimeOptions, signal: context.signal },
      }),
    );
    return asked.isStdio ? serveStdio(served, asked) : serveHttp(served, { ...asked, token, tokenFile }, context);
  },
};

interface Asked {
  readonly host: string;
  readonly port: number | undefined;
  readonly isStdio: boolean;
  readonly isOpen: boolean;
  readonly expose: 'all' | 'search' | undefined;
  readonly profile: string | undefined;
}

function askedIn(values: Context['values']): Asked {
  const { port, expose, host = HOST, profile } = values;
  if (expose !== undefined && expose !== 'all' && expose !== 'search')
    throw new UsageError('--expose takes all or search');
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && !(Number.isSafeInteger(number) && number >= 0 && number <= 65_535))
    throw new UsageError('--port takes a number from 0 to 65535');
  return {
    ...{ host: String(host), port: number, isStdio: values['stdio'] === true, isOpen: values['no-token'] === true },
    ...{ expose, profile: profile === undefined ? undefined : String(profile) },
  };
}

async function accessFor({ env, home }: Context, isOpen: boolean) {
  if (isOpen) return { authenticate: withoutToken, token: undefined, tokenFile: undefined };
  const { platform } = process;
  const tokenFile = join(stateFolder({ env, home, platform }), TOKEN_FILE);
  const token = await readOrCreateToken(tokenFile);
  return { authenticate: byToken(token, { id: 'own' }), token, tokenFile };
}

async function serveStdio(served: ServedGateway, { profile }: Asked): Promise<CommandResult> {
  try {
    await served.gateway.stdio(profile === undefined ? {} : { profile });
  } finally {
    await served.close();
  }
  return { data: {}, text: () => '' };
}

interface Listening extends Asked {
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
}

async function serveHttp(served: ServedGateway, asked: Listening, context: Context): Promise<CommandResult> {
  const { host, token, tokenFile } = asked;
  const { signal } = context;
  let address: { readonly url: string; readonly port: number };
  try {
    address = await served.listen({ host, port: asked.port ?? served.port });
  } catch (error) {
    await served.close();
    throw isTaken(error) ? portTaken(asked.port ?? served.port) : error;
  }
  const { url, port } = address;
  return {
    data: { url, port, ...(tokenFile !== undefined && { tokenFile }) },
    text: (paint) => greeting(url, { token, tokenFile }, paint),
    // biome-ignore lint/correctness/useYield: nothing more is printed until the end
    more: async function* () {
      await untilAborted(signal);
      await served.close();
    },
  };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const isTaken = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

const portTaken = (port: number) =>
  new UsageError(`port ${port} is taken; end the program that has it, or choose another with --port`);

function greeting(url: string, { token, tokenFile }: Pick<Listening, 'token' | 'tokenFile'>, paint: Paint): string {
  const access =
    token === undefined
      ? ['Every program of this machine may use it: it was started without a token.']
      : [`Clients need the token in ${tokenFile}, in the header Authorization: Bearer …`];
  return [`The gateway is at ${paint.bold(url)}`, ...access].join('\n');
}
