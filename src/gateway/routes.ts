// Owns which routes a gateway has: each is opened when it is first asked for, and stays. What a route's path means is in `route.ts`.

import type { ServerName } from '../model/names.ts';
import { DEFAULT_PROFILE, openProfile, type Profile, seesServer } from './profiles.ts';
import { pathOf, type Route, readCommandPath, readPath } from './route.ts';

export interface RoutesOptions<Opened> {
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly open: (route: Route) => Opened;
  /** Whether any client has a server of that name. */
  readonly isServer: (server: ServerName) => boolean;
}

export class Routes<Opened> {
  readonly #options: RoutesOptions<Opened>;
  readonly #routes = new Map<string, Opened>();

  constructor(options: RoutesOptions<Opened>) {
    this.#options = options;
  }

  ofProfile(name: string): Opened | undefined {
    const profile = this.#options.profiles.get(name);
    return profile && this.#at({ path: pathOf(name), profile, server: undefined });
  }

  /** The route for requests to a path. */
  ofPath(path: string): Opened | undefined {
    const known = this.#routes.get(path);
    if (known !== undefined) return known;
    const words = readPath(path);
    if (words === undefined) return undefined;
    return words.kind === 'profile' ? this.ofProfile(words.profile) : this.#ofServer(words.server);
  }

  /** The same for a link: also commands that a person typed come on one. */
  ofLink(path: string): Opened | undefined {
    const server = readCommandPath(path);
    if (server === undefined) return this.ofPath(path);
    // No request over HTTP has such a path.
    const route: Route = { path: `command ${server}`, profile: openProfile, server, isOfCommands: true };
    return this.#options.isServer(server) ? this.#at(route) : undefined;
  }

  /** A route is opened for servers that there are, and that the profile shows: names that a client makes up leave nothing behind. */
  #ofServer(server: ServerName): Opened | undefined {
    const { profiles, isServer } = this.#options;
    const profile = profiles.get(DEFAULT_PROFILE) ?? openProfile;
    const isShown = seesServer(profile, server) && isServer(server);
    return isShown ? this.#at({ path: `/mcp/s/${server}`, profile, server }) : undefined;
  }

  #at(route: Route): Opened {
    const known = this.#routes.get(route.path);
    if (known !== undefined) return known;
    const opened = this.#options.open(route);
    this.#routes.set(route.path, opened);
    return opened;
  }
}
