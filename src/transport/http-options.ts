// Owns the options of every HTTP channel, and the checks before anything is sent.

import { unescape as decoded } from 'node:querystring';
import type { Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Network } from './dial.ts';
import { type HttpClient, type Target, targetOf } from './exchange.ts';
import { createHttpClient } from './fetch.ts';
import { basic, configuredHeaders, type HeaderBlock, hasHeader } from './http-headers.ts';
import { createSignedClient, type RequestLogin } from './signed-client.ts';

/** For the channels to a remote server, over HTTP and WebSocket alike. */
export interface RemoteChannelOptions {
  readonly server: ServerName;
  readonly url: string;
  /** Sent with every request to the origin of `url`, and to no other origin. A WebSocket sends them with its opening request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly network: Network;
  /** Authenticates each request; absent for an entry that has an Authorization header, or for which there is no login. */
  readonly login?: RequestLogin | undefined;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  /** Called with text that arrived where a message belongs. */
  readonly onNoise?: ((text: string) => void) | undefined;
}

/** The options that all requests of a channel share. */
export interface HttpSetup {
  readonly client: HttpClient;
  readonly target: Target;
  readonly headers: HeaderBlock;
  readonly hasToken: boolean;
  /** Removes the entry's header values and passwords from a text: a server may quote our own request in its response. */
  readonly hide: (text: string) => string;
}

export async function openHttpSetup(options: RemoteChannelOptions): Promise<HttpSetup> {
  const { server, url } = options;
  const target = targetOf(url);
  if (target === undefined) {
    throw new RuntimeError('CONFIG_INVALID', {
      problem: `the url of server "${server}" is not an http or https address`,
    });
  }
  const headers = withLogin(configuredHeaders(server, options.headers), new URL(url));
  const client = await createHttpClient(options);
  const hasToken = hasHeader(headers, 'authorization');
  const login = hasToken ? undefined : options.login;
  return {
    client: login ? createSignedClient(client, login) : client,
    target,
    headers,
    hasToken,
    hide: createHide(headers, new URL(url)),
  };
}

/** A login in the URL is sent as basic authentication, unless the entry has an Authorization header. */
function withLogin(headers: HeaderBlock, { username, password }: URL): HeaderBlock {
  if (username === '' || hasHeader(headers, 'authorization')) return headers;
  return [...headers, 'authorization', basic(username, password)];
}

/** Shorter values are words and numbers; hiding them would only garble the quoted text. */
const SHORTEST_SECRET = 8;

function createHide(headers: HeaderBlock, { searchParams, password }: URL): (text: string) => string {
  const values = headers.filter((_, index) => index % 2 === 1).flatMap((value) => [value, ...value.split(/\s+/)]);
  const secrets = [...values, ...searchParams.values(), password, decoded(password)]
    .filter((each) => each.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, '[hidden]'), text);
}
