// Owns approving one server as its entry is now, and what the person is told of it: what would run, what it may read, how far the
// approval reaches.

import { withoutSecrets } from '../config/literal-secrets.ts';
import type { AnsweredInput, LaunchPreview } from '../config/preview.ts';
import { inputsRead, variablesRead } from '../config/referenced-variables.ts';
import type { HostEnvironment } from '../config/scopes.ts';
import type { ServerName } from '../model/names.ts';
import { isSecretVariable } from '../model/secret-shapes.ts';
import { commandLine, type ServerDefinition } from '../model/server.ts';
import type { Gate } from '../trust/gate.ts';
import { type Context, UsageError } from './command.ts';
import { environmentOf, openTrust } from './load-config.ts';

export interface ServerApproval {
  readonly name: ServerName;
  readonly command: string;
  readonly approved: true;
  /** The server needed no approval, or had this one. */
  readonly already: boolean;
  readonly isOwn: boolean;
  readonly isRemote: boolean;
  /** The person's environment variables that the server may read from now on. */
  readonly grants: readonly string[];
  /** Variables that the entry reads and does not get. */
  readonly withheld: readonly string[];
  /** Ids of the inputs that the server asks the person for. */
  readonly inputs: readonly string[];
  /** The command or address with folders and answered inputs filled in. */
  readonly filled?: string;
  /** The version of its package that the runner's cache holds, where the entry names none. */
  readonly proposal?: VersionProposal;
  /** The answers that fill its inputs, and who gave them. */
  readonly answers?: readonly AnsweredInput[];
  /** The entry inherits all of the person's environment variables, and the person approved its file. */
  readonly seesEverything: boolean;
  readonly changes: readonly string[];
  /** The file of the person's own server whose name it takes. */
  readonly displaces?: string;
  /** The approval covers the contents of files. */
  readonly isPinned: boolean;
  /** Those files, as paths in the workspace, where the approval is new. */
  readonly pinned?: readonly string[];
}

/** Grants exactly the variables that the entry reads now. A credential that would leave the machine needs `--allow-env`. */
export async function approveOne(
  gate: Gate,
  definition: ServerDefinition,
  allowed: readonly string[],
  { preview, pinsFiles = false }: ApprovalExtra = {},
): Promise<ServerApproval> {
  const { name, launch } = definition;
  const { all, sent } = variablesRead(definition);
  const unread = allowed.find((variable) => !all.includes(variable));
  if (unread !== undefined)
    throw new UsageError(`"${name}" does not read ${unread}${all.length > 0 ? `; it reads ${all.join(', ')}` : ''}`);
  const isWithheld = (each: string) => sent.includes(each) && isSecretVariable(each) && !allowed.includes(each);
  const fresh = all.filter((each) => !isWithheld(each));
  const judgement = await gate.judge(definition);
  const isOwn = judgement.kind === 'own';
  const before = judgement.kind === 'approved' ? judgement.grants : [];
  const isPinned = judgement.kind === 'approved' && judgement.isPinned === true;
  const already =
    isOwn ||
    (judgement.kind === 'approved' && fresh.every((each) => before.includes(each)) && (isPinned || !pinsFiles));
  const grants = all.filter((each) => fresh.includes(each) || before.includes(each));
  const judged = judgement.kind === 'asks' ? judgement.identity : undefined;
  const pinned = already ? undefined : await gate.approve(definition, grants, judged, { pinsFiles });
  return {
    name,
    command: commandLine(withoutSecrets(launch)),
    approved: true,
    already,
    isOwn,
    isRemote: launch.kind !== 'stdio',
    grants: isOwn ? [] : grants,
    withheld: isOwn ? [] : all.filter((each) => !grants.includes(each)),
    inputs: isOwn ? [] : inputsRead(definition),
    seesEverything: !isOwn && launch.kind === 'stdio' && launch.inheritEnv === 'all',
    changes: judgement.kind === 'asks' ? judgement.changes : [],
    isPinned: isPinned || pinned !== undefined,
    ...(pinned && { pinned }),
    ...(await preview?.(definition)),
  };
}

export interface ApprovalExtra {
  readonly preview?: Preview;
  readonly pinsFiles?: boolean;
}

type Preview = (
  definition: ServerDefinition,
) => Promise<Pick<LaunchPreview, 'filled'> & Pick<ServerApproval, 'answers' | 'proposal'>>;

interface VersionProposal {
  readonly package: string;
  readonly version: string;
  /** To be written into the entry, in place of `inPlaceOf`. */
  readonly write: string;
  readonly inPlaceOf: string;
}

export function previewIn(context: Context): Preview {
  return async (definition) => {
    const [{ previewLaunch }, { secrets }] = await Promise.all([import('../config/preview.ts'), openTrust(context)]);
    const environment = environmentOf(context);
    const { filled, inputs: answers } = await previewLaunch(definition, environment, secrets);
    const proposal = await proposalFor(definition, environment);
    return { filled, answers, ...(proposal && { proposal }) };
  };
}

/** Reads the runner's cache and asks no registry: approving must not tell anybody what is about to run. */
async function proposalFor(
  { launch }: ServerDefinition,
  environment: HostEnvironment,
): Promise<VersionProposal | undefined> {
  if (launch.kind !== 'stdio') return undefined;
  const [{ packageWithoutVersion }, { cachedVersion }] = await Promise.all([
    import('../config/named-package.ts'),
    import('../config/cached-version.ts'),
  ]);
  const named = packageWithoutVersion([launch.command, ...launch.args], environment.platform);
  if (named === undefined) return undefined;
  const version = await cachedVersion(named, environment);
  return version === undefined
    ? undefined
    : { package: named.name, version, write: named.at(version), inPlaceOf: named.written };
}
