// Owns the proof of the gateway's counts as Prometheus reads them.

import { expect, test } from 'vitest';
import type { ServerStatus } from '../../../src/connection/status.ts';
import { countEnd, Measures } from '../../../src/gateway/measures.ts';
import { metricsText } from '../../../src/gateway/metrics-text.ts';

const status = (name: string, state: string, restarts?: number) =>
  ({ name, status: state, ...(restarts && { restarts }) }) as unknown as ServerStatus;

test('every count has its line, buckets add up, and a name cannot break out of its label', () => {
  const measures = new Measures();
  const files = measures.of('files "a"\n');
  files.inFlight = 3;
  countEnd(files, 'ok', 4);
  countEnd(files, 'error', 200);
  files.queued = 2;
  const text = metricsText({
    servers: measures.servers,
    sessions: { legacy: 2, modern: 1 },
    fleets: [
      { workspace: undefined, servers: [status('files', 'connected', 3), status('mail', 'failed')] },
      { workspace: '/work', servers: [status('files', 'connected')] },
    ],
  });
  const name = String.raw`files \"a\"\n`;
  expect(text.split('\n').filter((line) => !line.startsWith('#'))).toEqual(
    expect.arrayContaining([
      `plexus_calls_total{server="${name}",outcome="ok"} 1`,
      `plexus_calls_total{server="${name}",outcome="error"} 1`,
      `plexus_call_seconds_bucket{server="${name}",le="0.005"} 1`,
      `plexus_call_seconds_bucket{server="${name}",le="0.1"} 1`,
      `plexus_call_seconds_bucket{server="${name}",le="0.25"} 2`,
      `plexus_call_seconds_bucket{server="${name}",le="+Inf"} 2`,
      `plexus_call_seconds_count{server="${name}"} 2`,
      `plexus_calls_in_flight{server="${name}"} 1`,
      `plexus_queue_length{server="${name}"} 2`,
      'plexus_sessions{era="legacy"} 2',
      'plexus_sessions{era="modern"} 1',
      'plexus_server_up{server="files"} 2',
      'plexus_server_up{server="mail"} 0',
      'plexus_server_restarts_total{server="files"} 3',
    ]),
  );
  expect(text).not.toContain('tool=');
  expect(text.match(/^# TYPE \S+ \S+$/gm)).toHaveLength(7);
});
