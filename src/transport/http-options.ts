// Owns what every channel over HTTP is opened with, and the checks that come before anything is sent.

import type { Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Network } from './dial.ts';
import { type HttpClient, type Target, targetOf } from './exchange.ts';
import { createHttpClient } from './fetch.ts';
import { basic, configuredHeaders, type HeaderBlock, hasHeader } from './http-headers.ts';

export interface HttpOptions {
  readonly server: ServerName;
  readonly url: string;
  /** Sent with every request, to the origin of the address and to no other. */
  readonly headers: Readonly<Record<string, string>>;
  readonly network: Network;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  /** Told what comes where a message belongs and is none. */
  readonly onNoise?: ((text: string) => void) | undefined;
}

/** Everything that is the same for all requests. */
export interface Desk {
  readonly client: HttpClient;
  readonly target: Target;
  readonly headers: HeaderBlock;
  readonly hasToken: boolean;
  /** Takes out of a text what the entry wants nobody to see: a server may quote our own request back at us. */
  readonly hide: (text: string) => string;
}

export async function openDesk(options: HttpOptions): Promise<Desk> {
  const { server, url } = options;
  const target = targetOf(url);
  if (target === undefined) {
    throw new RuntimeError('CONFIG_INVALID', {
      problem: `the url of server "${server}" is no address of http or https`,
    });
  }
  const headers = withLogin(configuredHeaders(server, options.headers), new URL(url));
  const client = await createHttpClient(options);
  return {
    client,
    target,
    headers,
    hasToken: hasHeader(headers, 'authorization'),
    hide: createHiding(headers, new URL(url)),
  };
}

/** A login that stands in the address is sent as every other program sends it; a header of the entry is meant more. */
function withLogin(headers: HeaderBlock, { username, password }: URL): HeaderBlock {
  if (username === '' || hasHeader(headers, 'authorization')) return headers;
  return [...headers, 'authorization', basic(username, password)];
}

/** Short values are words and numbers, and hiding those would only garble what is quoted. */
const SHORTEST_SECRET = 8;

function createHiding(headers: HeaderBlock, { searchParams, password }: URL): (text: string) => string {
  const values = headers.filter((_, index) => index % 2 === 1).flatMap((value) => [value, ...value.split(/\s+/)]);
  const secrets = [...values, ...searchParams.values(), password, decodeURIComponent(password)]
    .filter((each) => each.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, '[hidden]'), text);
}
