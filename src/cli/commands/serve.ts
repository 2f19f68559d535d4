// Owns `plexus serve`: the gateway over HTTP, or over stdin and stdout. Runs until it is interrupted.

import { stateFolder } from '../../config/scopes.ts';
import type { Residence } from '../../gateway/residence.ts';
import type { ServedGateway } from '../../gateway/serve.ts';
import { isSystemError } from '../../kernel/system-error.ts';
import { isLoopback, TokenFileError, withoutToken } from '../../serving/access.ts';
import { type Command, type CommandResult, type Context, type Paint, UsageError } from '../command.ts';
import { rejectExtra } from '../positionals.ts';

const HOST = '127.0.0.1';

export const serve: Command = {
  usage: [
    'serve [--port N] [--host H] [--expose all|search] [--no-token]',
    'plexus serve --stdio [--profile NAME] [--expose all|search]',
    'plexus serve token add NAME --profile NAME',
    'plexus serve token list',
    'plexus serve token revoke NAME',
  ].join('\n  '),
  options: {
    port: { type: 'string' },
    host: { type: 'string' },
    stdio: { type: 'boolean' },
    expose: { type: 'string' },
    profile: { type: 'string' },
    'no-token': { type: 'boolean' },
    'until-idle': { type: 'boolean' },
  },
  help: {
    'port N': 'the port to listen on (plexus.serving.port); 0 takes any free one',
    'host H': `the address to listen on (${HOST})`,
    stdio: 'serve the program that started this one, over stdin and stdout',
    'expose all|search': 'show all tools, or a tool to search for them',
    'profile NAME': 'the profile of the client, with --stdio or token add',
    'no-token': 'let every program of this machine in, on loopback only',
    'until-idle': 'end ten minutes after the last client; plexus connect starts it so',
  },
  examples: ['serve', 'serve --port 8080', 'serve --stdio', 'serve token add editor --profile work'],
  async run(context) {
    const [word] = context.positionals;
    if (word === 'token') return (await import('../serve-token.ts')).serveToken(context);
    const asked = askedIn(context.values);
    rejectExtra(word);
    rejectMeaningless(asked);
    return asked.isStdio ? serveStdio(context, asked) : serveHttp(context, asked);
  },
};

interface Asked {
  readonly host: string;
  readonly port: number | undefined;
  readonly isStdio: boolean;
  readonly isOpen: boolean;
  readonly endsWhenIdle: boolean;
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
  const [isStdio, isOpen] = [values['stdio'] === true, values['no-token'] === true];
  // Without a name Node listens at every address of the machine.
  if (host === '') throw new UsageError('--host takes the name or address to listen on');
  return {
    ...{ host: String(host), port: number, isStdio, isOpen },
    endsWhenIdle: values['until-idle'] === true,
    ...{ expose, profile: profile === undefined ? undefined : String(profile) },
  };
}

/** An option that would change nothing is a mistake that its person should hear of. */
function rejectMeaningless({ isStdio, profile, host, port, isOpen }: Asked): void {
  const ofPort = host !== HOST || port !== undefined || isOpen;
  if (isStdio && ofPort) throw new UsageError('--port, --host and --no-token are for HTTP, and not for --stdio');
  if (!isStdio && profile !== undefined)
    throw new UsageError(
      '--profile goes with --stdio or token add; over HTTP a client names its profile in the address: /mcp/p/NAME',
    );
  if (isOpen && !isLoopback(host))
    throw new UsageError(`--no-token lets in programs of this machine only, so it does not go with --host ${host}`);
}

type Opened = Pick<Residence, 'authenticate'> & Partial<Pick<Residence, 'refuses' | 'env'>>;

async function openGateway(context: Context, { host, expose }: Asked, opened: Opened): Promise<ServedGateway> {
  const { openServedGateway } = await import('../../gateway/serve.ts');
  const { setGatewayFlags } = await import('../../gateway/v8-flags.ts');
  const { env = context.env, ...access } = opened;
  const served = await context.waitFor(
    'starting the gateway',
    openServedGateway({
      ...{ host, ...access },
      ...(expose && { expose }),
      runtime: { ...context.runtimeOptions, env, signal: context.signal },
    }),
  );
  setGatewayFlags();
  return served;
}

