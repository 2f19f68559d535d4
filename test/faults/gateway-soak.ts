// Owns a long run against the gateway: many clients of both eras call the tools of many servers of both eras without a pause, while servers
// are killed. What is drawn follows from a seed. Knows no test framework.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject, type JsonObject } from '../../src/kernel/json.ts';
import { type Era, type GatewayClient, openGatewayClient } from '../gateway-client.ts';
import { createRandom } from './soak.ts';

const program = fileURLToPath(new URL('../servers/ledger.mjs', import.meta.url));
const eras: readonly Era[] = ['legacy', 'modern'];

export interface LedgerServer {
  readonly name: string;
  readonly folder: string;
  readonly entry: { readonly command: string; readonly args: readonly string[] };
}

export function createLedgerServers(folder: string, count: number): readonly LedgerServer[] {
  return Array.from({ length: count }, (_, at) => {
    const name = `s${at}`;
    const own = join(folder, name);
    mkdirSync(own);
    return { name, folder: own, entry: { command: process.execPath, args: [program, eras[at % 2] ?? '', own] } };
  });
}

export interface GatewaySoakOptions {
  readonly seed: number;
  readonly url: string;
  readonly servers: readonly LedgerServer[];
  readonly clients: number;
  /** Every client goes on until so long has passed and it has made so many calls. */
  readonly ms: number;
  readonly callsOfEach: number;
  /** A server dies in its next call each time that so many calls were made. */
  readonly callsToKill: number;
  /** Called when a quarter of the time has passed, with so many calls made. */
  readonly onQuarter?: () => Promise<void>;
}

export interface GatewaySoakCounts {
  readonly calls: number;
  /** With the token that was sent. */
  readonly answered: number;
  /** With an error, which a killed server explains. */
  readonly failed: number;
  readonly restarts: number;
  /** What must not be: a call without its answer, with another's, or made twice. */
  readonly problems: readonly string[];
}

export async function soakGateway(options: GatewaySoakOptions): Promise<GatewaySoakCounts> {
  const { seed, url, servers, clients, ms, callsOfEach, callsToKill, onQuarter } = options;
  const { below, oneOf } = createRandom(seed);
  const problems: string[] = [];
  const answeredTokens = new Set<string>();
  const begunAt = Date.now();
  let [calls, failed] = [0, 0];
  let quarter: Promise<void> | undefined;

  const callOnce = async (client: GatewayClient, token: string) => {
    const { name } = oneOf(servers);
    const meta = below(2) === 0 ? {} : { _meta: { progressToken: token } };
    const answer = await client.ask('tools/call', { name: `${name}__write`, arguments: { token }, ...meta });
    calls += 1;
    const { result } = answer;
    if (!isObject(result) || result['isError'] === true) failed += 1;
    else if (textIn(result) === token) answeredTokens.add(token);
    else problems.push(`${token} was answered ${JSON.stringify(result)}`);
    if (calls % callsToKill === 0) killNext(oneOf(servers), oneOf(['before', 'after']));
  };
  const work = async (at: number) => {
    const era = eras[at % 2] ?? 'legacy';
    const client = await openGatewayClient({ era, url, name: `client-${at}` });
    for (let call = 0; call < callsOfEach || Date.now() - begunAt < ms; call++) {
      if (Date.now() - begunAt >= ms / 4 && call >= callsOfEach / 4) quarter ??= onQuarter?.();
      try {
        if (below(20) === 0) await client.ask('tools/list');
        else await callOnce(client, `${at}-${call}`);
      } catch (error) {
        problems.push(String(error));
      }
    }
    await client.close();
  };
  await Promise.all(Array.from({ length: clients }, (_, at) => work(at)));
  await quarter;

  const written = new Set<string>();
  for (const token of servers.flatMap(({ folder }) => linesOf(join(folder, 'ledger')))) {
    if (written.has(token)) problems.push(`${token} was written twice`);
    written.add(token);
  }
  for (const token of answeredTokens) if (!written.has(token)) problems.push(`${token} was answered and not written`);
  return { calls, answered: answeredTokens.size, failed, restarts: restartsOf(servers), problems };
}

function textIn({ content }: JsonObject): unknown {
  const [part] = Array.isArray(content) ? content : [];
  return isObject(part) ? part['text'] : undefined;
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

/** The server dies in its next call. */
function killNext({ folder }: LedgerServer, when: 'before' | 'after'): void {
  writeFileSync(join(folder, `die-${when}`), '');
}

/** How often servers were started beyond once each. */
const restartsOf = (servers: readonly LedgerServer[]) =>
  servers.flatMap(({ folder }) =>
    readdirSync(folder)
      .filter((name) => name.startsWith('start-'))
      .slice(1),
  ).length;
