// Owns how clients of one server each are opened for many servers: all at once, as one writes it by hand.

/** Resolves when the awaited servers have listed their tools; the others go on connecting. `call` goes to the first. */
export async function openEach(openOne, servers, awaited) {
  const opening = new Map(Object.entries(servers).map(([name, entry]) => [name, openOne(entry, name)]));
  const others = [...opening].filter(([name]) => !awaited.includes(name));
  for (const [, each] of others) each.catch(() => undefined);
  const opened = await Promise.all(awaited.map((name) => opening.get(name)));
  return {
    tools: opened.reduce((sum, { tools }) => sum + tools, 0),
    call: opened[0].call,
    close: () => Promise.all(opened.map(({ close }) => close())),
  };
}
