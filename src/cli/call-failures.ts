// Owns what a person reads when `plexus call` fails: that they said no themselves, errors of the files that may be the cause, and
// the last words of a server that died. A call that succeeds prints none of it.

import type { Diagnostic } from '../model/diagnostic.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName, ToolId } from '../model/names.ts';
import type { Approve } from '../trust/approval.ts';
import { type Context, Declined } from './command.ts';
import { readLastStart } from './last-start.ts';
import { indent, printable, shellWord } from './render/text.ts';
import { warnOfDiagnostics } from './with-runtime.ts';

export interface CallFailures {
  /** The same approval, whose answer is remembered. */
  readonly watch: (approve: Approve) => Approve;
  readonly read: (diagnostics: readonly Diagnostic[]) => void;
  /** Prints what helps, and throws the error that ends the command. After the runtime is closed, so that the log is complete. */
  readonly explain: (error: unknown) => Promise<never>;
}

const SHOWN_LINES = 10;

/** `named`: the server that the command line names. */
export function createCallFailures(context: Context, named: ServerName | undefined): CallFailures {
  let diagnostics: readonly Diagnostic[] = [];
  let saidNo = false;
  return {
    watch: (approve) => async (request, options) => {
      const answer = await approve(request, options);
      saidNo = answer === 'no' && request.kind === 'tool' && context.askText !== undefined;
      return answer;
    },
    read(found) {
      diagnostics = found;
    },
    async explain(error) {
      if (!(error instanceof RuntimeError)) throw error;
      if (error.code === 'APPROVAL_REFUSED' && saidNo) throw new Declined('Not called: you said no.');
      warnOfDiagnostics(
        diagnostics.filter((each) => mayExplain(each, error, named)),
        context,
      );
      const { server = named } = error.data as Partial<ToolId>;
      if (error.code === 'OUTCOME_UNKNOWN' && server !== undefined) await showLastWords(context, server);
      throw error;
    },
  };
}

/** A missing server or tool may be missing because of any file; otherwise only the server's own errors count, which are not repeated. */
function mayExplain({ server }: Diagnostic, error: RuntimeError, named: ServerName | undefined): boolean {
  if (error.code === 'CONFIG_INVALID') return false;
  const isMissing = error.code === 'SERVER_UNKNOWN' || error.code === 'TOOL_UNKNOWN';
  return server === undefined || named === undefined ? isMissing : server === named || error.code === 'SERVER_UNKNOWN';
}

async function showLastWords(context: Context, server: ServerName): Promise<void> {
  const { stderr } = (await readLastStart(context, server)) ?? {};
  if (stderr === undefined) return;
  const lines = stderr.slice(-SHOWN_LINES).map((line) => `| ${printable(line)}`);
  const said = `The last that server "${server}" wrote on stderr:`;
  const text = lines.length > 0 ? [said, indent(lines.join('\n'))] : [`Server "${server}" wrote nothing on stderr.`];
  context.warn(() => [...text, `When it started and why it ended: plexus logs ${shellWord(server)}`].join('\n'));
}
