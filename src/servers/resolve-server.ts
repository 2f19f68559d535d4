// Owns filling in one server's placeholders before it is opened: variables, inputs and commands become values, and allow and
// deny lists are asked again, because an address made of variables is known only now.

import { type AskInput, createInputs } from '../config/inputs.ts';
import { refusalOf } from '../config/lists.ts';
import type { LoadedConfig } from '../config/load.ts';
import { launchAwayFromWorkspace } from '../config/neutral-folder.ts';
import { resolveLaunch } from '../config/resolve.ts';
import { runCommand } from '../config/run-command.ts';
import { type HostEnvironment, isOwnScope } from '../config/scopes.ts';
import type { Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { InProcessLaunch, Launch, Launcher, ServerDefinition } from '../model/server.ts';
import type { KnownSecrets } from '../shaping/redact.ts';
import type { Secrets } from '../store/secrets.ts';
import { type GrantedVariables, lacksApproval } from './approve-server.ts';
import { CommandOutputs } from './command-outputs.ts';
import type { ResolvedServer } from './registry.ts';
import { resolvedSecrets } from './resolved-secrets.ts';

export interface ResolverDeps {
  readonly environment: HostEnvironment;
  readonly config: () => Pick<LoadedConfig, 'lists' | 'settings'>;
  readonly secrets: Secrets;
  readonly askInput: AskInput | undefined;
  /** Lets the host change what is started, for example to put a sandbox around it. */
  readonly launcher: Launcher | undefined;
  /** Learns every secret that is filled in, so that the redactor knows it. */
  readonly knownSecrets: KnownSecrets;
  readonly onResolved: (server: ServerName, resolved: ResolvedServer) => void;
  readonly elsewhere: Elsewhere | undefined;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Says how to reach a server that runs elsewhere, such as in a gateway. `undefined`: it does not, and is started here. */
export type Elsewhere = (
  definition: ServerDefinition,
  signal: AbortSignal,
) => Promise<InProcessLaunch['open'] | undefined>;

export interface ServerResolver {
  /** Throws `SERVER_DENIED` where a list refuses what the entry turned out to be. */
  resolve(definition: ServerDefinition, grants: GrantedVariables, signal: AbortSignal): Promise<Launch>;
  /** The commands of the server, or of all servers, run again when it is next resolved. */
  forgetOutputs(server?: ServerName): void;
}

const neverServed = (): never => {
  throw new TypeError('the server runs elsewhere');
};

export function createServerResolver(deps: ResolverDeps): ServerResolver {
  const { environment, clock, knownSecrets } = deps;
  const answerInput = createInputs({ answers: deps.secrets, ask: deps.askInput, onError: deps.onError });
  // Run outside the workspace: some systems look for programs in the current folder first.
  const runAnew = (command: string) => runCommand(command, { ...environment, cwd: environment.home, clock });
  const outputs = new CommandOutputs(runAnew);
  const resolve: ServerResolver['resolve'] = async (definition, grants, signal) => {
    const open = await deps.elsewhere?.(definition, signal);
    // Its values are filled in where it runs.
    if (open !== undefined) return { kind: 'in-process', serve: neverServed, open };
    const { name: server, provenance, inputs = [] } = definition;
    const { settings, lists } = deps.config();
    const { launch, warnings } = await resolveLaunch(definition, {
      environment,
      grants,
      unresolvedEnv: settings.unresolvedEnv,
      run: (command) => outputs.get(server, command),
      runAnew,
      input: async (id) => {
        // A server that was not approved gets no answer of the user's, not even an old one.
        if (grants === undefined) return undefined;
        const request = inputs.find((each) => each.id === id) ?? { id, password: true };
        const { file, provider, scope } = provenance;
        const answer = await answerInput({ server, file, provider, request, usesDefault: isOwnScope(scope), signal });
        if (answer !== undefined && request.password) knownSecrets.add(id, answer);
        return answer;
      },
    });
    // Register secrets before anything about the server is logged or reported.
    knownSecrets.set(server, resolvedSecrets(definition, launch, environment.env));
    const refusal: ResolvedServer['refusal'] = (asked) => refusalOf(asked, { name: server, launch, isFilled: true });
    const isUnapprovedWorkspaceServer = lacksApproval(definition, grants);
    const resolved = { launch: definition.launch, warnings, isUnapprovedWorkspaceServer, refusal };
    const because = refusal(lists);
    if (because !== undefined || launch.kind !== 'stdio') deps.onResolved(server, resolved);
    if (because !== undefined) throw new RuntimeError('SERVER_DENIED', { server, because });
    if (launch.kind !== 'stdio') return launch;
    const started = await launchAwayFromWorkspace(definition, launch, environment, clock);
    const cwd = started.folder ?? launch.cwd;
    deps.onResolved(server, { ...resolved, ...(cwd !== undefined && { cwd }) });
    return deps.launcher ? { ...started.launch, ...deps.launcher({ ...started.launch, server }) } : started.launch;
  };
  return { resolve, forgetOutputs: (server) => outputs.forget(server) };
}
