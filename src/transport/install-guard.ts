// Owns the guard of one installation: a small shell that keeps the output of an installing process open when the host is gone,
// and ends the process when it takes too long. A broken pipe would end npm in the middle, and leave its cache broken.

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { limits } from '../model/limits.ts';
import { errorCode } from './error-code.ts';
import { MARK_VARIABLE } from './mark.ts';
import { SHELL_ENVIRONMENT, spare, unspare } from './watchdog.ts';

/**
 * A line on its input means that the installation is over; the end of its input, that the host left it alone. Then it reads the
 * output of the group, which comes on 3 and 4, so that nobody waits for a reader, and looks each second whether the group is gone.
 * The output may not block, so that `cat` ends as soon as there is nothing to read: then it is started again.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE
group=$1 mark=$2 left=$3 grace=$4 out= err=
read -r line && exit 0
members() {
  if [ -r /proc/self/environ ]; then grep -lzx "$mark" /proc/[0-9]*/environ | tr -dc '0-9\\n'
  else ps -axEww -o pid=,command= | grep " $mark\\( \\|$\\)" | while read -r pid rest; do echo "$pid"; done
  fi
}
send() {
  kill "-$1" -- "-$group"
  for member in $(members); do kill "-$1" "$member"; done
}
while [ -n "$(members)" ]; do
  [ "$left" -gt 0 ] || break
  kill -0 "$out" || { cat <&3 & out=$!; }
  kill -0 "$err" || { cat <&4 & err=$!; }
  sleep 1
  left=$((left - 1))
done
[ -n "$(members)" ] || exit 0
send TERM
sleep "$grace" || sleep 1
send KILL
`;

const GRACE_SECONDS = String(limits.orphanGraceMs / 1_000);

export interface InstallGuardOptions {
  readonly group: number;
  readonly mark: string;
  /** How long the installation may go on without its host. */
  readonly limitMs: number;
}

export interface InstallGuard {
  /** The installation is over, or ended by the host: the guard ends. */
  dismiss(): void;
  /** The host leaves the installation to the guard. */
  takeOver(): void;
  /** The process that was left to the guard has ended. */
  forget(): void;
}

/** `undefined` where there is no shell for it: the process then ends with its host, as all others do. */
export function guardInstallation(
  child: ChildProcessWithoutNullStreams,
  { group, mark, limitMs }: InstallGuardOptions,
): InstallGuard | undefined {
  const shell = process.platform === 'win32' ? undefined : trySpawn(child, { group, mark, limitMs });
  const input = shell?.stdin as Socket | null | undefined;
  if (shell?.pid === undefined || !input) return undefined;
  input.on('error', ignore);
  input.unref();
  shell.unref();
  spare(mark);
  const release = (line: string) => {
    unspare(mark);
    input.end(line);
  };
  return { dismiss: () => release('installed\n'), takeOver: () => input.end(), forget: () => unspare(mark) };
}

const ignore = (): void => undefined;

function trySpawn(child: ChildProcessWithoutNullStreams, options: InstallGuardOptions): ChildProcess | undefined {
  const { group, mark, limitMs } = options;
  const words = [group, `${MARK_VARIABLE}=${mark}`, Math.ceil(limitMs / 1_000), GRACE_SECONDS].map(String);
  try {
    const shell = spawn('sh', ['-c', SCRIPT, 'plexus-install-guard', ...words], {
      cwd: '/',
      env: SHELL_ENVIRONMENT,
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore', child.stdout, child.stderr],
    });
    shell.once('error', ignore);
    return shell;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  } finally {
    // Sharing a stream stops it here; nobody else reads it while the host is there.
    for (const stream of [child.stdout, child.stderr]) stream.resume();
  }
}
