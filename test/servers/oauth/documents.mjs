// Owns the metadata of the authorization server and of the protected resource, and how they lie when a test wants them to.

export function createDocuments({ settings, counts, place }) {
  const server = () =>
    merged(
      {
        issuer: place.origin,
        authorization_endpoint: `${place.origin}/authorize`,
        token_endpoint: `${place.origin}/token`,
        registration_endpoint: `${place.origin}/register`,
        revocation_endpoint: `${place.origin}/revoke`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
        authorization_response_iss_parameter_supported: true,
        ...(settings.dpop && { dpop_signing_alg_values_supported: ['ES256'] }),
      },
      settings.metadataFields,
    );
  const resource = () =>
    merged(
      {
        resource: `${place.origin}/mcp`,
        authorization_servers: [place.origin],
        ...(settings.dpop && { dpop_bound_access_tokens_required: true }),
      },
      settings.resourceFields,
    );
  const has = {
    '/.well-known/oauth-authorization-server': () => ['both', 'oauth'].includes(settings.metadata),
    '/.well-known/openid-configuration': () => ['both', 'oidc'].includes(settings.metadata),
    '/.well-known/oauth-protected-resource/mcp': () => settings.resourceMetadata === 'path',
    '/.well-known/oauth-protected-resource': () => settings.resourceMetadata === 'root',
    '/metadata-of-the-resource': () => settings.resourceMetadata === 'elsewhere',
  };

  /** The answer at this path, or `undefined` where there is no document. */
  return (path) => {
    if (has[path]?.() !== true) return undefined;
    counts.metadata += 1;
    const isResource = path.includes('resource');
    const lie = isResource ? settings.resourceAnswer : settings.metadataAnswer;
    return (response) => (lie ? tell(response, lie) : tell(response, { body: isResource ? resource() : server() }));
  };
}

const merged = (fields, differing) =>
  Object.fromEntries(Object.entries({ ...fields, ...differing }).filter(([, value]) => value !== null));

function tell(response, { status = 200, type = 'application/json', location, coding, body, bytes }) {
  const headers = {
    'content-type': type,
    ...(location && { location }),
    ...(coding && { 'content-encoding': coding }),
  };
  const text = bytes
    ? `{"filler":"${'x'.repeat(bytes)}"}`
    : typeof body === 'string'
      ? body
      : JSON.stringify(body ?? {});
  response.writeHead(status, headers).end(text);
}

/** Where a 401 says that the metadata lies. */
export const metadataAddress = ({ settings, place }) =>
  ({
    path: `${place.origin}/.well-known/oauth-protected-resource/mcp`,
    root: `${place.origin}/.well-known/oauth-protected-resource`,
    elsewhere: `${place.origin}/metadata-of-the-resource`,
  })[settings.resourceMetadata];
