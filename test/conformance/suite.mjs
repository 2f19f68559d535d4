// Owns the official conformance suite: choosing its scenarios for clients and servers, and judging each run.
// It comes in two versions, pinned beside this file and apart from Plexus's own packages.

import { fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPinned } from '../../scripts/pinned-packages.mjs';
import { startGateway } from '../servers/gateway.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const modules = join(here, 'node_modules');
const suiteIn = (version) => join(modules, `conformance-${version}`);

/** The suite itself needs this Node; the client it starts runs on the present one. */
const SUITE_NODE = 22;
const SCENARIOS_AT_ONCE = 2;
/** After 30 s the suite ends the shell of its client, and not the client, for which it then waits: one that hangs is ended here. */
const HANGING_MS = 90_000;

const REVISIONS = ['2025-11-25', '2026-07-28'];

/** The eras of the servers behind the gateway. */
const UPSTREAMS = ['legacy', 'modern'];

/** The logins of 2025-03-26, which no later revision requires and older servers still have. */
const OLDEST_LOGINS = ['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'];

/** How many logins each list has: one that is read wrongly, or that a new version shortens, must not pass for want of scenarios. */
const LOGINS = { '0.1.16': 22, '2025-11-25': 20, '2026-07-28': 31, '2025-03-26': OLDEST_LOGINS.length };

/** What a server must do that has none of the suite's own tools, resources and prompts: `plexus agent` is put to these. */
const AGENT_SCENARIOS = {
  '2025-11-25': [
    ...['server-initialize', 'logging-set-level', 'ping', 'completion-complete', 'tools-list', 'resources-list'],
    ...['prompts-list', 'server-sse-multiple-streams', 'dns-rebinding-protection', 'server-session-lifecycle'],
  ],
  '2026-07-28': [
    ...['completion-complete', 'tools-list', 'resources-list', 'prompts-list', 'server-sse-multiple-streams'],
    ...['sep-2164-resource-not-found', 'dns-rebinding-protection', 'caching', 'http-header-validation'],
    'input-required-result-unsupported-methods',
  ],
};

/**
 * Runs every scenario that the suite has for clients, for servers those of both revisions without the extensions, what it does not
 * score included, the same through the gateway in front of servers of either era, and some against the served agent, whatever fails;
 * says each by name and how many passed and failed. With a pattern: those whose names match, with or without `client`, `server`,
 * `gateway` or `agent` before them.
 */
export async function runConformance(pattern = '') {
  const isAsked = (run) => [run.scenario, nameOf(run)].some((name) => new RegExp(pattern).test(name));
  const node = installPinned(here, { what: 'the conformance suite', needsNode: SUITE_NODE });
  const all = [
    ...everyScenario(node).map((scenario) => ({ leg: 'client', scenario, version: '0.1', by: '0.1.16' })),
    ...['client', 'server'].flatMap((leg) =>
      REVISIONS.flatMap((revision) =>
        scenariosOf(revision, leg).map((scenario) => ({ leg, scenario, version: '0.2', by: revision, revision })),
      ),
    ),
    ...REVISIONS.flatMap((revision) =>
      UPSTREAMS.flatMap((upstream) =>
        scenariosThrough(revision, upstream).map((scenario) => ({
          ...{ leg: 'gateway', upstream, scenario, version: '0.2', by: revision, revision },
        })),
      ),
    ),
    ...OLDEST_LOGINS.map((scenario) => ({
      ...{ leg: 'client', scenario, version: '0.2', by: '2025-03-26', revision: '2025-03-26' },
    })),
    ...Object.entries(AGENT_SCENARIOS).flatMap(([revision, scenarios]) =>
      scenarios.map((scenario) => ({ leg: 'agent', scenario, version: '0.2', by: revision, revision })),
    ),
  ];
  requireLogins(all);
  const asked = all.filter(isAsked);
  const counts = { passed: 0, failed: 0, failures: [] };
  const isTested = (leg) => asked.some((run) => run.leg === leg);
  const server = isTested('server') ? await startServer() : undefined;
  const agent = isTested('agent') ? await startAgent() : undefined;
  const gateway = isTested('gateway') ? await startGatewayOfBoth() : undefined;
  const urlOf = ({ leg, upstream }, lane) =>
    leg === 'gateway' ? `${gateway.origin}/mcp/s/${upstream}-${lane}` : (leg === 'agent' ? agent : server)?.url;
  await eachOf(asked, async (run, lane) => {
    const { checks, problems } = await judge(node, run, urlOf(run, lane));
    const ok = problems.length === 0;
    counts[ok ? 'passed' : 'failed'] += 1;
    console.log(`${ok ? 'ok    ' : 'FAILED'} ${nameOf(run)} (${checks} checks)`);
    if (!ok) counts.failures.push(`conformance: ${nameOf(run)}`);
    for (const problem of problems) console.log(problem.replace(/^/gm, '       '));
  });
  server?.child.disconnect();
  await agent?.stop();
  await gateway?.stop();
  return counts;
}

function requireLogins(runs) {
  for (const [by, expected] of Object.entries(LOGINS)) {
    const found = runs.filter(
      (run) => run.leg === 'client' && run.by === by && run.scenario.startsWith('auth/'),
    ).length;
    if (found !== expected) throw new Error(`the suite lists ${found} logins of ${by}, and not ${expected}`);
  }
}

const nameOf = ({ by, leg, upstream, scenario }) =>
  `${by.padEnd(10)} ${leg}${upstream === undefined ? '' : ` to a ${upstream} server:`} ${scenario}`;

