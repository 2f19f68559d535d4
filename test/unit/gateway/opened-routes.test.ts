// Owns the proof of which addresses lead to which route, and that a route is opened once, for what there is.

import { expect, test } from 'vitest';
import { openProfile } from '../../../src/gateway/profiles.ts';
import type { Route } from '../../../src/gateway/route.ts';
import { Routes } from '../../../src/gateway/routes.ts';

function routesOf(servers: readonly string[]) {
  const opened: Route[] = [];
  const profiles = new Map([
    ['default', { ...openProfile, servers: ['files', 'web-*'] }],
    ['agents', { ...openProfile, name: 'agents' }],
  ]);
  const routes = new Routes<Route>({
    profiles,
    isServer: (server) => servers.includes(server),
    open(route) {
      opened.push(route);
      return route;
    },
  });
  return { routes, opened };
}

test('every spelling of an address is one route, and so are those of the oldest clients', () => {
  const { routes, opened } = routesOf(['files']);
  const [merged, agents, files] = ['/mcp', '/mcp/p/agents', '/mcp/s/files'].map((path) => routes.ofPath(path));
  expect([merged, agents, files]).toMatchObject([
    { path: '/mcp', profile: { name: 'default' }, server: undefined },
    { path: '/mcp/p/agents', profile: { name: 'agents' }, server: undefined },
    { path: '/mcp/s/files', profile: { name: 'default' }, server: 'files' },
  ]);
  for (const path of ['/sse', '/messages', '/mcp/p/default', '/mcp/p/%64efault'])
    expect(routes.ofPath(path), path).toBe(merged);
  expect(routes.ofPath('/mcp/p/%61gents')).toBe(agents);
  expect(routes.ofLink('/mcp/s/%66iles')).toBe(files);
  expect(routes.ofProfile('agents')).toBe(agents);
  expect(opened).toHaveLength(3);
});

test('a name that a client makes up opens nothing, nor does a server that the profile does not show', () => {
  const { routes, opened } = routesOf(['files', 'mail']);
  for (const path of [
    '/',
    '/mcp/',
    '/mcp/p/none',
    '/mcp/s/none',
    '/mcp/s/web-none',
    '/mcp/s/mail',
    '/mcp/s/%',
    '/own/files',
  ])
    expect(routes.ofPath(path), path).toBeUndefined();
  expect(routes.ofLink('/own/none')).toBeUndefined();
  expect(routes.ofProfile('none')).toBeUndefined();
  expect(opened).toEqual([]);
});

test('a command that a person typed reaches every server, by a link only', () => {
  const { routes } = routesOf(['mail']);
  const route = routes.ofLink('/own/mail');
  expect(route).toMatchObject({ server: 'mail', profile: openProfile, isOfCommands: true });
  expect(routes.ofLink('/own/mail')).toBe(route);
  expect(routes.ofPath('/own/mail')).toBeUndefined();
});
