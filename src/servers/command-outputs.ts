// Owns what the commands of entries printed: each runs once per runtime, since a password manager may ask for a touch or a password
// each time, and again when its server asks for it.

import type { CommandOutput } from '../config/run-command.ts';
import type { ServerName } from '../model/names.ts';

export class CommandOutputs {
  readonly #run: (command: string) => Promise<CommandOutput>;
  readonly #outputs = new Map<string, Promise<CommandOutput>>();
  readonly #commands = new Map<ServerName, Set<string>>();

  constructor(run: (command: string) => Promise<CommandOutput>) {
    this.#run = run;
  }

  /** Runs the command unless its output is known. A failure is not kept. */
  get(server: ServerName, command: string): Promise<CommandOutput> {
    const commands = this.#commands.get(server) ?? new Set();
    this.#commands.set(server, commands.add(command));
    const known = this.#outputs.get(command);
    if (known) return known;
    const output = this.#run(command);
    this.#outputs.set(command, output);
    void output.then(({ ok }) => ok || this.#drop(command, output));
    return output;
  }

  /** The commands of the server, or of all servers, run again when they are next needed. */
  forget(server?: ServerName): void {
    const commands = server === undefined ? [...this.#outputs.keys()] : (this.#commands.get(server) ?? []);
    for (const command of commands) this.#outputs.delete(command);
  }

  #drop(command: string, output: Promise<CommandOutput>): void {
    if (this.#outputs.get(command) === output) this.#outputs.delete(command);
  }
}
