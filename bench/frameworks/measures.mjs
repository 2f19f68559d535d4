// Owns what is measured of each framework's adapter, and against which client. How one sample is taken is left to `measure.mjs`.

import { runContestant } from '../children.mjs';
import { interleave, row } from '../measures.mjs';
import { serversOf } from '../servers.mjs';

/** Each has a module of its name here, and rows in `promises.mjs`. Two are compared with the MCP client that their users had before. */
const frameworks = {
  'ai-sdk': { title: 'AI SDK', hasPeer: true },
  langchain: { title: 'LangChain', hasPeer: true },
  openai: { title: 'OpenAI' },
  'openai-agents': { title: 'OpenAI Agents' },
  anthropic: { title: 'Anthropic' },
  google: { title: 'Google' },
};

/** So long one of ten servers takes to answer its first message. */
const STALL_MS = 3_000;

const TEN = 10;
const TOOLS_OF_EACH = 10;

export const measures = Object.fromEntries(
  Object.entries(frameworks).map(([framework, { title, hasPeer = false }]) => [
    framework,
    async (bench) => {
      const take = (job, given) => () =>
        runContestant('./frameworks/measure.mjs', 'own', { framework, job, ...given }, bench);
      const own = (job, given) => interleave({ plexus: take(job, given) }, bench.rounds);
      const both = (job, given) =>
        interleave(
          { plexus: take(job, { client: 'plexus', ...given }), [framework]: take(job, { client: 'peer', ...given }) },
          bench.rounds,
        );
      const { calls, times, warmUpCpuMs, forCpuMs } = bench;
      const rows = {
        call: row(
          `${title}: what the adapter adds to a call, CPU`,
          'µs',
          await own('call', { calls, times }),
          'extraMicros',
        ),
        start: row(`${title}: the adapter at 200 tools, CPU`, 'ms', await own('start', { tools: 200 }), 'startMs'),
        import: row(`${title}: import of the adapter, CPU`, 'ms', await own('import', {}), 'importMs'),
      };
      if (!hasPeer) return rows;
      const servers = serversOf('ordinary', TEN);
      const listing = { fleet: servers, tools: TEN * TOOLS_OF_EACH };
      const ten = await both('list', listing);
      const loaded = await both('list', { ...listing, isLoaded: true });
      const load = { fleet: serversOf('echo', 1), inFlight: 64, warmUpCpuMs, forCpuMs };
      const [late, ...others] = Object.entries(servers);
      const stalled = {
        client: 'plexus',
        fleet: Object.fromEntries([...others, [late[0], stalling(late[1])]]),
        awaitedOnly: others.map(([name]) => name),
      };
      const waiting = await interleave(
        {
          plexus: take('list', { ...stalled, tools: (TEN - 1) * TOOLS_OF_EACH }),
          [framework]: take('list', { ...stalled, client: 'peer', tools: TEN * TOOLS_OF_EACH }),
        },
        bench.rounds,
      );
      const parallel = await both('parallel', load);
      return {
        ...rows,
        'ten-wall': row(`${title}: 10 stdio servers listed`, 'ms', ten, 'wallMs'),
        'ten-cpu': row(`${title}: 10 stdio servers listed: CPU`, 'ms', ten, 'cpuMs'),
        'ten-loaded-wall': row(`${title}: the same, all modules loaded before`, 'ms', loaded, 'wallMs'),
        'ten-loaded-cpu': row(`${title}: the same, all modules loaded before: CPU`, 'ms', loaded, 'cpuMs'),
        parallel: row(`${title}: 64 in flight: calls`, '/s', parallel, 'perSecond'),
        'parallel-cpu': row(`${title}: 64 in flight: CPU a call`, 'µs', parallel, 'cpuMicros'),
        stalled: row(`${title}: tools usable while one of 10 takes ${STALL_MS / 1_000} s`, 'ms', waiting, 'wallMs'),
      };
    },
  ]),
);

function stalling({ command, args }) {
  const program = `setTimeout(() => import(process.argv[1]), ${STALL_MS})`;
  return { command, args: ['-e', program, ...args] };
}
