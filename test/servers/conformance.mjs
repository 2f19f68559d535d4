// Owns the server that the official suite puts to the test, on the built serving side. Tells its parent its address and goes when
// the parent is gone; with `stdio` it talks to its parent.

import { createMcpServer, createOwnService, ProtocolError, withoutToken } from '../../dist/serving.js';
import { createFixtures } from './conformance/fixtures.mjs';

const { complete, ...offered } = createFixtures({
  listChanged: (kind) => server.listChanged(kind),
  updated: (uri) => server.resourceUpdated(uri),
});

const server = createMcpServer(
  createOwnService({
    ...{ name: 'conformance', version: '1.0.0', ...offered },
    complete({ argument }) {
      if (argument.name === undefined) throw new ProtocolError(-32602, 'argument.name is missing');
      return complete(argument);
    },
  }),
  { onError: (error) => console.error(error) },
);

if (process.argv[2] === 'stdio') {
  await server.stdio();
  process.exit();
}
process.once('disconnect', () => process.exit());
const { url } = await server.listen({ port: Number(process.argv[2] ?? 0), authenticate: withoutToken });
if (process.send) process.send(url);
else console.log(url);
