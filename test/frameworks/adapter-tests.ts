// Owns how an adapter's test runs the situations with the drivers of `drivers/`: in this process, or by a newer Node.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newerNode } from './installed.ts';
import { type Driver, type Fleets, openFleets, situations } from './situations.ts';

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const program = fileOf('./run.ts');

/** For a newer Node: it finds the frameworks here, and warns of nothing. */
export const nodeOptions = ['--no-warnings', '--import', fileOf('./installed-here.mjs')];

export function describeSituations(drivers: Readonly<Record<string, Driver>>): void {
  let fleets: Fleets;
  beforeAll(async () => {
    fleets = await openFleets();
  });
  afterAll(() => fleets.close());
  describe.each(Object.entries(drivers))('%s', (_title, driver) => {
    test.each([...situations, ...(driver.further ?? [])])('$name', ({ check }) => check(driver, fleets));
  });
}

type Report = Readonly<Record<string, Readonly<Record<string, string | null>>>>;

/** The same for a framework that declares Node 22. `titles` are the drivers that have to be there, `further` what only they can do. */
export function describeWithNewerNode(
  name: string,
  major: string,
  titles: readonly string[],
  further: Readonly<Record<string, readonly string[]>> = {},
): void {
  describe('with Node 24', () => {
    let report: Report;
    // A situation that hangs must not leave its process behind.
    const hung = new AbortController();
    afterAll(() => hung.abort());
    beforeAll(async () => {
      const { stdout } = await promisify(execFile)(newerNode, [...nodeOptions, program, name, major], {
        encoding: 'utf8',
        signal: hung.signal,
      });
      report = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Report;
    });
    test('all drivers ran', () => expect(Object.keys(report)).toEqual(titles));
    describe.each(titles)('%s', (title) => {
      const names = [...situations.map(({ name: situation }) => situation), ...(further[title] ?? [])];
      test('all situations ran', () => expect(Object.keys(report[title] ?? {})).toEqual(names));
      test.each(names)('%s', (situation) => expect(report[title]?.[situation]).toBeNull());
    });
  });
}
