// Owns how much the tests draw by chance, and how they measure work without measuring the machine.

/** `.ci/run` sets this: every property, soak, cycle, kill and fault in full. `npm test` runs a part of them. */
export const isLong = process.env['PLEXUS_LONG'] === '1';

/** What chance draws follows from it. `scripts/test.mjs` draws one and prints it; PLEXUS_SEED repeats a run. */
export const seed = Number(process.env['PLEXUS_SEED'] ?? 1);

/** So many of a full run's repetitions. */
export const runs = (full: number): number => (isLong ? full : Math.ceil(full / 10));

/** Every tenth of a list that a full run goes through from end to end; which ones follows from the seed. */
export const sampleOf = <Item>(items: readonly Item[]): readonly Item[] =>
  isLong ? items : items.filter((_, index) => index % 10 === seed % 10);

/** Every second one, chosen by the seed: for faults that three network transports have in common. */
export const halfOf = <Item>(items: readonly Item[]): readonly Item[] =>
  isLong ? items : items.filter((_, index) => index % 2 === seed % 2);

/** Milliseconds of processor time: whatever else runs on the machine does not count. */
export function processorMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
