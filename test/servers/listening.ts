// Owns starting a program of the tests that listens, and reading the first line it prints: where it listens. It ends with the test.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

export async function startListening<Place>(program: string, ...words: readonly string[]): Promise<Place> {
  const child = spawn(process.execPath, [program, ...words], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.end();
    await gone;
  });
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`${program} exited with ${code} before it listened`)));
  });
  return JSON.parse(line) as Place;
}
