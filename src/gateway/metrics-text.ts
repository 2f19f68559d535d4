// Owns the gateway's counts in the text format of Prometheus. Pure: numbers in, text out. There is no label for tools: a fleet has
// thousands, and each would be a series of its own.

import type { ServerStatus } from '../connection/status.ts';
import { type ServerMeasures, secondBounds } from './measures.ts';

export interface GatewayCounts {
  readonly servers: ReadonlyMap<string, ServerMeasures>;
  /** Open sessions by era; a link is the session of one client of either. */
  readonly sessions: Readonly<Record<'legacy' | 'modern', number>>;
  /** By workspace; the gateway's own fleet comes first, and has none. */
  readonly fleets: readonly WorkspaceStatus[];
}

export interface WorkspaceStatus {
  readonly workspace: string | undefined;
  readonly servers: readonly ServerStatus[];
}

type Labels = Readonly<Record<string, string>>;

export function metricsText({ servers, sessions, fleets }: GatewayCounts): string {
  const measured = [...servers];
  const statuses = fleets.flatMap((fleet) => fleet.servers);
  const each = (value: (measures: ServerMeasures) => number): readonly Sample[] =>
    measured.map(([server, measures]) => [{ server }, value(measures)]);
  return [
    metric('plexus_calls_total', 'counter', 'Calls that have ended, by outcome.', [
      ...measured.flatMap(([server, { outcomes }]) =>
        [...outcomes].map(([outcome, count]): Sample => [{ server, outcome }, count]),
      ),
    ]),
    histogram('plexus_call_seconds', 'How long calls took.', measured),
    metric(
      'plexus_calls_in_flight',
      'gauge',
      'Calls that run.',
      each(({ inFlight }) => inFlight),
    ),
    metric(
      'plexus_queue_length',
      'gauge',
      'Calls that wait for their server.',
      each(({ queued }) => queued),
    ),
    metric('plexus_sessions', 'gauge', 'Open sessions, by era of the protocol.', [
      [{ era: 'legacy' }, sessions.legacy],
      [{ era: 'modern' }, sessions.modern],
    ]),
    metric('plexus_server_up', 'gauge', 'How many sessions of a server are up: one for each workspace.', [
      ...sumByServer(statuses, ({ status }) => (status === 'connected' ? 1 : 0)),
    ]),
    metric('plexus_server_restarts_total', 'counter', 'How often a server was started anew after it had been up.', [
      ...sumByServer(statuses, ({ restarts = 0 }) => restarts),
    ]),
  ].join('');
}

type Sample = readonly [labels: Labels, value: number];

function sumByServer(statuses: readonly ServerStatus[], value: (status: ServerStatus) => number): readonly Sample[] {
  const sums = new Map<string, number>();
  for (const status of statuses) sums.set(status.name, (sums.get(status.name) ?? 0) + value(status));
  return [...sums].map(([server, sum]) => [{ server }, sum]);
}

function metric(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  return [head(name, type, help), ...samples.map(([labels, value]) => line(name, labels, value))].join('');
}

function histogram(name: string, help: string, measured: readonly (readonly [string, ServerMeasures])[]): string {
  const lines = measured.flatMap(([server, { buckets, seconds, count }]) => {
    let sum = 0;
    const upTo = secondBounds.map((bound, at) => {
      sum += buckets[at] ?? 0;
      return line(`${name}_bucket`, { server, le: String(bound) }, sum);
    });
    return [
      ...upTo,
      line(`${name}_bucket`, { server, le: '+Inf' }, count),
      line(`${name}_sum`, { server }, seconds),
      line(`${name}_count`, { server }, count),
    ];
  });
  return [head(name, 'histogram', help), ...lines].join('');
}

const head = (name: string, type: string, help: string) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

function line(name: string, labels: Labels, value: number): string {
  const written = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}{${written.join(',')}} ${value}\n`;
}

/** A name comes from a configuration file and may hold anything. */
const escaped = (text: string) => text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
