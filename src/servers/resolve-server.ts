// Owns filling in one server's placeholders before it is opened: variables, inputs and commands become values, and allow and
// deny lists are asked again, because an address made of variables is known only now.

import { type AskInput, createInputs, inputSourceKey } from '../config/inputs.ts';
import { refusalOf } from '../config/lists.ts';
import type { LoadedConfig } from '../config/load.ts';
import { resolveLaunch } from '../config/resolve.ts';
import { runCommand } from '../config/run-command.ts';
import type { HostEnvironment } from '../config/scopes.ts';
import type { Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Launch, Launcher, ServerDefinition } from '../model/server.ts';
import type { KnownSecrets } from '../shaping/redact.ts';
import type { Secrets } from '../store/secrets.ts';
import type { GrantedVariables } from './approve-server.ts';
import { CommandOutputs } from './command-outputs.ts';
import type { ResolvedServer } from './registry.ts';
import { resolvedSecrets } from './resolved-secrets.ts';

export interface ResolverDeps {
  readonly environment: HostEnvironment;
  readonly config: () => Pick<LoadedConfig, 'lists' | 'promptInputs' | 'settings'>;
  readonly secrets: Secrets;
  readonly askInput: AskInput | undefined;
  /** Lets the host change what is started, for example to put a sandbox around it. */
  readonly launcher: Launcher | undefined;
  /** Learns every secret that is filled in, so that the redactor knows it. */
  readonly knownSecrets: KnownSecrets;
  readonly onResolved: (server: ServerName, resolved: ResolvedServer) => void;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export interface ServerResolver {
  /** Throws `SERVER_DENIED` where a list refuses what the entry turned out to be. */
  resolve(definition: ServerDefinition, grants: GrantedVariables): Promise<Launch>;
  /** The commands of the server, or of all servers, run again when it is next resolved. */
  forgetOutputs(server?: ServerName): void;
}

export function createServerResolver(deps: ResolverDeps): ServerResolver {
  const { environment, clock, knownSecrets } = deps;
  const answerInput = createInputs({ answers: deps.secrets, ask: deps.askInput, onError: deps.onError });
  // Run outside the workspace: some systems look for programs in the current folder first.
  const runAnew = (command: string) => runCommand(command, { ...environment, cwd: environment.home, clock });
  const outputs = new CommandOutputs(runAnew);
  const resolve: ServerResolver['resolve'] = async (definition, grants) => {
    const { name: server, provenance } = definition;
    const { promptInputs, settings, lists } = deps.config();
    const declared = promptInputs.get(inputSourceKey(provenance)) ?? [];
    const { launch, warnings } = await resolveLaunch(definition, {
      environment,
      grants,
      unresolvedEnv: settings.unresolvedEnv,
      run: (command) => outputs.get(server, command),
      runAnew,
      input: async (id) => {
        // A server that was not approved gets no answer of the user's, not even an old one.
        if (grants === undefined) return undefined;
        const request = declared.find((each) => each.id === id) ?? { id, password: true };
        const answer = await answerInput({ server, file: provenance.file, provider: provenance.provider, request });
        if (answer !== undefined && request.password) knownSecrets.add(id, answer);
        return answer;
      },
    });
    // Register secrets before anything about the server is logged or reported.
    knownSecrets.set(server, resolvedSecrets(definition, launch, environment.env));
    const refusal: ResolvedServer['refusal'] = (asked) => refusalOf(asked, { name: server, launch, isFilled: true });
    const isUnapprovedWorkspaceServer = grants === undefined && provenance.inWorkspace === true;
    deps.onResolved(server, { launch: definition.launch, warnings, isUnapprovedWorkspaceServer, refusal });
    const because = refusal(lists);
    if (because !== undefined) throw new RuntimeError('SERVER_DENIED', { server, because });
    return deps.launcher && launch.kind === 'stdio' ? { ...launch, ...deps.launcher({ ...launch, server }) } : launch;
  };
  return { resolve, forgetOutputs: (server) => outputs.forget(server) };
}
