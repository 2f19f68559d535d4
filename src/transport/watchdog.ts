// Owns the watchdog: one small shell per host process that ends every remaining process group when the host dies without
// closing. The shell runs exactly as long as there is a group to watch.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { limits } from '../model/limits.ts';
import { errorCode } from './error-code.ts';
import { send } from './family.ts';
import { hostMark, MARK_VARIABLE } from './mark.ts';
import { noteEnded, noteStarted } from './started-processes.ts';

/**
 * Gets its first orders as arguments and reads more: `+group` and `-group`, and `*mark` and `/mark` for processes that are spared.
 * The end of its input means that the host is gone. Until then it runs only builtins of the shell, which keeps the process
 * small. Where `sleep` takes no fractions it waits 1 s. Processes that left their group are found by the host's mark: in /proc, elsewhere with `ps`.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE
mark=$1 grace=$2 groups=' ' spared=' '
shift 2
take() {
  name=\${1#?}
  case $1 in
    +*) groups="$groups$name " ;;
    -*) groups="\${groups%% $name *} \${groups#* $name }" ;;
    '*'*) spared="$spared$name " ;;
    /*) spared="\${spared%% $name *} \${spared#* $name }" ;;
  esac
}
for line; do take "$line"; done
while read -r line; do take "$line"; done
marked() {
  if [ -r /proc/self/environ ]; then grep -lz "^$1" /proc/[0-9]*/environ | tr -dc '0-9\\n'
  else ps -axEww -o pid=,command= | grep " $1" | while read -r pid rest; do echo "$pid"; done
  fi
}
strays() {
  kept=' '
  for each in $spared; do kept="$kept$(marked "\${mark%%=*}=$each\\( \\|$\\)" | tr '\\n' ' ')"; done
  for pid in $(marked "$mark\\."); do case $kept in *" $pid "*) ;; *) echo "$pid" ;; esac; done
}
sleep "$grace" || sleep 1
for group in $groups; do kill -TERM -- "-$group"; done
sleep "$grace" || sleep 1
for group in $groups; do kill -KILL -- "-$group"; done
for stray in $(strays); do kill -KILL "$stray"; done
`;

const MARK = `${MARK_VARIABLE}=${hostMark}`;
const GRACE_SECONDS = String(limits.orphanGraceMs / 1_000);

/** Nothing of the host's environment: if the host is itself a server, the mark of its own host would end the shells too early. */
export const SHELL_ENVIRONMENT = { PATH: '/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin', LC_ALL: 'C' };

const watched = new Set<number>();
/** Marks of processes that may outlive the host: installations, which have a guard of their own. */
const spared = new Set<string>();
let shell: ChildProcess | undefined;
let deaths = 0;

/**
 * Call right before a child is started, in the same tick. Where a host is killed between the two, the shell does not know the group,
 * and finds the child by its mark.
 */
export function standBy(): void {
  if (shell === undefined) start();
}

/** Call if no child was started after all. */
export async function standDown(): Promise<void> {
  if (watched.size === 0) await retire();
}

/** `group` is the pid of a child that was just started. */
export function watch(group: number): void {
  watched.add(group);
  noteStarted(group);
  if (shell === undefined) start();
  else tell(`+${group}`);
}

/** Call when no process of the group runs any more. With the last group the shell ends as well, before this resolves. */
export async function unwatch(group: number): Promise<void> {
  if (!watched.delete(group)) return;
  noteEnded(group);
  if (watched.size === 0) await retire();
  else tell(`-${group}`);
}

/** Processes with this mark are not ended with the host. */
export function spare(mark: string): void {
  spared.add(mark);
  tell(`*${mark}`);
}

export function unspare(mark: string): void {
  if (spared.delete(mark)) tell(`/${mark}`);
}

/** Detached, so that Ctrl+C in the host's terminal does not reach the shell; unreferenced, so that it keeps no host alive. */
function start(): void {
  const started = process.platform === 'win32' ? undefined : trySpawn();
  if (started?.pid === undefined || !started.stdin) {
    guardExit();
    return;
  }
  shell = started;
  started.once('exit', () => {
    if (shell === started) replace();
  });
  // A shell that cannot be written to is useless: kill it, and its exit starts the next one.
  started.stdin.on('error', () => started.kill('SIGKILL'));
  started.unref();
  (started.stdin as Socket).unref();
}

function trySpawn(): ChildProcess | undefined {
  try {
    const orders = [...Array.from(watched, (group) => `+${group}`), ...Array.from(spared, (mark) => `*${mark}`)];
    const args = ['-c', SCRIPT, 'plexus-watchdog', MARK, GRACE_SECONDS, ...orders];
    const started = spawn('sh', args, {
      cwd: '/',
      env: SHELL_ENVIRONMENT,
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    return started.once('error', guardExit);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}

function tell(line: string): void {
  shell?.stdin?.write(`${line}\n`);
}

function replace(): void {
  shell = undefined;
  deaths += 1;
  if (deaths < limits.watchdogStarts) start();
  else guardExit();
}

async function retire(): Promise<void> {
  const retired = shell;
  shell = undefined;
  deaths = 0;
  if (retired === undefined) return;
  // Without this, a host with nothing else to do would exit here, before its closing is complete.
  retired.ref();
  await new Promise((resolve) => {
    retired.once('exit', resolve);
    retired.kill('SIGKILL');
  });
}

/** The fallback without a shell: it ends the groups when the host exits by itself, but not when the host is killed. */
function guardExit(): void {
  process.off('exit', endWatched);
  process.on('exit', endWatched);
}

function endWatched(): void {
  for (const group of watched) if (!send(-group, 'SIGKILL')) send(group, 'SIGKILL');
}
