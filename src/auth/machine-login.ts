// Owns logins without a person: client credentials, an assertion of the machine's own (RFC 7523), and an assertion that the
// identity provider of the enterprise issues for the server (ID-JAG).

import { isObject, parseJson } from '../kernel/json.ts';
import type { OAuthSettings } from '../model/server.ts';
import { loginFailed } from './auth-http.ts';
import { resourceFor, scopesFor } from './authorization.ts';
import { discover, findServer } from './discovery.ts';
import { createDpopKey } from './dpop.ts';
import type { Login } from './login-model.ts';
import { loginOf, wantsDpop } from './login-parts.ts';
import type { LoginDeps, LoginRequest } from './login-request.ts';
import { configuredClient } from './registration.ts';
import { refusesResource, requestTokens, requireSuccess, sendForm, type TokenDeps } from './token-request.ts';

type MachineGrant = Exclude<NonNullable<OAuthSettings['grant']>, 'authorization_code'>;

export function machineGrantOf({ grant }: OAuthSettings): MachineGrant | undefined {
  return grant === 'authorization_code' ? undefined : grant;
}

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

export async function logInAsMachine(request: LoginRequest, deps: LoginDeps, grant: MachineGrant): Promise<Login> {
  const { settings } = request;
  const found = await discover(deps.http, request);
  const scopes = scopesFor(
    { asked: request.scopes, configured: settings.scopes },
    { ...found, server: { ...found.server, scopes: [] } },
  );
  const resource = resourceFor(settings.resource, found);
  const required = (setting: RequiredSetting): string => requiredIn(deps, { grant, settings, setting });
  const clientId = grant === 'jwt_bearer' ? (settings.clientId ?? '') : required('clientId');
  const client = configuredClient(clientId, settings, { server: found.server, origin: 'configured', redirectUris: [] });
  if (grant === 'client_credentials' && client.authentication === 'none') required('clientSecret');
  const dpopKey = wantsDpop(found) ? createDpopKey() : undefined;
  const { issuer, tokenEndpoint } = found.server;
  const tokenDeps: TokenDeps = { ...deps, privateKey: settings.privateKey };
  const send = async (named: string) => {
    const assertion =
      grant === 'enterprise'
        ? await requestIdJag(tokenDeps, { issuer, resource: named, scopes, settings, required })
        : grant === 'jwt_bearer'
          ? required('assertion')
          : undefined;
    const grantFields =
      assertion === undefined ? { grant_type: 'client_credentials' } : { grant_type: JWT_BEARER, assertion };
    const form = { ...grantFields, scope: scopes.join(' '), resource: named };
    const tokens = await requestTokens(tokenDeps, { issuer, tokenEndpoint, client, form, scopes, dpopKey });
    return loginOf(request, found, { client, tokens, resource: named, dpopKey });
  };
  try {
    return await send(resource);
  } catch (error) {
    if (resource === '' || (settings.resource ?? 'auto') !== 'auto' || !refusesResource(error)) throw error;
    return { ...(await send('')), refusesResource: true };
  }
}

type RequiredSetting = 'clientId' | 'clientSecret' | 'assertion' | 'idToken' | 'idpClientId' | 'idpIssuer';

const SETTING_NAMES: Readonly<Record<RequiredSetting, string>> = {
  clientId: 'client_id',
  clientSecret: 'client_secret',
  assertion: 'assertion',
  idToken: 'id_token',
  idpClientId: 'idp_client_id',
  idpIssuer: 'idp_issuer',
};

interface Wanted {
  readonly grant: MachineGrant;
  readonly settings: OAuthSettings;
  readonly setting: RequiredSetting;
}

function requiredIn({ http }: LoginDeps, { grant, settings, setting }: Wanted): string {
  const value = settings[setting];
  if (value) return value;
  throw loginFailed(http.server, { kind: 'setting-missing', grant, setting: SETTING_NAMES[setting] });
}

interface IdJagRequest {
  /** The authorization server of the MCP server: the assertion is for it. */
  readonly issuer: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly settings: OAuthSettings;
  readonly required: (setting: RequiredSetting) => string;
}

/** Exchanges the person's id token for an assertion, at the identity provider of the enterprise (RFC 8693). */
async function requestIdJag(
  deps: TokenDeps,
  { issuer, resource, scopes, settings, required }: IdJagRequest,
): Promise<string> {
  const { http } = deps;
  const tokenEndpoint =
    settings.idpTokenEndpoint ?? (await findServer(http, required('idpIssuer'), false)).tokenEndpoint;
  const client = {
    clientId: required('idpClientId'),
    authentication: 'none',
    origin: 'configured',
    redirectUris: [],
  } as const;
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: ID_JAG,
    subject_token: required('idToken'),
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    audience: issuer,
    resource,
    scope: scopes.join(' '),
  };
  const response = await sendForm(
    deps,
    { issuer: settings.idpIssuer ?? tokenEndpoint, tokenEndpoint, client, form },
    tokenEndpoint,
  );
  requireSuccess(http, tokenEndpoint, response);
  const parsed = parseJson(response.text);
  const fields = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  const { access_token: assertion, issued_token_type: type } = fields;
  if (typeof assertion === 'string' && type === ID_JAG) return assertion;
  const problem = 'it gave no assertion for the authorization server (ID-JAG)';
  throw loginFailed(http.server, { kind: 'token-unusable', address: tokenEndpoint, problem });
}

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
