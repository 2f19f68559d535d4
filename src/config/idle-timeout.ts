// Owns the one default of a server that depends on how it is reached, so that `schema.ts` cannot hold it.

/** Only a remote server can fall silent unnoticed, since a local one's process would end; so local servers have no such limit. */
export const remoteToolIdleTimeoutMs = 300_000;
