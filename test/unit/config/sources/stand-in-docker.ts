// Owns the stand-in for Docker. No Docker engine is available where these tests run: this is a program called `docker`, put into
// a folder of the path, that answers `mcp --help` and `info` as the documented command line does, with its exit codes, and runs
// a real MCP server for `mcp gateway run`. What it cannot show is how a real engine behaves behind that server.

import { chmod, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { FAULTY } from '../../../servers/faulty.ts';
import { createFolder, writeFiles } from '../folder.ts';

export interface StandIn {
  /** `absent`: the command line as it is without the plugin. `absent-politely`: as most versions are, which show their own help. */
  readonly mcp?: 'present' | 'absent' | 'absent-politely' | 'hangs';
  /** `slow`: does not answer until the test lets it. */
  readonly daemon?: 'up' | 'down' | 'mute' | 'hangs' | 'slow';
}

export interface Docker {
  readonly folder: string;
  readonly file: string;
  /** The commands that it got, in order. */
  readonly asked: () => Promise<readonly string[]>;
  /** The file that hanging processes write their pids to, and those of their children. */
  readonly pids: string;
  readonly become: (standIn: StandIn) => Promise<void>;
  /** How a slow daemon answers in the end. */
  readonly speak: (how: 'up' | 'down') => Promise<void>;
}

export async function createDocker(standIn: StandIn = {}, name = 'docker'): Promise<Docker> {
  const folder = await createFolder();
  return writeDocker(folder, standIn, name);
}

export async function writeDocker(folder: string, standIn: StandIn = {}, name = 'docker'): Promise<Docker> {
  const [file, log, pids] = [join(folder, name), join(folder, 'asked'), join(folder, 'pids')];
  const become = async (next: StandIn) => {
    await writeFiles(folder, { [name]: programOf(next, log, pids), asked: '' });
    await chmod(file, 0o755);
  };
  await become(standIn);
  const asked = async () => (await readFile(log, 'utf8')).split('\n').filter(Boolean);
  const speak = (how: string) =>
    writeFiles(folder, { 'how.new': how }).then(() => rename(`${folder}/how.new`, `${pids}.how`));
  return { folder, file, asked, pids, become, speak };
}

/** CommonJS, since the program's name has no extension. */
const programOf = ({ mcp = 'present', daemon = 'up' }: StandIn, log: string, pids: string) => `#!${process.execPath}
const { spawn } = require('node:child_process');
const { appendFileSync, existsSync, readFileSync } = require('node:fs');
const [, , ...words] = process.argv;
const line = words.join(' ');
appendFileSync(${JSON.stringify(log)}, line + '\\n');

const hang = () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
  for (const pid of [process.pid, child.pid]) appendFileSync(${JSON.stringify(pids)}, pid + '\\n');
  setInterval(() => {}, 1000);
};
const fail = (text) => { console.error(text); process.exit(1); };
const generalHelp = 'Usage:  docker [OPTIONS] COMMAND\\n\\nCommon Commands:\\n  run         Create and run a new container';

const daemon = {
  up: () => console.log('29.1.3'),
  down: () => { console.log(''); fail('failed to connect to the docker API'); },
  mute: () => console.log(''),
  hangs: hang,
  slow: () => {
    appendFileSync(${JSON.stringify(pids)}, process.pid + '\\n');
    const how = ${JSON.stringify(`${pids}.how`)};
    const timer = setInterval(() => existsSync(how) && (clearInterval(timer), daemon[readFileSync(how, 'utf8')]()), 10);
  },
};
const answers = {
  'mcp --help': {
    present: () => console.log('Usage: docker mcp [OPTIONS]\\n\\nAvailable Commands:\\n  gateway     Manage the gateway\\n  tools       Manage tools'),
    absent: () => fail("docker: unknown command: docker mcp"),
    'absent-politely': () => console.log(generalHelp),
    hangs: hang,
  }[${JSON.stringify(mcp)}],
  'info --format {{.ServerVersion}}': daemon[${JSON.stringify(daemon)}],
  'mcp gateway run': () => {
    process.argv.length = 2;
    import(${JSON.stringify(FAULTY)});
  },
};
(answers[line] ?? (() => fail('unknown: ' + line)))();
`;
