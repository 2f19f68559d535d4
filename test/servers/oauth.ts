// Owns starting the authorization server of the tests, with the MCP server behind it, and its control. It ends with the test.

import { fileURLToPath } from 'node:url';
import { startListening } from './listening.ts';

const program = fileURLToPath(new URL('./oauth.mjs', import.meta.url));

/** As a token endpoint answers, with the client that it answers. */
export interface IssuedLogin {
  readonly clientId: string;
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}

interface ControlState {
  readonly counts: Readonly<Record<string, number>>;
  readonly requests: readonly {
    readonly endpoint: string;
    readonly input: Readonly<Record<string, string>>;
    readonly headers: Readonly<Record<string, string>>;
  }[];
}

export interface OAuthServer {
  /** The address of the MCP server. */
  readonly url: string;
  readonly issuer: string;
  /** Changes settings, which `oauth.mjs` lists. */
  set(settings: object): Promise<void>;
  counts(): Promise<ControlState['counts']>;
  /** The last requests at the endpoints of the authorization server, oldest first. */
  requests(endpoint?: string): Promise<ControlState['requests']>;
  /** A login without the flow. */
  issue(options?: { readonly clientId?: string; readonly scope?: string }): Promise<IssuedLogin>;
  act(what: 'expire' | 'revoke' | 'release'): Promise<void>;
}

export async function startOAuth(
  settings: object = {},
  era: 'legacy' | 'modern' | 'both' = 'both',
): Promise<OAuthServer> {
  const { url, issuer, control } = await startListening<{ url: string; issuer: string; control: string }>(
    program,
    ...['--era', era, '--set', JSON.stringify(settings)],
  );
  const post = async <Answer>(address: string, body: object = {}): Promise<Answer> =>
    (await fetch(address, { method: 'POST', body: JSON.stringify(body) })).json() as Promise<Answer>;
  return {
    url,
    issuer,
    set: async (changed) => {
      await post(control, changed);
    },
    counts: async () => (await post<ControlState>(control)).counts,
    requests: async (endpoint) =>
      (await post<ControlState>(control)).requests.filter(
        (each) => endpoint === undefined || each.endpoint === endpoint,
      ),
    issue: (options = {}) => post(`${control}/issue`, options),
    act: async (what) => {
      await post(`${control}/${what}`);
    },
  };
}
