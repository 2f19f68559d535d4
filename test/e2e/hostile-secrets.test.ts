// Owns the proof that a secret which stands in an entry is in nothing that is stored or told of it: neither when the entry is approved,
// nor when it changes and the old and the new text are compared.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { RuntimeEvent } from '../../src/events.ts';
import { failureAsOutcome } from '../../src/index.ts';
import { createRuntime } from '../../src/runtime.ts';
import { faulty } from '../servers/faulty.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';

/** One made-up secret for each place of an entry, all with the same beginning. */
const argumentsWith = (secret: string) => [
  ...['--pwd', `${secret}-1`, '--pat', `${secret}-2`, '--passphrase', `${secret}-3`, '--bearer', `${secret}-4`],
  ...['-p', `${secret}-5`, `--signature=${secret}-6`, `ghp_${secret}0123456789abcdef`],
  ...[
    '--header',
    `Cookie: sid=${secret}-7`,
    `postgres://me:${secret}-8@host/db`,
    `https://h/sk-${secret}-0123456789/mcp`,
  ],
  ...['--config', `{"apiKey":"${secret}-9-Zt4Vb8Nw"}`, '--token', `12:${secret}-10`, '--user', `bob:${secret}-11`],
  ...[`Server=h;Password=${secret}-12`, `--cookie`, `sid=${secret}-13`, `${secret}7Xk2Lp9Zt4Vb8`],
];

verifies(
  ['TRU-08', 'EXT-04'],
  'secrets in arguments and addresses are neither stored with an approval nor told when the entry changes',
  async () => {
    const box = new Sandbox();
    onTestFinished(() => box.remove());
    const { command, args } = faulty();
    const write = (secret: string, ...more: readonly string[]) =>
      box.write('.mcp.json', {
        mcpServers: {
          local: { command, args: [...args, ...argumentsWith(secret), ...more], required: true },
          web: { url: `http://me:${secret}-url@127.0.0.1:9/s/sk-${secret}-0123456789/mcp?sig=${secret}` },
        },
      });
    const printed: string[] = [];
    const run = async (...words: string[]) => {
      const { out, err } = await box.plexus(...words);
      printed.push(out, err);
    };
    write('old5ecret');
    for (const name of ['local', 'web']) await run('approve', name, '--json');
    const stored = readdirSync(join(box.home, '.local/state/plexus'), { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => readFileSync(join(each.parentPath, each.name), 'utf8'));
    expect(stored.some((text) => text.includes('approvals/local'))).toBe(true);

    // Of code only the redactor knows what is secret, and it sees every failure.
    write('new5ecret', 'curl -u bob:new5ecret-14 https://h');
    await run('list', '--live');
    await run('list', '--live', '--json');
    await run('call', 'local', 'add', '{}');
    const told: unknown[] = [];
    const events: RuntimeEvent[] = [];
    const options = { cwd: box.workspace, home: box.home, env: {}, interactive: false };
    const onEvent = (event: RuntimeEvent) => events.push(event);
    await createRuntime({ ...options, onEvent }).catch((error: unknown) => told.push(error));
    const runtime = await createRuntime({ ...options, required: 'report', onEvent });
    onTestFinished(() => runtime.close());
    await runtime.refreshTools('local').catch((error: unknown) => told.push(error));
    const failure = await runtime
      .turn()
      .call('mcp__local__add', {})
      .catch((error: unknown) => error);
    told.push(failure, failureAsOutcome(failure).text, runtime.status(), events);
    const whole = [...stored, ...printed, ...told.map(inWords)].join('\n');
    expect(whole).toContain('argument 3 has another value');
    expect(whole.match(/.{0,60}(?:old|new)5ecret.{0,20}/g)).toBe(null);
  },
);

/** Errors hold more than JSON shows: their messages, data, causes and stacks. */
function inWords(value: unknown): string {
  const fieldsOf = (error: Error) => ({ ...error, message: error.message, stack: error.stack, cause: error.cause });
  return JSON.stringify(value, (_key, each: unknown) => (each instanceof Error ? fieldsOf(each) : each));
}
