// Owns finding out which models can be reached: at the chosen address, at providers whose key is there, and at the model servers
// of this machine. Only addresses that the person named, and this machine, are asked.

import type { HostEnvironment } from '../config/scopes.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import { networkReason, quoteError, readBody } from './models/model-http.ts';
import { listRequest, type ModelAddress, type ProviderName, providerNames, providers } from './models/providers.ts';

export interface ModelList extends Pick<ModelAddress, 'provider' | 'url'> {
  /** As the provider names them. */
  readonly models: readonly string[];
  /** Why they are not known. */
  readonly problem?: string;
}

export interface ListOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The model servers of this machine that are looked for. Default: those that have a usual port. */
  readonly locals?: readonly ModelAddress[];
}

/** Model servers of this machine that do not run are left out. */
export async function listModels(
  chosen: ModelAddress | undefined,
  { env }: Pick<HostEnvironment, 'env'>,
  { locals = usualLocals, ...options }: ListOptions,
): Promise<readonly ModelList[]> {
  const wanted = [...(chosen ? [chosen] : []), ...providerNames.flatMap((name) => withOwnKey(name, env))];
  const isWanted = ({ url }: ModelAddress) => wanted.some((each) => each.url === url);
  const lists = await Promise.all([
    ...wanted
      .filter(({ url }, at) => wanted.findIndex((each) => each.url === url) === at)
      .map((address) => listAt(address, limits.model.list.remoteMs, options)),
    ...locals
      .filter((address) => !isWanted(address))
      .map(async (address) => {
        const list = await listAt(address, limits.model.list.localMs, options);
        return list.problem === undefined ? list : undefined;
      }),
  ]);
  return lists.filter((list) => list !== undefined);
}

const usualLocals: readonly ModelAddress[] = providerNames.flatMap((provider) => {
  const { isLocal, url } = providers[provider];
  return isLocal ? [{ provider, url }] : [];
});

function withOwnKey(provider: ProviderName, env: HostEnvironment['env']): readonly ModelAddress[] {
  const { variables, url } = providers[provider];
  const key = variables && env[variables.key];
  return variables && key ? [{ provider, url: env[variables.url] || url, key }] : [];
}

async function listAt(
  address: ModelAddress,
  limitMs: number,
  { clock, signal }: Omit<ListOptions, 'locals'>,
): Promise<ModelList> {
  const { provider, url, key } = address;
  const late = new AbortController();
  const stop = clock.after(limitMs, () => late.abort());
  const failed = (problem: string): ModelList => ({ provider, url, models: [], problem: quoteError(problem, key) });
  try {
    const { url: asked, headers } = listRequest(address);
    // A redirect would carry the key to another address.
    const response = await fetch(asked, {
      headers,
      redirect: 'manual',
      signal: AbortSignal.any([signal, late.signal]),
    });
    const body = await readBody(response, limits.model.list.bytes);
    if (!response.ok) return failed(`it answered with HTTP ${response.status}`);
    const models = modelsIn(body);
    return models === undefined ? failed('its answer is no list of models') : { provider, url, models };
  } catch (error) {
    signal.throwIfAborted();
    return failed(late.signal.aborted ? `it did not answer within ${limitMs / 1_000} s` : networkReason(error));
  } finally {
    stop();
  }
}

/** The shape that OpenAI, Anthropic and the model servers share. */
function modelsIn(body: string | undefined): readonly string[] | undefined {
  const parsed = parseJson(body ?? '');
  const list = parsed.ok && isObject(parsed.value) ? parsed.value['data'] : undefined;
  if (!Array.isArray(list)) return undefined;
  const names = list.flatMap((each) => (isObject(each) && typeof each['id'] === 'string' ? [each['id']] : []));
  return names.length === list.length ? names.toSorted() : undefined;
}
