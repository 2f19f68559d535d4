// Owns how users of the package `openai` run the calls of an answer: with the adapter of Plexus, and with a loop of their own. The
// package has no MCP client.

export const loadFramework = () => import('openai');
export const loadDoor = () => import('plexus/openai');

/** An item of `response.output`, as the API sends it. */
const callOf = (name, args, id) => ({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) });

/** A loop by hand, with a tool that does nothing. */
export async function openEmpty({ name }) {
  const tools = { [name]: async () => '' };
  const run = (items) =>
    Promise.all(
      items
        .filter(({ type }) => type === 'function_call')
        .map(async ({ call_id, name: called, arguments: text }) => {
          const output = await tools[called](JSON.parse(text));
          return { type: 'function_call_output', call_id, output };
        }),
    );
  return async (args, id) => (await run([callOf(name, args, id)]))[0].output;
}

export async function adapt(source) {
  const { responsesTools } = await loadDoor();
  const { tools, run } = responsesTools(source);
  return {
    tools: tools().length,
    call: async (name, args, id) => (await run([callOf(name, args, id)]))[0].output,
  };
}
