// Owns how logins are drawn: before the page opens, while its answer is awaited, and in a list.

import type { LoginInfo, LoginPreview } from '../../api.ts';
import type { ServerName } from '../../model/names.ts';
import type { Paint } from '../command.ts';
import { indent, printable, table } from './text.ts';

const PASTED_BECAUSE = {
  'ports-taken': 'Other programs have the ports on which the answer would arrive, so it has to be pasted.',
  'not-this-machine': 'The answer does not come to this machine, so it has to be pasted.',
} as const;

/** The address of the page comes last, on a line of its own, so that it can be copied. */
export function previewText(name: ServerName, preview: LoginPreview, isOpened: boolean, paint: Paint): string {
  const { paste, page } = preview;
  return [
    `Login to ${paint.bold(printable(name))}. Check that this is what you mean:`,
    ...factLines(preview),
    ...(paste === undefined ? [] : [PASTED_BECAUSE[paste]]),
    isOpened ? 'Your browser opens this page:' : 'Open this page in a browser:',
    indent(printable(page)),
  ].join('\n');
}

export function pendingText(name: ServerName, preview: LoginPreview, finish: string, paint: Paint): string {
  return [
    previewText(name, preview, false, paint),
    'Then give the address at which the browser ended, in quotes, within ten minutes:',
    indent(finish),
  ].join('\n');
}

function factLines({ server, issuer, scopes }: LoginPreview): readonly string[] {
  return [
    `  server:  ${server}`,
    `  issuer:  ${issuer}`,
    `  scopes:  ${scopes.length === 0 ? 'none named; the issuer decides' : scopes.join(' ')}`,
  ].map(printable);
}

/** `accountHere`: the one that the server uses in this folder, whichever was logged in to. */
export function loggedInText(
  name: ServerName,
  info: LoginInfo,
  { accountHere, paint }: { readonly accountHere: string; readonly paint: Paint },
): string {
  const { issuer, account, scopes, formerIssuer, keyFile } = info;
  const named = account === '' ? '' : ` with the account "${account}"`;
  const used = accountHere === '' ? 'the login without a name' : `the account "${accountHere}"`;
  return [
    `${paint.green('Logged in')} to ${printable(`"${name}"${named}, by ${issuer}.`)}`,
    ...(account === accountHere
      ? []
      : [printable(`In this folder "${name}" uses ${used}; oauth.account in its entry chooses another.`)]),
    ...(scopes.length === 0 ? [] : [printable(`Rights: ${scopes.join(' ')}`)]),
    ...(formerIssuer === undefined
      ? []
      : [
          printable(
            `Its authorization server is another one than last time (${formerIssuer}); that login was replaced.`,
          ),
        ]),
    ...(keyFile === undefined
      ? []
      : [printable(`Logins are kept encrypted; their key lies in ${keyFile}, because no system keychain answered.`)]),
  ].join('\n');
}

export function loggedOutText(name: ServerName, removed: readonly LoginInfo[]): string {
  if (removed.length === 0)
    return `There was no such login to "${name}"; nothing was changed. See all logins and their accounts with: plexus login --list`;
  return `Logged out of "${name}" (${removed.map(({ issuer }) => issuer).join(', ')}).`;
}

export function loginListText(logins: readonly LoginInfo[], now: number, paint: Paint): string {
  if (logins.length === 0) return 'No login is stored. Log in with: plexus login NAME';
  const rows = logins.map(({ serverUrl, issuer, account, scopes, expiresAt, needsLogin }) =>
    [serverUrl, account, issuer, scopes.join(' '), stateOf(expiresAt, needsLogin, now)].map((text) => ({
      text: printable(text),
    })),
  );
  return table(['SERVER', 'ACCOUNT', 'ISSUER', 'RIGHTS', 'STATE'], rows, paint);
}

function stateOf(expiresAt: number | undefined, needsLogin: LoginInfo['needsLogin'], now: number): string {
  if (needsLogin !== undefined) return 'needs a new login';
  return expiresAt !== undefined && expiresAt <= now ? 'is renewed when used' : 'ready';
}
