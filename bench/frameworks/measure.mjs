// Owns one measure of one framework in a fresh process: `contestant.mjs` runs it. The framework is loaded before anything is counted;
// Plexus, its adapter and the framework's own client are counted with their imports, unless `isLoaded` says otherwise.

import '../../test/frameworks/installed-here.mjs';
import { startInOwnSessions } from '../own-sessions.mjs';

const ECHO = {
  name: 'mcp__echo-0__echo',
  description: 'Gives back a text.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' }, size: { type: 'number' } } },
};
const LOOK_MS = 5;
const SETTLE_MS = 100;
const ARGS = { text: 'how do you do?', size: 5 };

export async function measure({ framework, job, ...given }) {
  const adapter = await import(`./${framework}.mjs`);
  await adapter.loadFramework();
  startInOwnSessions();
  return jobs[job](adapter, given);
}

const jobs = {
  /** What the adapter adds to a call: both calls reach a function that answers at once. */
  async call({ openEmpty, adapt }, { calls, times }) {
    const empty = await openEmpty(ECHO);
    const adapted = await adapt(turnOf([ECHO]));
    const full = (args, id) => adapted.call(ECHO.name, args, id);
    const samples = { full: [], empty: [] };
    for (let time = 0; time < times; time += 1) {
      samples.full.push(await microsOf(full, calls));
      samples.empty.push(await microsOf(empty, calls));
    }
    // The first times compile the code.
    const [fullMicros, emptyMicros] = [samples.full, samples.empty].map((each) => Math.min(...each.slice(2)));
    return { fullMicros, emptyMicros, extraMicros: Math.max(0, fullMicros - emptyMicros) };
  },

  /** What the adapter adds to a start, its import and the tools of the turn left out. */
  async start({ adapt, loadDoor }, { tools }) {
    await loadDoor();
    const source = turnOf(Array.from({ length: tools }, (_, at) => ({ ...ECHO, name: `mcp__s__tool_${at}` })));
    await settle();
    const cpu = process.cpuUsage();
    const adapted = await adapt(source);
    const startMs = millis(process.cpuUsage(cpu));
    check(adapted.tools, tools);
    return { startMs };
  },

  /** What the adapter's import adds to that of the framework and of a runtime that is up. */
  async import({ loadDoor }) {
    await openPlexus({});
    await settle();
    const cpu = process.cpuUsage();
    await loadDoor();
    return { importMs: millis(process.cpuUsage(cpu)) };
  },

  /** From no client to the tools of these servers, as the framework takes them. `isLoaded`: with the modules of the client loaded before. */
  async list(adapter, { client, fleet, awaitedOnly, tools, isLoaded = false }) {
    if (isLoaded) await loaders[client](adapter);
    const [from, cpu] = [performance.now(), process.cpuUsage()];
    const opened = await openers[client](adapter, fleet, awaitedOnly);
    const listed = { wallMs: performance.now() - from, cpuMs: millis(process.cpuUsage(cpu)) };
    check(opened.tools, tools);
    return listed;
  },

  /** So many calls at the same time, after a warm-up, for so much CPU time of the client. */
  async parallel(adapter, { client, fleet, inFlight, warmUpCpuMs, forCpuMs }) {
    const { call } = await openers[client](adapter, fleet);
    const callFor = async (wantedMs) => {
      const [from, cpu] = [performance.now(), process.cpuUsage()];
      let lookAt = from + LOOK_MS;
      let isOver = false;
      let calls = 0;
      const callOn = async () => {
        while (!isOver) {
          const text = await call(ARGS, `call-${calls}`);
          if (!text.includes('The "')) throw new Error(`unexpected answer: ${text}`);
          calls += 1;
          const now = performance.now();
          if (now < lookAt) continue;
          lookAt = now + LOOK_MS;
          isOver = millis(process.cpuUsage(cpu)) >= wantedMs;
        }
      };
      await Promise.all(Array.from({ length: inFlight }, callOn));
      const cpuMicros = (millis(process.cpuUsage(cpu)) * 1_000) / calls;
      return { perSecond: (calls * 1_000) / (performance.now() - from), cpuMicros };
    };
    await callFor(warmUpCpuMs);
    return callFor(forCpuMs);
  },
};

const loaders = {
  plexus: ({ loadDoor }) => Promise.all([import('plexus'), loadDoor()]),
  peer: ({ loadPeer }) => loadPeer(),
};

const openers = {
  async plexus({ adapt }, servers, awaited = Object.keys(servers)) {
    const mcp = await openPlexus(servers);
    await mcp.ready({ servers: awaited, orThrow: true });
    const { tools, call } = await adapt(mcp);
    return { tools, call: (args, id) => call(`mcp__${awaited[0]}__echo`, args, id) };
  },
  peer: ({ openPeer }, servers) => openPeer(servers),
};

async function openPlexus(fleet) {
  const { createRuntime } = await import('plexus');
  // The model is shown every tool, as the other clients do it; otherwise it would search for them.
  const entries = Object.entries(fleet).map(([name, entry]) => [name, { ...entry, exposure: 'load' }]);
  const servers = Object.fromEntries(entries);
  const permissions = [{ tool: '*', action: 'allow' }];
  const startup = { whenUncached: 'background', gateMs: 0 };
  return createRuntime({ discover: false, servers, permissions, startup });
}

/** A turn whose calls have their outcome at once. */
function turnOf(definitions) {
  const tools = definitions.map((definition) => ({ ...definition, definition }));
  const meta = { callId: '', server: 's', tool: 'echo', durationMs: 0, attempts: 1, fromCache: false };
  const outcome = { text: '', content: [], attachments: [], isError: false, signals: [], meta };
  return { tools, revision: '1', systemPrompt: '', call: async () => outcome, requiresApproval: async () => false };
}

async function microsOf(call, calls) {
  const cpu = process.cpuUsage();
  for (let at = 0; at < calls; at += 1) await call(ARGS, `call-${at}`);
  return (millis(process.cpuUsage(cpu)) * 1_000) / calls;
}

/** What the framework's import leaves to V8's other threads is no part of what follows. */
async function settle() {
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}

const millis = ({ user, system }) => (user + system) / 1_000;

function check(found, wanted) {
  if (found !== wanted) throw new Error(`expected ${wanted} tools, not ${found}`);
}
