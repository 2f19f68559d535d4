// Owns how users of `@google/genai` run the calls of an answer: with the adapter of Plexus, and with a callable tool of their own.

export const loadFramework = () => import('@google/genai');
export const loadDoor = () => import('plexus/google');

/** As the SDK calls a callable tool; it hands on the parts as they are. */
const callTool = async (tool, name, args, id) =>
  (await tool.callTool([{ id, name, args }]))[0].functionResponse.response.output;

/** The framework's interface, with a function that does nothing. */
export async function openEmpty({ name }) {
  const tool = {
    callTool: (calls) =>
      Promise.all(calls.map(async ({ id }) => ({ functionResponse: { id, name, response: { output: '' } } }))),
  };
  return (args, id) => callTool(tool, name, args, id);
}

export async function adapt(source) {
  const { fleetTool } = await loadDoor();
  const fleet = fleetTool(source);
  const { functionDeclarations } = await fleet.tool();
  return {
    tools: functionDeclarations.length,
    call: (name, args, id) => callTool(fleet, name, args, id),
  };
}
