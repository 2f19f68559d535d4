// Owns reading the two documents of a login: what a protected resource and an authorization server say of themselves. Pure: keeps
// the fields that are used and have the right type, and says what is wrong with a document that cannot be used at all.

import { isObject, type JsonObject, parseJson } from '../kernel/json.ts';
import { isWord } from './challenge.ts';

/** RFC 9728. */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes?: readonly string[] | undefined;
  readonly requiresDpop: boolean;
}

/** RFC 8414 and OpenID Connect Discovery: the fields that both have. */
export interface ServerMetadata {
  readonly issuer: string;
  readonly authorizationEndpoint?: string | undefined;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint?: string | undefined;
  readonly revocationEndpoint?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly pkceMethods?: readonly string[] | undefined;
  readonly authenticationMethods?: readonly string[] | undefined;
  readonly takesMetadataDocuments: boolean;
  /** Whether every answer of its page names the issuer (RFC 9207). */
  readonly namesItself: boolean;
  readonly dpopAlgorithms?: readonly string[] | undefined;
}

/** A document, or what is wrong with it as the end of a sentence that names its address. */
export type Read<Document> = { readonly document: Document } | { readonly problem: string };

export function readResourceMetadata(text: string): Read<ResourceMetadata> {
  return read(text, (fields) => {
    const resource = textIn(fields, 'resource');
    if (resource === undefined) return { problem: 'does not name the resource that it describes' };
    return {
      document: {
        resource,
        authorizationServers: listIn(fields, 'authorization_servers') ?? [],
        scopes: listIn(fields, 'scopes_supported'),
        requiresDpop: fields['dpop_bound_access_tokens_required'] === true,
      },
    };
  });
}

export function readServerMetadata(text: string): Read<ServerMetadata> {
  return read(text, (fields) => {
    const [issuer, tokenEndpoint] = [textIn(fields, 'issuer'), textIn(fields, 'token_endpoint')];
    if (issuer === undefined) return { problem: 'does not name its issuer' };
    if (tokenEndpoint === undefined) return { problem: 'does not name its token endpoint' };
    return {
      document: {
        issuer,
        tokenEndpoint,
        authorizationEndpoint: textIn(fields, 'authorization_endpoint'),
        registrationEndpoint: textIn(fields, 'registration_endpoint'),
        revocationEndpoint: textIn(fields, 'revocation_endpoint'),
        scopes: listIn(fields, 'scopes_supported'),
        pkceMethods: listIn(fields, 'code_challenge_methods_supported'),
        authenticationMethods: listIn(fields, 'token_endpoint_auth_methods_supported'),
        takesMetadataDocuments: fields['client_id_metadata_document_supported'] === true,
        namesItself: fields['authorization_response_iss_parameter_supported'] === true,
        dpopAlgorithms: listIn(fields, 'dpop_signing_alg_values_supported'),
      },
    };
  });
}

/** The endpoints of a server of 2025-03-26 that has no metadata: at fixed paths of its origin. That revision demands PKCE of all. */
export function defaultMetadata(origin: string): ServerMetadata {
  return {
    issuer: origin,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    pkceMethods: ['S256'],
    takesMetadataDocuments: false,
    namesItself: false,
  };
}

function read<Document>(text: string, take: (fields: JsonObject) => Read<Document>): Read<Document> {
  const parsed = parseJson(text);
  if (!parsed.ok) return { problem: /^\s*</.test(text) ? 'is a web page, and not JSON' : 'is not JSON' };
  return isObject(parsed.value) ? take(parsed.value) : { problem: 'is not a JSON object' };
}

function textIn(fields: JsonObject, name: string): string | undefined {
  const value = fields[name];
  return isWord(value) ? value : undefined;
}

function listIn(fields: JsonObject, name: string): readonly string[] | undefined {
  const value = fields[name];
  return Array.isArray(value) ? value.filter(isWord) : undefined;
}
