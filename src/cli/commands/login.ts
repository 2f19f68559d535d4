// Owns `plexus login` and `plexus logout`: what the person reads before a page opens, how the page reaches them, and what became of
// it. The login itself is `auth/`; a person who is elsewhere gets the address, and finishes it with `--finish`.

import type { LoginInfo, LoginPreview, Runtime } from '../../api.ts';
import { isHeadless, openBrowser } from '../../auth/open-browser.ts';
import type { ServerName } from '../../model/names.ts';
import { type Command, type CommandResult, type Context, UsageError } from '../command.ts';
import { serverNameIn } from '../positionals.ts';
import { loggedInText, loggedOutText, loginListText, pendingText, previewText } from '../render/logins.ts';
import { printable, shellWord } from '../render/text.ts';
import { withRuntime } from '../with-runtime.ts';

export const login: Command = {
  usage: 'login (NAME [--account NAME] [--scopes LIST] [--finish URL|CODE] | --list)',
  options: {
    account: { type: 'string' },
    scopes: { type: 'string' },
    finish: { type: 'string' },
    list: { type: 'boolean' },
  },
  help: {
    'account NAME': 'keep this login beside others of the server, under a name of your own',
    'scopes LIST': 'ask for these rights besides those of the present login; spaces between them',
    'finish URL|CODE':
      'finish a login that was begun with --json or without a terminal: the address at which the browser ended',
    list: 'show every stored login, without its tokens',
  },
  examples: ['login web', 'login web --account work', 'login web --json', 'login --list'],
  run(context) {
    const { values, positionals } = context;
    if (values['list'] === true) {
      if (positionals.length > 0) throw new UsageError('--list takes no server');
      return withIdleRuntime(context, listLogins);
    }
    const name = serverNameIn(context);
    const { finish } = values;
    return withIdleRuntime(context, (runtime) =>
      typeof finish === 'string' ? finishLogin(context, runtime, name, finish) : logIn(context, runtime, name),
    );
  },
};

export const logout: Command = {
  usage: 'logout NAME [--account NAME]',
  options: { account: { type: 'string' } },
  help: { 'account NAME': 'the login that was kept under this name' },
  examples: ['logout web'],
  run(context) {
    const name = serverNameIn(context);
    return withIdleRuntime(context, async (runtime) => {
      const removed = await runtime.logout(name, accountIn(context));
      return {
        data: { server: name, removed },
        text: () => printable(loggedOutText(name, removed)),
        // A typing error must not look like a success.
        exitCode: removed.length === 0 ? 2 : 0,
      };
    });
  },
};

/** No server is started for a login: most of them could not be without it. */
function withIdleRuntime(context: Context, use: (runtime: Runtime) => Promise<CommandResult>): Promise<CommandResult> {
  const startup = { whenCached: 'leave', whenUncached: 'leave' } as const;
  return withRuntime(context, { startup, required: 'report' }, use);
}

async function listLogins(runtime: Runtime): Promise<CommandResult> {
  const logins = await runtime.logins();
  return { data: { logins }, text: (paint) => loginListText(logins, Date.now(), paint) };
}

async function finishLogin(
  context: Context,
  runtime: Runtime,
  name: ServerName,
  answer: string,
): Promise<CommandResult> {
  const text = answer === '-' ? await context.readStdin() : answer;
  return completed(runtime, name, await runtime.finishLogin(name, text, accountIn(context)));
}

/** A program, or a person without a terminal, is not kept waiting: they get the address of the page. */
async function logIn(context: Context, runtime: Runtime, name: ServerName): Promise<CommandResult> {
  const host = { platform: process.platform, env: context.env };
  const isElsewhere = context.askText === undefined && isHeadless(host);
  if (context.values['json'] === true || isElsewhere) {
    const preview = await runtime.beginLogin(name, { ...accountIn(context), ...scopesIn(context) });
    if (preview !== undefined) return pending(context, name, preview);
  }
  const { askText, signal } = context;
  const info = await runtime.login(name, {
    ...accountIn(context),
    ...scopesIn(context),
    signal,
    openUrl: async (page, preview) => {
      const isOpened = !isHeadless(host) && preview.paste === undefined;
      context.warn((paint) => previewText(name, preview, isOpened, paint));
      if (isOpened && !(await openBrowser(page, host)))
        context.warn(() => 'No browser could be started: open the address above yourself.');
    },
    ...(askText && {
      pasteAnswer: (ended) => askText({ question: PASTE, isHidden: false, signal: ended }),
      askClientId: (issuer) =>
        askText({
          question: `${issuer} registers no programs by itself. Client id of an application there:`,
          isHidden: false,
          signal,
        }),
    }),
  });
  return completed(runtime, name, info);
}

const PASTE = 'If the browser ends on a page that does not load, paste its address here:';

function pending(context: Context, name: ServerName, preview: LoginPreview): CommandResult {
  const { account } = accountIn(context);
  const named = account === undefined ? '' : ` --account ${shellWord(account)}`;
  const finish = `plexus login ${shellWord(name)}${named} --finish URL`;
  const { server, issuer, scopes, page: url } = preview;
  return {
    data: { status: 'pending', server, issuer, scopes, url, finish },
    text: (paint) => pendingText(name, preview, finish, paint),
  };
}

/** A login that only this process has ends with it. */
function completed(runtime: Runtime, name: ServerName, info: LoginInfo): CommandResult {
  if (info.unwritten !== undefined) throw info.unwritten;
  const accountHere = runtime.status(name).login?.account ?? '';
  return {
    data: { status: 'completed', name, ...info },
    text: (paint) => loggedInText(name, info, { accountHere, paint }),
  };
}

function accountIn({ values: { account } }: Context): { readonly account?: string } {
  return typeof account === 'string' ? { account } : {};
}

function scopesIn({ values: { scopes } }: Context): { readonly scopes?: readonly string[] } {
  return typeof scopes === 'string' ? { scopes: scopes.split(/[\s,]+/).filter(Boolean) } : {};
}
