// Owns running the situations in a process of its own: `node run.ts DRIVERS MAJOR`, for frameworks that need a newer Node. The last
// line is JSON: for each driver and situation what went wrong, or null.

import { type Driver, openFleets, situations } from './situations.ts';

const [name, major = ''] = process.argv.slice(2);
const { openDrivers } = await import(`./drivers/${name}.ts`);
const report: Record<string, Record<string, string | null>> = {};
const fleets = await openFleets();
for (const [title, driver] of Object.entries<Driver>(await openDrivers(major))) {
  const told: Record<string, string | null> = {};
  for (const situation of [...situations, ...(driver.further ?? [])])
    told[situation.name] = await situation.check(driver, fleets).then(
      () => null,
      (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
    );
  report[title] = told;
}
await fleets.close();
process.stdout.write(`${JSON.stringify(report)}\n`);
