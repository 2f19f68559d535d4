// Owns dividing the queries of a set into five folds by the server they want, so that figures show what holds for servers that
// the vocabulary was not written for.

const FOLDS = 5;
const LARGEST_SHARE = 1 / FOLDS;

/** Recall@10 of each fold. A server with more than a fifth of all tools is divided by tool. */
export function foldsOf({ tools, queries }, rankings) {
  const servers = new Map(tools.map(({ id, server }) => [id, server]));
  const sizes = new Map();
  for (const { server } of tools) sizes.set(server, (sizes.get(server) ?? 0) + 1);
  const unitOf = (tool) => {
    const server = servers.get(tool);
    return server === undefined || sizes.get(server) > tools.length * LARGEST_SHARE ? tool : server;
  };
  const found = new Map(rankings.map(({ id, ranking }) => [id, new Set(ranking.slice(0, 10))]));
  const folds = Array.from({ length: FOLDS }, () => []);
  for (const { id, gold, goldGroups = gold.map((each) => [each]) } of queries) {
    const first = found.get(id) ?? new Set();
    const kept = goldGroups.filter((group) => group.some((tool) => first.has(tool))).length;
    folds[hash(unitOf(goldGroups[0][0])) % FOLDS].push(kept / goldGroups.length);
  }
  return folds.map((recalls) => recalls.reduce((sum, each) => sum + each, 0) / (recalls.length || 1));
}

/** FNV-1a with its bits mixed: the same fold on every machine. */
function hash(text) {
  let bits = 0x811c9dc5;
  for (const byte of Buffer.from(text)) bits = Math.imul(bits ^ byte, 0x01000193);
  return (bits ^ (bits >>> 15)) >>> 0;
}