async function serveStdio(context: Context, asked: Asked): Promise<CommandResult> {
  const { profile } = asked;
  const { env, home } = context;
  if (profile !== undefined) await (await import('../serve-token.ts')).requireProfile(context, profile);
  const { markedEnvironment } = await import('../../gateway/claim.ts');
  const marked = await markedEnvironment(stateFolder({ env, home, platform: process.platform }), env);
  const served = await openGateway(context, asked, { authenticate: withoutToken, env: marked });
  try {
    await served.gateway.stdio(profile === undefined ? {} : { profile });
  } finally {
    await served.close();
  }
  return { data: {}, text: () => '' };
}

async function serveHttp(context: Context, asked: Asked): Promise<CommandResult> {
  const residence = await takeResidence(context, asked).catch((error: unknown) => {
    throw error instanceof TokenFileError ? new UsageError(error.message) : error;
  });
  const { token, tokenFile, authenticate, refuses, env } = residence;
  let served: ServedGateway | undefined;
  let address: { readonly url: string; readonly port: number };
  try {
    served = await openGateway(context, asked, { authenticate, refuses, env });
    address = await residence.open(served, asked.port ?? served.port);
  } catch (error) {
    await residence.close(served);
    throw faultOfAddress(error, asked.host, asked.port ?? served?.port) ?? error;
  }
  const { url, port } = address;
  return {
    data: { url, port, ...(token !== undefined && { tokenFile }) },
    text: (paint) => greeting(url, { token, tokenFile }, paint),
    // biome-ignore lint/correctness/useYield: nothing more is printed until the end
    more: async function* () {
      await untilAborted(AbortSignal.any([context.signal, residence.ended]));
      await residence.close(served);
    },
  };
}

async function takeResidence(
  { env, home, warn, runtimeOptions }: Context,
  { host, isOpen, endsWhenIdle }: Asked,
): Promise<Residence> {
  const [{ openResidence }, { configurationOf }, { createFileStore }, { systemClock }] = await Promise.all([
    import('../../gateway/residence.ts'),
    import('../../gateway/instance.ts'),
    import('../../store/file.ts'),
    import('../../kernel/clock.ts'),
  ]);
  const folder = stateFolder({ env, home, platform: process.platform });
  const store = createFileStore(folder, systemClock);
  const onError = (error: unknown) => warn(() => `plexus: ${error instanceof Error ? error.message : String(error)}`);
  const configuration = configurationOf({ env, home, platform: process.platform }, runtimeOptions.config);
  return openResidence({ stateFolder: folder, store, env, host, configuration, isOpen, endsWhenIdle, onError });
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Why the person's own choice of an address cannot be listened on. */
function faultOfAddress(error: unknown, host: string, port: number | undefined): UsageError | undefined {
  if (!isSystemError(error) || !LISTENING.includes(error.syscall)) return undefined;
  if (error.code === 'EADDRINUSE')
    return new UsageError(`port ${port} is taken; end the program that has it, or choose another with --port`);
  if (error.code === 'EACCES') return new UsageError(`port ${port} is reserved; choose another with --port`);
  return new UsageError(`this machine has no address ${host} to listen on`);
}

/** A host that is a name is looked up first. */
const LISTENING: readonly unknown[] = ['listen', 'getaddrinfo'];

function greeting(url: string, { token, tokenFile }: Pick<Residence, 'token' | 'tokenFile'>, paint: Paint): string {
  const access =
    token === undefined
      ? ['Every program of this machine may use it: it was started without a token.']
      : [`Clients need the token in ${tokenFile}, in the header Authorization: Bearer …`];
  return [`The gateway is at ${paint.bold(url)}`, ...access].join('\n');
}
