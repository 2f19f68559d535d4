// Owns why a login can fail, one row per cause: what happened, and what the person can do about it. Both stand in the message of
// LOGIN_FAILED, behind the name of the server.

import { shellWord } from '../kernel/shell-word.ts';
import type { ServerName } from './names.ts';

interface FaultRow<Data> {
  readonly happened: (data: Data) => string;
  readonly next: (data: Data, server: ServerName) => string;
}

const row = <Data>(
  happened: FaultRow<Data>['happened'],
  next: FaultRow<Data>['next'] = (_, server) => again(server),
): FaultRow<Data> => ({ happened, next });

const again = (server: ServerName) => `Log in again: plexus login ${shellWord(server)}`;
const notYours = (server: ServerName) =>
  `Do not log in: something answers in place of the authorization server. If you trust it, log in again: plexus login ${shellWord(server)}`;
const tellOperator = (server: ServerName) => `Tell the operator of "${server}"; no setting of yours can mend it.`;
const quoted = ({ error, description }: { readonly error: string; readonly description?: string | undefined }) =>
  description === undefined ? `"${error}"` : `"${error}" (${description})`;

const rows = {
  /** The server asks for a login and names no way to one. */
  'no-login-offered': row(
    (d: { url: string }) => `${d.url} did not ask for a login`,
    (_, server) => `Use "${server}" without one, or check the url in its configuration.`,
  ),
  'metadata-missing': row(
    (d: { issuer: string }) => `its authorization server ${d.issuer} does not say how to log in`,
    (_, server) =>
      `If you know where its metadata lies, name the address with oauth.metadata_url of "${server}"; otherwise tell its operator.`,
  ),
  'metadata-broken': row(
    (d: { address: string; problem: string }) => `the document at ${d.address} ${d.problem}`,
    (_, server) => tellOperator(server),
  ),
  'issuer-lies': row(
    (d: { address: string; issuer: string }) =>
      `the metadata of ${d.address} is that of another authorization server, ${d.issuer}`,
    (_, server) => tellOperator(server),
  ),
  'other-resource': row(
    (d: { url: string; resource: string }) =>
      `its metadata is for another server: it names ${d.resource}, and not ${d.url}`,
    (_, server) => `Check the url of "${server}" in your configuration; if it is right, tell its operator.`,
  ),
  'insecure-address': row(
    (d: { what: string; address: string }) =>
      `${d.what} is ${d.address}, which ${/^https:/i.test(d.address) ? 'has a name before its host' : 'is not https'}`,
    (_, server) => tellOperator(server),
  ),
  'private-address': row(
    (d: { address: string }) =>
      `the server is public and names ${d.address}, which leads to this machine or to the network around it`,
    (_, server) =>
      `If that is meant, set oauth.allow_private_network = true for "${server}" in your own configuration.`,
  ),
  'redirected-away': row(
    (d: { address: string; reason: string }) => `${d.address} cannot be used: ${d.reason}`,
    (_, server) => tellOperator(server),
  ),
  'pkce-missing': row(
    (d: { issuer: string; methods?: readonly string[] | undefined }) =>
      d.methods === undefined
        ? `${d.issuer} does not say that it protects logins with PKCE`
        : `${d.issuer} protects logins with ${d.methods.join(', ') || 'nothing'}, and not with PKCE by S256`,
    (d, server) =>
      d.methods === undefined
        ? `If you know that it does, set oauth.pkce = "assume" for "${server}" in your own configuration.`
        : tellOperator(server),
  ),
  'client-unknown': row(
    (d: { issuer: string }) => `${d.issuer} registers no clients by itself`,
    (_, server) => `Register an application there and set oauth.client_id of "${server}" to its id.`,
  ),
  'registration-refused': row(
    (d: { issuer: string; reason: string }) => `${d.issuer} did not register this client: ${d.reason}`,
    (_, server) => `Register an application there by hand and set oauth.client_id of "${server}" to its id.`,
  ),
  'setting-missing': row(
    (d: { grant: string; setting: string }) => `the grant ${d.grant} needs oauth.${d.setting}, which is not set`,
    (d, server) => `Set oauth.${d.setting} for "${server}".`,
  ),
  'setting-unusable': row(
    (d: { setting: string; problem: string }) => `oauth.${d.setting} ${d.problem}`,
    (d, server) => `Correct oauth.${d.setting} of "${server}".`,
  ),
  'ports-taken': row(
    (d: { addresses: readonly string[] }) =>
      `other programs listen at ${d.addresses.join(', ')}, so the answer of the login page cannot be taken`,
    (_, server) =>
      `End one of them, or run this in a terminal, where the answer can be pasted: plexus login ${shellWord(server)}`,
  ),
  /** Only the person's own files may say that the metadata of an issuer lies at another origin. */
  'metadata-elsewhere': row(
    (d: { address: string; issuer: string }) =>
      `oauth.metadata_url leads to ${d.address}, which says that it is ${d.issuer} and is another origin`,
    (_, server) => `Do not log in, unless you trust it: then define "${server}" in your own configuration.`,
  ),
  'page-refused': row(
    (d: { address: string }) => `the login page would be ${d.address}, and only http and https addresses are opened`,
    (_, server) => tellOperator(server),
  ),
  'page-too-long': row(
    (d: { chars: number; scopes: number }) =>
      `the address of its login page would have ${d.chars} characters, with ${d.scopes} rights, which no browser takes`,
    (_, server) => `Name the rights that you need in oauth.scopes of "${server}".`,
  ),
  'state-missing': row(
    (_: object) => 'the answer of the login page has no state, so it may belong to another login',
    (_, server) => again(server),
  ),
  /** A shell ends a command at the `&` of an address that is not quoted. */
  'address-cut': row(
    (_: object) => 'a part of the address is missing: it has no state',
    () => 'Give the whole address that the browser shows at the end, in quotes.',
  ),
  'state-differs': row(
    (_: object) => 'the answer belongs to another login, or to none that was started here',
    (_, server) => `Finish the page that was opened last, or begin afresh: plexus login ${shellWord(server)}`,
  ),
  'issuer-missing': row(
    (d: { issuer: string }) =>
      `the answer does not name its authorization server, although ${d.issuer} says that it always does`,
    (_, server) => notYours(server),
  ),
  /** Shows nothing of the answer, not even its error: all of it may be an attacker's. */
  'issuer-differs': row(
    (d: { issuer: string }) => `the answer comes from another authorization server than ${d.issuer}`,
    (_, server) => notYours(server),
  ),
  'scopes-refused': row(
    (d: { scopes: readonly string[] }) =>
      `it demands ${d.scopes.join(' ')}, which the present login already has, so another login would not help`,
    (_, server) => tellOperator(server),
  ),
  'scopes-endless': row(
    (d: { times: number }) => `it has demanded more rights of this login ${d.times} times already`,
    (_, server) =>
      `If you trust it, name all the rights it needs in oauth.scopes of "${server}" and log in afresh: plexus login ${shellWord(server)}`,
  ),
  refused: row(
    (d: { error: string; description?: string | undefined }) => `the authorization server answered ${quoted(d)}`,
    (d, server) =>
      /^(?:invalid|unauthorized)_client$/.test(d.error)
        ? `${again(server)}. If oauth.client_id of "${server}" is set, check it, and its secret or key.`
        : again(server),
  ),
  'code-missing': row((_: object) => 'the answer of the login page has no code'),
  'address-needed': row(
    (d: { issuer: string }) => `the code alone is not enough, because ${d.issuer} names itself in the address`,
    () => 'Give the whole address that the browser shows at the end.',
  ),
  'timed-out': row(
    (d: { afterMs: number; resource: string }) =>
      `nobody finished the login page within ${Math.round(d.afterMs / 60_000)} min`,
    (d, server) =>
      d.resource === ''
        ? again(server)
        : `${again(server)}. If the page itself showed an error, it may not know the resource: set oauth.resource = "off" for "${server}".`,
  ),
  cancelled: row((_: object) => 'it was called off'),
  'nothing-pending': row(
    (_: object) => 'no login waits to be finished, or it was begun more than ten minutes ago',
    (_, server) => again(server),
  ),
  'token-unusable': row(
    (d: { address: string; problem: string }) => `${d.address} answered with no token that can be used: ${d.problem}`,
    (_, server) => tellOperator(server),
  ),
} as const satisfies Record<string, FaultRow<never>>;

export type LoginFaultKind = keyof typeof rows;

export type LoginFault = {
  readonly [Kind in LoginFaultKind]: { readonly kind: Kind } & ((typeof rows)[Kind] extends FaultRow<infer Data>
    ? Readonly<Data>
    : never);
}[LoginFaultKind];

export function loginFaultSentences(
  fault: LoginFault,
  server: ServerName,
): { readonly happened: string; readonly next: string } {
  // The row and its data belong together by the kind; the compiler cannot follow the pair through an index.
  const { happened, next } = rows[fault.kind] as FaultRow<LoginFault>;
  return { happened: happened(fault), next: next(fault, server) };
}
