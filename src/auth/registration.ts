// Owns becoming known to an authorization server, in the order of the specification: the configured client, a client id metadata
// document, a registration, and last the person, who may know an id. What was registered or typed is kept per issuer and reused.

import { isObject, parseJson } from '../kernel/json.ts';
import { isFailure } from '../model/errors.ts';
import { identity } from '../model/identity.ts';
import { limits } from '../model/limits.ts';
import type { OAuthSettings } from '../model/server.ts';
import { type AuthHttp, isLoopback, loginFailed, unavailable } from './auth-http.ts';
import { chooseAuthentication } from './client-authentication.ts';
import type { ClientRegistration, Login } from './login-model.ts';
import type { ServerMetadata } from './metadata.ts';
import { quirkOf } from './quirks.ts';
import { quote } from './token-request.ts';

/** Registrations of before, by issuer: another authorization server never sees the client of this one. */
export interface Registrations {
  find(issuer: string): Promise<ClientRegistration | undefined>;
  keep(issuer: string, client: ClientRegistration): Promise<void>;
  forget(issuer: string): Promise<void>;
  /** Held while a client registers, so that processes that log in together become one client. Returns the release function. */
  lock(issuer: string, signal?: AbortSignal): Promise<() => Promise<void>>;
}

export interface RegistrationRequest {
  readonly server: ServerMetadata;
  readonly settings: OAuthSettings;
  /** Asks the person for a client id; absent where nobody can be asked. */
  readonly askClientId?: ((issuer: string) => Promise<string | undefined>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function findClient(
  http: AuthHttp,
  registrations: Registrations,
  { server, settings, askClientId, signal }: RegistrationRequest,
): Promise<ClientRegistration> {
  const { issuer, registrationEndpoint } = server;
  const redirectUris = redirectUrisFor(server, settings);
  const { clientId, clientMetadataUrl } = settings;
  if (clientId !== undefined)
    return configuredClient(clientId, settings, { server, redirectUris, origin: 'configured' });
  if (clientMetadataUrl !== undefined && server.takesMetadataDocuments)
    return { clientId: clientMetadataUrl, authentication: 'none', origin: 'metadata-document', redirectUris };
  const find = async () => {
    const known = await registrations.find(issuer);
    if (known === undefined || !redirectUris.every((each) => known.redirectUris.includes(each))) return undefined;
    if (known.origin !== 'asked') return known;
    return configuredClient(known.clientId, settings, { server, redirectUris, origin: 'asked' });
  };
  const known = await find();
  if (known !== undefined) return known;
  if (registrationEndpoint !== undefined) {
    const release = await registrations.lock(issuer, signal);
    try {
      const ofAnother = await find();
      if (ofAnother !== undefined) return ofAnother;
      const client = await register(http, server, { endpoint: registrationEndpoint, redirectUris });
      await registrations.keep(issuer, client);
      return client;
    } finally {
      await release();
    }
  }
  const answered = (await askClientId?.(issuer))?.trim();
  if (!answered) throw loginFailed(http.server, { kind: 'client-unknown', issuer });
  return configuredClient(answered, settings, { server, redirectUris, origin: 'asked' });
}

/** Keeps the client id that a person typed, now that a login has shown it to be right. Its secret stays where the settings have it. */
export async function keepAsked(registrations: Registrations, { key: { issuer }, client }: Login): Promise<void> {
  if (client.origin === 'asked') await registrations.keep(issuer, { ...client, clientSecret: undefined });
}

/**
 * Forgets a client that its authorization server does not know any more, so that the next login registers or asks afresh. A page that
 * nobody finished may have said so to the person alone.
 */
export async function forgetUnknown(
  registrations: Registrations,
  { issuer, client }: { readonly issuer: string; readonly client: ClientRegistration },
  error: unknown,
): Promise<void> {
  const fault = isFailure(error, 'LOGIN_FAILED') ? error.data.fault : undefined;
  const isUnknown = fault?.kind === 'timed-out' || (fault?.kind === 'refused' && UNKNOWN_CLIENT.has(fault.error));
  if (!isUnknown || (await registrations.find(issuer))?.clientId !== client.clientId) return;
  await registrations.forget(issuer);
}

const UNKNOWN_CLIENT: ReadonlySet<string> = new Set(['invalid_client', 'unauthorized_client']);

/** The client that the settings name, with the secret or the key that they give it. */
export function configuredClient(
  clientId: string,
  { clientSecret, privateKey }: OAuthSettings,
  { server, ...rest }: Pick<ClientRegistration, 'origin' | 'redirectUris'> & { readonly server: ServerMetadata },
): ClientRegistration {
  const authentication = chooseAuthentication({ clientSecret, privateKey }, server.authenticationMethods);
  return { clientId, clientSecret, authentication, ...rest };
}

/**
 * Where answers may be sent, the preferred address first. A client that is known in advance has one address, under the name that
 * people register; a registered one has three, so that a taken port is no obstacle.
 */
export function redirectUrisFor(server: ServerMetadata, settings: OAuthSettings): readonly string[] {
  const fixed = settings.redirectUri ?? quirkOf(server.issuer).redirectUri;
  if (fixed !== undefined) return [fixed];
  const [port, ...further] = limits.login.callbackPorts;
  const first = settings.callbackPort ?? port;
  if (settings.clientId !== undefined) return [`http://localhost:${first}/callback`];
  const isDocument = settings.clientMetadataUrl !== undefined && server.takesMetadataDocuments;
  const isOneAlone = isDocument || settings.callbackPort !== undefined;
  return [first, ...(isOneAlone ? [] : further)].map((each) => `http://127.0.0.1:${each}/callback`);
}

/** Whether a listener on this machine can take the answer. */
export const isCallback = (redirectUri: string): boolean =>
  URL.canParse(redirectUri) && new URL(redirectUri).protocol === 'http:' && isLoopback(new URL(redirectUri).hostname);

async function register(
  http: AuthHttp,
  server: ServerMetadata,
  { endpoint, redirectUris }: { readonly endpoint: string; readonly redirectUris: readonly string[] },
): Promise<ClientRegistration> {
  const { issuer, authenticationMethods: methods } = server;
  const wanted = (['none', 'client_secret_basic', 'client_secret_post'] as const).find((each) =>
    methods?.includes(each),
  );
  const body = JSON.stringify({
    client_name: identity.title,
    redirect_uris: redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: wanted ?? 'none',
    application_type: 'native',
  });
  const request = { method: 'POST', headers: ['content-type', 'application/json'], body } as const;
  const { status, text } = await http.request(endpoint, request);
  if (status >= 500) throw unavailable(http.server, new URL(endpoint).origin, `it answered HTTP ${status}`);
  const parsed = parseJson(text);
  const fields = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: method } = fields;
  if (status >= 300 || typeof clientId !== 'string' || clientId === '')
    throw loginFailed(http.server, { kind: 'registration-refused', issuer, reason: refusalIn(status, fields) });
  const clientSecret = typeof secret === 'string' && secret !== '' ? secret : undefined;
  const means = { clientSecret, method: typeof method === 'string' ? method : undefined };
  const authentication = chooseAuthentication(means, methods);
  return { clientId, clientSecret, authentication, origin: 'registered', redirectUris };
}

function refusalIn(status: number, fields: Readonly<Record<string, unknown>>): string {
  const words = [fields['error'], fields['error_description']].filter((each) => typeof each === 'string');
  return status < 300
    ? 'its answer has no client id'
    : `HTTP ${status}${words.length > 0 ? `, ${quote(words.join(': '))}` : ''}`;
}
