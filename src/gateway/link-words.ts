// Owns the words by which `plexus connect` and the gateway know each other, in headers and in the environment.

/** The protocol that an upgrade asks for. */
export const LINK = 'plexus-link';
export const PROTOCOL_HEADER = 'plexus-protocol';
/** The marks of the gateways on the way to here, separated by commas: a gateway that finds its own refuses. */
export const GATEWAY_HEADER = 'plexus-gateway';
/** The same for child processes, which inherit it. */
export const GATEWAY_VARIABLE = 'PLEXUS_GATEWAY';

export const isBehind = (mark: string, marks = ''): boolean => marks.split(',').includes(mark);

/** The marks for what a gateway starts: its own, and those that it is behind itself. */
export const marksBehind = (mark: string, marks = ''): string => (marks === '' ? mark : `${marks},${mark}`);

/** Begins the path of a link to one server for a command that a person typed: it is the person's own order. */
export const COMMAND_PATH = '/own/';
/** The path at which such a command asks how the servers are. */
export const FLEET_PATH = '/fleet';
