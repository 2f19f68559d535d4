// Owns the client that the conformance suite starts, once per scenario: `client.mjs <server-url>`. It only drives Plexus;
// whatever a scenario checks must be done by Plexus itself.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}', PLEXUS_DIST } = process.env;
const { createRuntime } = await import(new URL(PLEXUS_DIST ?? '../../dist/index.js', import.meta.url));

/** All at once, so that the suite sees whether they keep apart. */
const callEach = (tools) =>
  JSON.parse(context).toolCalls?.map((call) => [call.name, call.arguments]) ??
  tools.map(({ id, definition }) => [id.tool, sampleOf(definition.inputSchema)]);

const byScenario = {
  'json-schema-ref-no-deref': () => [],
  'json-schema-2020-12-preservation': (tools) => [
    // As the server sent it: what a model is shown of it is another matter.
    ['json_schema_echo', { schema: schemaOf(tools, 'json_schema_2020_12_tool') }],
  ],
};

const schemaOf = (tools, name) => tools.find(({ id }) => id.tool === name).definition.inputSchema;

const samples = { string: 'text', number: 2.5, integer: 2, boolean: true, object: {}, array: [], null: null };
const sampleOf = ({ properties, required = [] }) =>
  Object.fromEntries(required.map((name) => [name, samples[properties[name].type]]));

/** Settings of a login that the suite gives to a scenario, as a person would write them. */
const {
  client_id: clientId,
  client_secret: clientSecret,
  private_key_pem: privateKey,
  idp_client_id: idpClientId,
  idp_id_token: idToken,
  idp_issuer: idpIssuer,
  idp_token_endpoint: idpTokenEndpoint,
  valid_jwt: assertion,
} = JSON.parse(context);
const grants = {
  'auth/client-credentials-jwt': 'client_credentials',
  'auth/client-credentials-basic': 'client_credentials',
  'auth/enterprise-managed-authorization': 'enterprise',
  'auth/cross-app-access-complete-flow': 'enterprise',
  'auth/wif-jwt-bearer': 'jwt_bearer',
};
/** Secrets are references in every file and in every host. */
const env = Object.fromEntries(
  Object.entries({
    CLIENT_SECRET: clientSecret,
    PRIVATE_KEY: privateKey,
    ID_TOKEN: idToken,
    ASSERTION: assertion,
  }).filter(([, value]) => value !== undefined),
);
const reference = (name) => (env[name] === undefined ? undefined : `\${${name}}`);
const oauth = Object.fromEntries(
  Object.entries({
    grant: grants[scenario],
    clientId,
    clientSecret: reference('CLIENT_SECRET'),
    privateKey: reference('PRIVATE_KEY'),
    idToken: reference('ID_TOKEN'),
    assertion: reference('ASSERTION'),
    idpClientId,
    idpIssuer,
    idpTokenEndpoint,
    // Other clients of the suite run at the same time, and some have one port alone. Systems give out none below 32768 by themselves.
    callbackPort: 20_000 + (process.pid % 10_000),
    clientMetadataUrl:
      scenario === 'auth/basic-cimd' ? 'https://conformance-test.local/client-metadata.json' : undefined,
  }).filter(([, value]) => value !== undefined),
);

/** Nothing is remembered from one scenario to the next: they take turns at the same ports. */
const home = mkdtempSync(join(tmpdir(), 'plexus-conformance-'));
const mcp = await createRuntime({
  servers: { server: { url: process.argv.at(-1), transport: 'http', ...(scenario.startsWith('auth/') && { oauth }) } },
  discover: false,
  home,
  env,
  permissions: [{ tool: '*', action: 'allow' }],
  elicit: async () => ({ action: 'accept', content: {} }),
});

/** The person: their browser goes where the page leads. Whatever makes a login fail ends the scenario. */
const logIn = ({ scopes }) =>
  mcp.login('server', { ...(scopes && { scopes }), openUrl: async (page) => void (await fetch(page)) });

/** The server as it is once every login that it asks for is made. */
async function connect() {
  const { notReady } = await mcp.ready();
  if (notReady.length === 0) return;
  const { error } = mcp.status('server');
  if (error?.code !== 'AUTH_REQUIRED') throw new Error(`not ready: ${JSON.stringify(notReady)}`);
  await logIn(error.data);
  await mcp.reconnect('server').catch(() => undefined);
  await connect();
}

/** The person logs in when the call needs it, and the call is made again. */
async function call(tool, args) {
  try {
    return await mcp.turn().call(`mcp__server__${tool}`, args);
  } catch (error) {
    if (error.code !== 'AUTH_REQUIRED') throw error;
    await logIn(error.data);
    await connect();
    return call(tool, args);
  }
}

try {
  await connect();
  const calls = (byScenario[scenario] ?? callEach)(mcp.getTools()).map(async ([tool, args]) => {
    const { text, isError } = await call(tool, args);
    console.log(text);
    if (isError) process.exitCode = 1;
  });
  await Promise.all(calls);
  // What else it has is asked for as well, each thing once.
  const { resources } = await mcp.resources.list();
  for (const { uri, server } of resources) await mcp.resources.read(uri, { server });
  for (const { server, name, arguments: taken } of await mcp.prompts.list())
    await mcp.prompts.get(server, name, Object.fromEntries(taken.map((each) => [each.name, 'text'])));
} finally {
  await mcp.close();
  rmSync(home, { recursive: true, force: true });
}
