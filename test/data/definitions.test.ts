// Owns the proof that real and odd definitions of many servers are shown within the limits, to the models of everyone.
// The definitions are read where they lie, outside of the repository, and never copied.

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { present } from '../../src/catalog/definition/present.ts';
import { dialects, type Provider } from '../../src/catalog/definition/providers.ts';
import { checkDefinition } from '../../src/catalog/definition/check.ts';
import { isObject } from '../../src/kernel/json.ts';
import { limits } from '../../src/model/limits.ts';
import type { ToolDefinition } from '../../src/model/tool.ts';
import { verifies } from '../verifies.ts';
import { sampleOf } from '../effort.ts';

const data = new URL('../../../shared/data/', import.meta.url);
const files = ['schemas/real.jsonl.gz', 'schemas/synthetic.jsonl.gz', 'server-tools/tools.jsonl.gz'];
const isThere = files.every((file) => existsSync(new URL(file, data)));
const providers = Object.keys(dialects) as Provider[];

interface Sent {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: unknown;
}

function sentIn(file: string): readonly Sent[] {
  const lines = gunzipSync(readFileSync(new URL(file, data))).toString('utf8').trim().split('\n');
  const rows = lines.map((line) => JSON.parse(line) as Sent & { readonly tools?: readonly Sent[] });
  return rows
    .flatMap((row) => row.tools ?? [row])
    .map(({ name, description, inputSchema }) => ({
      name,
      ...(description !== undefined && { description }),
      inputSchema,
    }));
}

function checkedIn(file: string): { healthy: ToolDefinition[]; apart: string[] } {
  const checked = sampleOf(sentIn(file)).map((each) => checkDefinition(each));
  return {
    healthy: checked.filter((each) => typeof each !== 'string'),
    apart: checked.filter((each) => typeof each === 'string'),
  };
}

const isEnvelope = (changes: readonly string[]) => changes.some((each) => each.includes('parameters are'));

/** How long it may take at most: many times what it takes, as the machine is shared with other tests. */
const MOST_MS = 2_500;

if (!isThere) {
  test('definitions of real servers', ({ skip }) => skip(`${data.pathname} is not there: NOT CHECKED`));
} else {
  describe.each(files)('%s', (file) => {
    const { healthy, apart } = checkedIn(file);

    verifies(['NAM-15', 'EXT-11', 'EXT-16'], 'each is within the limits, the same again, and quickly shown', () => {
      for (const provider of providers) {
        const told = { shownAsSent: 0, changed: 0, reduced: 0, namesOnly: 0, slowestMs: 0 };
        for (const definition of healthy) {
          const before = process.cpuUsage();
          const shown = present(definition, provider);
          told.slowestMs = Math.max(told.slowestMs, process.cpuUsage(before).user / 1000);
          const text = JSON.stringify(shown.inputSchema);
          expect(Buffer.byteLength(text), definition.name).toBeLessThanOrEqual(limits.schemaBytes);
          expect(Buffer.byteLength(shown.description)).toBeLessThanOrEqual(limits.descriptionBytes);
          expect(shown.inputSchema['type']).toBe('object');
          told.shownAsSent += Number(shown.inputSchema === definition.inputSchema);
          told.changed += Number(shown.changes.length > 0);
          told.reduced += Number(shown.changes.some((each) => each.includes('too large')));
          told.namesOnly += Number(isEnvelope(shown.changes));
          const again = checkDefinition({ ...definition });
          expect(JSON.stringify(typeof again === 'string' ? again : present(again, provider))).toBe(JSON.stringify(shown));
        }
        console.log(file, provider, { all: healthy.length, setApart: apart.length, ...told });
        expect(told.slowestMs).toBeLessThan(MOST_MS);
      }
    }, { timeout: 120_000 });

    verifies('NAM-15', 'what is shown is a schema, and stays as it is when it is shown again', () => {
      const ajv = new Ajv2020({ strict: false, logger: false });
      for (const provider of providers)
        for (const { name, inputSchema } of healthy.map((each) => ({ ...each, ...present(each, provider) }))) {
          expect(ajv.validateSchema(withoutNamedDraft(inputSchema)), `${name} for ${provider}`).toBe(true);
          const again = checkDefinition({ name, inputSchema });
          const shown = typeof again === 'string' ? again : present(again, provider).inputSchema;
            expect(JSON.stringify(shown), name).toBe(JSON.stringify(inputSchema));
        }
    }, { timeout: 120_000 });
  });

  test('of the real ones none is set apart, and none is only names', () => {
    for (const file of [files[0], files[2]] as string[]) {
      const { healthy, apart } = checkedIn(file);
      expect(apart).toEqual([]);
      const names = healthy.filter((each) => isEnvelope(present(each, 'any').changes)).map(({ name }) => name);
      expect(names).toEqual([]);
    }
  });
}

/** The validator knows one draft; others are named in what real servers send. */
function withoutNamedDraft(schema: unknown): object {
  const { $schema: _, ...rest } = isObject(schema) ? schema : {};
  return rest;
}