/**
 * Both servers are written with the SDK: what the gateway does is not measured by our own serving side. One of each for every scenario that
 * runs at the same time: what a server of the older era asks while several clients call it is for none of them.
 */
function startGatewayOfBoth() {
  const fixture = join(here, '../servers/conformance-sdk.mjs');
  const entries = UPSTREAMS.flatMap((era) =>
    Array.from({ length: SCENARIOS_AT_ONCE }, (_, lane) => [
      `${era}-${lane}`,
      { command: process.execPath, args: [fixture, era, String(lane)] },
    ]),
  );
  return startGateway({ servers: Object.fromEntries(entries), settings: { serving: { sampling: true } } });
}

/** In folders of its own. No scenario asks its model. */
async function startAgent() {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-conformance-'));
  const built = process.env['PLEXUS_DIST'] ?? join(here, '../../dist/index.js');
  const model = ['--model', 'none', '--url', 'http://127.0.0.1:9/v1'];
  const args = [join(dirname(built), 'cli.cjs'), 'agent', '--port', '0', '--no-token', '--json', ...model];
  const env = { PATH: process.env['PATH'], HOME: folder };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const [said] = await Promise.race([
    once(child.stdout, 'data'),
    ended.then(([code]) => Promise.reject(new Error(`the agent under test ended with ${code}`))),
  ]);
  const stop = async () => {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: JSON.parse(said).url, stop };
}

/** The server that has all that the suite asks for, which goes when it is disconnected. */
async function startServer() {
  const child = fork(join(here, '../servers/conformance.mjs'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [url] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the server under test ended with ${code}`))),
  ]);
  return { child, url };
}

function everyScenario(node) {
  const { stdout } = spawnSync(node, [join(suiteIn('0.1'), 'dist/index.js'), 'list', '--client'], { encoding: 'utf8' });
  return [...stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, scenario]) => scenario);
}

/** What a revision requires of clients or servers, and what is run along without being required. Plexus serves no extension yet. */
function scenariosOf(revision, side) {
  const yaml = createRequire(join(suiteIn('0.2'), 'package.json'))('yaml');
  const requirements = yaml.parse(readFileSync(join(suiteIn('0.2'), 'requirements', `${revision}.yaml`), 'utf8'));
  const unscored = requirements.not_scored
    .filter(({ leg, reason }) => leg === side && (side === 'client' || reason !== 'extension'))
    .map(({ scenario }) => scenario);
  return [...requirements[side], ...unscored];
}

/** A server of the older era asks when it wants; the modern scenarios about questions expect them in the answer to a request. */
const asksModern = (scenario) =>
  scenario === 'server-stateless' ||
  (scenario.startsWith('input-required-result-') && scenario !== 'input-required-result-unsupported-methods');

function scenariosThrough(revision, upstream) {
  const all = scenariosOf(revision, 'server');
  return revision === '2026-07-28' && upstream === 'legacy' ? all.filter((scenario) => !asksModern(scenario)) : all;
}

async function eachOf(runs, perform) {
  const waiting = [...runs];
  const work = async (_, lane) => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) await perform(run, lane);
  };
  await Promise.all(Array.from({ length: SCENARIOS_AT_ONCE }, work));
}

/** A warning counts, and so does a run in which nothing was checked: the suite itself would let that one pass. */
async function judge(node, { leg, version, scenario, revision }, url) {
  const client = [process.execPath, join(here, 'client.mjs')].map((word) => JSON.stringify(word)).join(' ');
  const { code, stdout, stderr } = await output(node, [
    join(suiteIn(version), 'dist/index.js'),
    leg === 'client' ? 'client' : 'server',
    ...(leg === 'client' ? ['--command', client] : ['--url', url]),
    ...['--scenario', scenario, '--verbose'],
    ...(revision === undefined ? [] : ['--spec-version', revision, '--force']),
  ]);
  const checks = checksIn(stdout);
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
  const problems = checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ name, description, errorMessage = description }) => `${name}: ${errorMessage}`);
  if (passed === 0) problems.push('nothing was checked');
  if (code !== 0 && problems.length === 0) problems.push(`the suite ended with ${code}`);
  return { checks: passed, problems: problems.length === 0 ? [] : [...problems, beforeSummary(stderr)] };
}

/** What the suite and the client wrote while it ran; behind it the suite says once more what the checks have said. */
const beforeSummary = (stderr) => stderr.split('\nTest Results:', 1)[0].trimEnd();

/** For servers the suite writes lines for people around the list. */
function checksIn(stdout) {
  const [list = stdout] = /^\[$.*?^\]$/ms.exec(stdout) ?? [];
  try {
    return JSON.parse(list);
  } catch {
    return [];
  }
}

/** In a group of its own: a client that outlives the suite goes with it. */
function output(command, args) {
  const grouped = process.platform !== 'win32';
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: here, detached: grouped, stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
      const chunks = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      return () => Buffer.concat(chunks).toString('utf8');
    });
    const killAll = () => {
      try {
        process.kill(grouped ? -child.pid : child.pid, 'SIGKILL');
      } catch (error) {
        if (error.code !== 'ESRCH') throw error;
      }
    };
    const timer = setTimeout(killAll, HANGING_MS);
    child.on('error', reject);
    child.on('exit', killAll);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code: code ?? signal, stdout: stdout(), stderr: stderr() });
    });
  });
}
