// Owns the proof that a file of the working directory is found in a line that runs it, and in no other.

import { expect, test } from 'vitest';
import { workspaceFileIn } from '../../../src/config/workspace-file.ts';

test.each([
  ['./run.sh --fast', './run.sh'],
  ['bin/server', 'bin/server'],
  ['../server', '../server'],
  ['env A=1 ./run.sh', './run.sh'],
  ['python3 server.py', 'server.py'],
  ['python3 -u -W ignore src/server.py', 'src/server.py'],
  ['py -3 server.py', 'server.py'],
  ['node server.js', 'server.js'],
  ['node --import ./hook.js /srv/x.js', './hook.js'],
  ['node -r dotenv/config /srv/x.js', 'dotenv/config'],
  ['tsx src/index.ts', 'src/index.ts'],
  ['bun run server.ts', 'server.ts'],
  ['bun server.ts', 'server.ts'],
  ['bun run dev', 'dev'],
  ['deno run -A main.ts', 'main.ts'],
  ['uv run server.py', 'server.py'],
  ['bash run.sh', 'run.sh'],
  ['sh -c ./run.sh', './run.sh'],
  ['npm run mcp', 'npm run'],
  ['npm start', 'npm start'],
  ['yarn mcp', 'yarn mcp'],
  ['pnpm --silent start', 'pnpm start'],
  ['make serve', 'make serve'],
  ['deno task serve', 'deno task'],
  ['docker compose run x', 'docker compose'],
  ['npx ./server', './server'],
  ['npx -y file:../server', 'file:../server'],
  ['npx -p ./server x', './server'],
  ['uvx --from . server', '.'],
  ['uv tool run ./server', './server'],
])('%s', (line, file) => expect(workspaceFileIn(line.split(' '), 'linux')).toBe(file));

test.each([
  'npx -y @modelcontextprotocol/server-filesystem .',
  'npx -y x ./data --config ./x.json',
  'uvx mcp-server-git --repository .',
  'python3 -m weather_server',
  'python3 -um weather_server ./data',
  'python3 -c code',
  'python3 /srv/server.py ./data',
  'node /srv/x.js ./data',
  'node -e code',
  'deno run -A npm:x ./data',
  'deno run https://example.com/x.ts',
  'uv run mcp-server',
  'uv --directory /srv/x run server.py',
  'docker run -i --rm -v .:/data x',
  'npm --prefix /srv/x run mcp',
  'make -C /srv/x serve',
  '/srv/run.sh ./data',
  'my-server ./data',
])('nothing of the workspace is run by: %s', (line) =>
  expect(workspaceFileIn(line.split(' '), 'linux')).toBe(undefined),
);

test.each([
  ['.\\run.cmd', '.\\run.cmd'],
  ['cmd /c .\\run.cmd', '.\\run.cmd'],
  ['C:\\Python\\python.exe server.py', 'server.py'],
  ['node C:\\srv\\x.js', undefined],
])('on Windows: %s', (line, file) => expect(workspaceFileIn(line.split(' '), 'win32')).toBe(file));
