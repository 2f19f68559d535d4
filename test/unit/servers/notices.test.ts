// Owns the proof of what a host's logger is told, and at which level.

import { expect } from 'vitest';
import type { ServerEvent } from '../../../src/servers/events.ts';
import { createNotices, errorNotice, type Logger } from '../../../src/servers/notices.ts';
import { createRedactor, KnownSecrets } from '../../../src/shaping/redact.ts';
import { verifies } from '../../verifies.ts';

function logging() {
  const lines: string[] = [];
  const at = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const secrets = new KnownSecrets();
  secrets.add('key', 'hunter2-hunter2');
  const notice = createNotices({ logger, isHeard: () => false, redactor: createRedactor(secrets) });
  return { lines, logger, notice };
}

const changed = { type: 'connection.changed', server: 'files', label: 'mcp:files', from: 'connecting' } as const;
const cause = { code: 'CONNECTION_LOST', message: 'It said hunter2-hunter2.', remedy: 'retry-later' } as const;

const events: readonly (readonly [event: ServerEvent, line: readonly string[]])[] = [
  [{ ...changed, to: 'ready' }, ['debug: files: connecting → ready']],
  [{ ...changed, to: 'waiting', cause }, ['info: files: connecting → waiting. It said [key].']],
  [{ ...changed, to: 'failed', cause }, ['warn: files: connecting → failed. It said [key].']],
  [
    {
      type: 'config.loaded',
      files: [],
      diagnostics: [
        {
          severity: 'error',
          code: 'CONFIG_INVALID',
          message: 'is wrong',
          remedy: 'Mend it.',
          file: '/a.toml',
          line: 3,
        },
        { severity: 'warning', code: 'CONFIG_INVALID', message: 'is odd', remedy: 'Look at it.' },
      ],
    },
    ['error: /a.toml:3: is wrong Mend it.', 'warn: is odd Look at it.'],
  ],
  [
    { type: 'startup.completed', ready: [], notReady: [], known: [], line: '0 of 0 servers ready' },
    ['info: 0 of 0 servers ready'],
  ],
  [
    { type: 'catalog.problem-found', server: 'files', problem: 'a tool was left out' },
    ['info: files: a tool was left out'],
  ],
  [
    {
      type: 'catalog.name-collided',
      name: 'read',
      isReserved: true,
      tools: [{ server: 'files', tool: 'read', name: 'read_1234567890' }],
    },
    ['info: The name read is reserved: "read" of server "files" is now read_1234567890.'],
  ],
  [
    { type: 'catalog.pattern-unmatched', pattern: 'mcp__x' },
    ['warn: The pattern "mcp__x" of view({ tools }) matches no tool.'],
  ],
  [{ type: 'resource.updated', server: 'files', uri: 'a:b' }, []],
];

verifies(['EVT-12', 'TRU-08'], 'a logger is told what goes wrong, at its level and without secrets', () => {
  for (const [event, expected] of events) {
    const { lines, notice } = logging();
    notice(event);
    expect(lines, event.type).toEqual(expected);
  }
  const { lines, logger } = logging();
  errorNotice(logger)(new Error('the disk is full'));
  errorNotice(false)(new Error('unheard'));
  expect(lines).toEqual(['error: the disk is full']);
});
