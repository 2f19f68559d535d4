// Owns telling a developer what goes wrong without being asked: the host's logger gets it or, where the host listens to nothing,
// Node's own warnings. Events carry the same; a host that takes those is not told twice.

import type { ServerName } from '../model/names.ts';
import type { Redactor } from '../shaping/redact.ts';
import type { ServerEvent } from './events.ts';

/** A logger such as `console`, pino or winston. */
export interface Logger {
  debug?(message: string): void;
  info?(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface NoticeDeps {
  /** `false`: the developer wants none of this. */
  readonly logger: Logger | false | undefined;
  /** Whether somebody receives events of the type: then nothing is written beside them. */
  readonly isHeard: (type: ServerEvent['type']) => boolean;
  readonly redactor: Pick<Redactor, 'text'>;
}

type Level = 'debug' | 'info' | 'warn' | 'error';

/** The function is called for every event of the servers, and is cheap for all that are not logged. */
export function createNotices({ logger, isHeard, redactor }: NoticeDeps): (event: ServerEvent) => void {
  /** Servers and patterns that were warned of; a server that came up may be warned of again. */
  const warned = new Set<string>();
  // A listener that the host adds as soon as it has the runtime counts: decide in the next turn of the event loop.
  const warnUnheard = ({ about, message }: Unusable, type: ServerEvent['type']) => {
    if (logger !== undefined || warned.has(about)) return;
    warned.add(about);
    setImmediate(() => {
      if (!isHeard(type)) process.emitWarning(redactor.text(message), 'PlexusWarning');
    });
  };
  return (event) => {
    if (logger === false) return;
    if (logger) for (const { level, message } of linesOf(event)) logTo(logger, level, redactor.text(message));
    if (event.type === 'connection.changed' && event.to === 'ready') warned.delete(event.server);
    for (const each of unusableIn(event)) warnUnheard(each, event.type);
  };
}

/** Where errors go that nobody waits for; they hold no secrets any more. */
export function errorNotice(logger: Logger | false | undefined): (error: unknown) => void {
  if (logger) return (error) => logTo(logger, 'error', error instanceof Error ? error.message : String(error));
  return logger === false ? () => undefined : warn;
}

function logTo(logger: Logger, level: Level, message: string): void {
  tellHost(() => logger[level]?.(message));
}

/** A host function that throws, or rejects later, must neither break the code that reports nor end the process. */
export function tellHost(tell: () => unknown): void {
  try {
    const answer = tell();
    if (answer instanceof Promise) answer.catch(warn);
  } catch (error) {
    warn(error);
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

interface Line {
  readonly level: Level;
  readonly message: string;
}

const NOTHING: readonly never[] = [];

function linesOf(event: ServerEvent): readonly Line[] {
  switch (event.type) {
    case 'config.loaded':
      return event.diagnostics.map(({ severity, file, line, message, remedy }) => ({
        level: severity === 'error' ? 'error' : 'warn',
        message: [file && `${file}${line === undefined ? '' : `:${line}`}:`, message, remedy].filter(Boolean).join(' '),
      }));
    case 'connection.changed': {
      const { server, from, to, cause } = event;
      const level = to === 'failed' || to === 'blocked' ? 'warn' : cause === undefined ? 'debug' : 'info';
      return [{ level, message: `${server}: ${from} → ${to}${cause === undefined ? '' : `. ${cause.message}`}` }];
    }
    case 'startup.completed':
      return [{ level: 'info', message: event.line }];
    case 'catalog.problem-found':
      return [{ level: 'info', message: `${event.server}: ${event.problem}` }];
    case 'catalog.name-collided':
      return [{ level: 'info', message: collided(event) }];
    case 'catalog.pattern-unmatched':
      return [{ level: 'warn', message: unmatched(event.pattern) }];
    case 'signal.raised':
      return [{ level: 'warn', message: `${event.server}: a text looks as if it gave a model orders` }];
    default:
      return NOTHING;
  }
}

/** A server that cannot be used, or a pattern that shows no tool. */
interface Unusable {
  readonly about: string;
  readonly message: string;
}

function unusableIn(event: ServerEvent): readonly Unusable[] {
  if (event.type === 'catalog.pattern-unmatched') return [{ about: event.pattern, message: unmatched(event.pattern) }];
  if (event.type === 'startup.completed')
    return event.notReady
      .filter(({ state }) => unusable.has(state))
      .map(({ server, message }) => notUsed(server, message));
  if (event.type !== 'connection.changed' || event.cause === undefined) return NOTHING;
  return event.to === 'failed' || event.to === 'blocked' ? [notUsed(event.server, event.cause.message)] : NOTHING;
}

/** States that waiting does not change. */
const unusable: ReadonlySet<string> = new Set(['invalid', 'blocked', 'needs-approval', 'needs-auth', 'failed']);

const notUsed = (server: ServerName, why = ''): Unusable => ({
  about: server,
  message: `MCP server "${server}" is not used. ${why}`.trim(),
});
function collided({ name, isReserved, tools }: Extract<ServerEvent, { type: 'catalog.name-collided' }>): string {
  const whose = tools.map(({ server, tool, name: now }) => `"${tool}" of server "${server}" is now ${now}`).join(', ');
  return `The name ${name} ${isReserved ? 'is reserved' : 'means several tools'}: ${whose}.`;
}
const unmatched = (pattern: string) => `The pattern "${pattern}" of view({ tools }) matches no tool.`;
